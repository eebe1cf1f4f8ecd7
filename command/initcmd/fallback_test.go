package initcmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseFallback(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]getproviders.Fallback{
		"stop": getproviders.StopOnFailure, "next": getproviders.NextOnFailure, "exclusive": getproviders.Exclusive,
	} {
		must.Equal(t, must.Get(parseFallback(given))(t), want, given)
	}
	for _, given := range []string{"", "Stop", "never", "stop "} {
		if got, err := parseFallback(given); err == nil || !strings.Contains(err.Error(), "stop, next, exclusive") {
			t.Errorf("%q: got %q, %v", given, got, err)
		}
	}
}
