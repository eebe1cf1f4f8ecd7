package providercache_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

func TestProviderError_Text(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp 192.0.2.1:443: i/o timeout")
	for _, c := range []struct {
		err  *getproviders.Fault
		want string
	}{
		{getproviders.Selection{}.Failed(during.Query, cause), "registry.terraform.io/acme/widget: asking for available versions: dial tcp 192.0.2.1:443: i/o timeout"},
		{getproviders.Selection{Version: version("1.2.3")}.Failed(during.Fetch, cause), "registry.terraform.io/acme/widget v1.2.3: fetching the package: dial tcp 192.0.2.1:443: i/o timeout"},
		{getproviders.Selection{}.Failed(during.Cancel, context.Canceled), "registry.terraform.io/acme/widget: installation was cancelled: context canceled"},
		{getproviders.Selection{}.Failed(during.Select, errors.New("none")), "registry.terraform.io/acme/widget: none"},
	} {
		c.err.Provider = acmeWidget
		must.Equal(t, c.err.Error(), c.want)
		must.Fail(t, c.err, c.err.Err)
	}
}

func TestUnpackRule_IsNumbered(t *testing.T) {
	t.Parallel()
	for number, rule := range map[int]unpack.Rule{1: unpack.RuleArchive, 4: unpack.RuleNamePath, 12: unpack.RuleExecutable} {
		if int(rule) != number || rule.Error() != fmt.Sprintf("package archive breaks rule %d", number) {
			t.Errorf("%d: %v", number, rule)
		}
	}
}

func TestProviderError_HasACodeAndMatchesOneSentinel(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	sentinels := map[string]error{
		"lock_mismatch": getproviders.ErrLockMismatch, "no_space": getproviders.ErrNoSpace,
		"version_not_found": getproviders.ErrVersionNotFound,
	}
	for want, err := range map[string]error{
		"lock_mismatch":     &getproviders.Fault{Code: "lock_mismatch", Kind: getproviders.ErrLockMismatch, Err: errors.New("x")},
		"version_not_found": getproviders.Subject{Version: getproviders.Version{Major: 1}}.Missing(),
		"no_space":          fmt.Errorf("unpacking: %w", full),
		"failed_built_in":   errors.New("of no kind"),
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

// requirements makes one requirement of each text, each on a line of its own.
func requirements(texts ...string) []getproviders.Requirement {
	all := make([]getproviders.Requirement, len(texts))
	for i, text := range texts {
		all[i] = getproviders.Requirement{Constraints: constraints(text), Pos: getproviders.Pos{File: "main.tf", Line: i + 1}}
	}
	return all
}

func TestInstall_SaysWhoseConstraintsALockedVersionMeets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, locked string
		required     []getproviders.Requirement
		unmet, met   []int
	}{
		{"a release", "1.5.0", requirements(">= 1.0", "~> 2.0", "", "!= 1.5.0"), []int{2, 4}, []int{1, 3}},
		{"a prerelease that no requirement names", "1.5.0-rc1", requirements(">= 1.0", ""), []int{1, 2}, nil},
		{"a prerelease that a requirement names", "1.5.0-rc1", requirements(">= 1.0", "1.5.0-rc1", "> 2.0"), []int{3}, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			locks := new(depsfile.Locks)
			locks.Set(entry("acme/alpha", c.locked))
			req := getproviders.Requirements{provider("acme/alpha"): c.required}
			err := attempt(t, newInstaller(t, newSource(t)), req, locks)
			must.Fail(t, err, getproviders.ErrLockedVersion)
			failed := must.As[*cause.LockedVersionError](t, err)
			must.EqualSlices(t, originLines(failed.Requirements), c.unmet)
			must.EqualSlices(t, originLines(failed.Others), c.met)
			must.Contain(t, failed.Hint(), `"terraform init -upgrade"`)
		})
	}
}

func originLines(required []getproviders.Requirement) (all []int) {
	for _, r := range required {
		all = append(all, r.Pos.Line)
	}
	return all
}
