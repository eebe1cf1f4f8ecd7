package providercache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
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

func TestErrors_HaveHints(t *testing.T) {
	source := parallelSource(t)
	source.AddZip(t, "acme/new", "1.0.0")
	source.AddZip(t, "acme/new", "2.0.0-beta1")
	source.AddZip(t, "acme/old", "1.5.0")
	source.Packages[provider("acme/empty")] = map[getproviders.Version]getproviders.Package{}
	source.AddZip(t, "acme/changed", "1.0.0")
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{Provider: provider("acme/locked"), Version: v1})
	locks.Set(depsfile.Lock{Provider: provider("acme/changed"), Version: v1, Hashes: []getproviders.Hash{"h1:other="}})
	changed := attempt(t, newInstaller(t, source), require("acme/changed", ""), locks)
	req := require("acme/new", "> 1.0", "acme/old", ">= 2.0", "acme/empty", "")
	req.Add(provider("acme/locked"), getproviders.Requirement{Constraints: constraints(">= 1.0"), Pos: getproviders.Pos{File: "main.tf", Line: 3}})
	req.Add(provider("acme/locked"), getproviders.Requirement{Constraints: constraints(">= 2.0"), Pos: getproviders.Pos{File: "versions.tf", Line: 7}})
	err := attempt(t, newInstaller(t, source), req, locks)

	want := []struct{ text, hint string }{
		{"doesn't match any of the checksums previously recorded", "who wrote the lock file, on which platform and from which source"},
		{"no version of provider registry.terraform.io/acme/empty is available from memory", ""},
		{"does not match configured version constraint >= 1.0.0, >= 2.0.0", `use "terraform init -upgrade" to allow the selection of new versions`},
		{"no available releases match the given constraints > 1.0.0", `the newest version is 1.0.0; 2.0.0-beta1 is a prerelease, which has to be named exactly: version = "2.0.0-beta1"`},
		{"no available releases match the given constraints >= 2.0.0", "the newest version is 1.5.0"},
	}
	for i, failure := range append(providerErrors(t, changed), providerErrors(t, err)...) {
		must.Contain(t, failure.Error(), want[i].text)
		hint := strings.Join(getproviders.HintsOf(failure), "; ")
		must.Contain(t, hint, want[i].hint)
		must.Equal(t, hint == "", want[i].hint == "")
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
