package resolve_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// An error may be the cause of a context that others still read, so nothing is written into it.
func TestFailureOf_LeavesTheErrorGiven(t *testing.T) {
	s := getproviders.Selection{Provider: getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "null"}, Version: getproviders.MustParseVersion("1.0.0")}
	cause := errors.New("cause")
	given := s.Failed(during.Fetch, cause)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	platform := getproviders.Platform{OS: "linux", Arch: "amd64"}
	if err := resolve.OnPlatform(t.Context(), s, platform, given); err.Error() == given.Error() {
		t.Errorf("%v doesn't name the platform", err)
	}
	must.Equal(t, resolve.FailureOf(ended, s, given).Step, during.Cancel)
	var failure *getproviders.Fault
	if !errors.As(given, &failure) || failure.Err != cause || failure.Step != during.Fetch {
		t.Errorf("the error given is %v now", given)
	}
}
