package getproviders

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

var versionMissing = Subject{Version: Version{Major: 1}}.Missing()

func TestErrNotFound_IsWhatEachOfItsKindsMatches(t *testing.T) {
	for kind, err := range map[error]error{
		ErrProviderNotFound: Subject{Provider: widget}.Missing(),
		ErrVersionNotFound:  versionMissing,
		ErrPlatformMissing:  Subject{Platform: linux}.Missing(),
	} {
		must.Fail(t, err, kind)
		must.Fail(t, err, ErrNotFound)
		must.Fail(t, kind, ErrNotFound)
		var general interface{ Error() string } = ErrNotFound
		if errors.Is(general, kind) || errors.Is(err, ErrNoMatchingVersion) {
			t.Errorf("%v matches too much", kind)
		}
	}
}

func TestCodeOf_NamesEachError(t *testing.T) {
	_, mismatch := AnyHash{}.Authenticate(Digests{})
	for want, err := range map[string]error{
		"provider_not_found": Subject{Provider: widget}.Missing(),
		"version_not_found":  versionMissing,
		"platform_missing":   Subject{Platform: linux}.Missing(),
		"unreachable":        widget.QueryFailed("registry", errors.New("x")),
		"server_failed":      widget.QueryFailed("registry", &hosts.Fault{Status: 503, Err: errors.New("x")}),
		"rate_limited":       errors.Join(Selection{}.Failed("fetch", errors.New("x")), &hosts.Fault{Status: 429, Err: errors.New("x")}),
		"connection_refused": widget.QueryFailed("registry", &hosts.Fault{ID: "connection_refused", Err: errors.New("x")}),
		"checksum_mismatch":  mismatch,
		"not_cached":         &NotCachedError{},
		"invalid_address":    Provider{}.Validate(),
		"offline":            &hosts.Fault{ID: "offline", Err: errors.New("x")},
		"too_large":          hosts.TooLarge(1),
		"":                   errors.New("x"),
	} {
		must.Equal(t, CodeOf(fmt.Errorf("outside: %w", err)), want, err)
	}
	several, _ := inOrder(stub{err: Subject{Provider: widget}.Missing()}, stub{err: versionMissing})
	_, err := versionsOf(t, several)
	must.Equal(t, CodeOf(err), "version_not_found")
}

func TestSplitErrors_TakesApartWhatWasJoined(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	several := widget.QueryFailed("registry", errors.Join(a, b))
	got := SplitErrors(errors.Join(a, errors.Join(several, b), nil))
	if len(got) != 3 || got[0] != a || got[1] != error(several) || got[2] != b {
		t.Errorf("got %q", got)
	}
	must.Len(t, SplitErrors(nil), 0)
}

// TestRegistrySource_DiscoveryThatWantsATokenIsUnauthorized: the error must not look like a network
// error.
func TestRegistrySource_DiscoveryThatWantsATokenIsUnauthorized(t *testing.T) {
	err := widget.QueryFailed("registry", &hosts.Fault{Kind: hosts.ErrUnauthorized, Err: errors.New("x")})
	wantKind(t, err, ErrUnauthorized)
	must.Equal(t, CodeOf(err), "unauthorized")
}
