package providercache_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestProviderError_HasACodeAndMatchesOneSentinel(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	sentinels := map[string]error{
		"lock_mismatch": getproviders.ErrLockMismatch, "locked_version": getproviders.ErrLockedVersion, "no_space": getproviders.ErrNoSpace,
		"no_matching_version": getproviders.ErrNoMatchingVersion, "version_not_found": getproviders.ErrVersionNotFound,
	}
	for want, err := range map[string]error{
		"lock_mismatch":       &getproviders.Fault{Code: "lock_mismatch", Kind: getproviders.ErrLockMismatch, Err: errors.New("x")},
		"locked_version":      &cause.LockedVersionError{},
		"no_matching_version": &cause.NoVersionError{},
		"version_not_found":   getproviders.Subject{Version: getproviders.Version{Major: 1}}.Missing(),
		"no_space":            fmt.Errorf("unpacking: %w", full),
		"failed_built_in":     errors.New("of no kind"),
	} {
		var failed error = getproviders.Selection{}.Failed(during.BuiltIn, err)
		must.Equal(t, getproviders.CodeOf(fmt.Errorf("outside: %w", failed)), want, err)
		for code, sentinel := range sentinels {
			must.Equal(t, errors.Is(failed, sentinel), code == want, err)
		}
	}
}

func TestHint_NamesNoProgramThatWasNotNamed(t *testing.T) {
	hint := (&cause.LockedVersionError{}).Hint()
	for _, word := range []string{"terraform", "tofu", "init", "providers lock"} {
		must.NotContain(t, strings.ToLower(hint), word)
	}
}

func TestInstall_ItsErrorSplitsIntoProviders(t *testing.T) {
	source := widgetSource(t)
	err := attempt(t, newInstaller(t, source), require("acme/none", "", "acme/widget", "2.0.0"), nil)
	var codes []string
	for _, part := range getproviders.SplitErrors(err) {
		if _, ok := getproviders.Failure(part); !ok {
			t.Errorf("a part of type %T", part)
		}
		codes = append(codes, getproviders.CodeOf(part))
	}
	must.Equal(t, strings.Join(codes, " "), "failed_query no_matching_version")
}
