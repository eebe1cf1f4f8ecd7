package providercache_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/must"
)

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
			locks.Set(depsfile.Lock{Provider: provider("acme/alpha"), Version: version(c.locked)})
			req := getproviders.Requirements{provider("acme/alpha"): c.required}
			err := attempt(t, newInstaller(t, newSource(t)), req, locks)
			failed := must.As[*cause.LockedVersionError](t, err)
			must.EqualSlices(t, originLines(failed.Requirements), c.unmet)
			must.EqualSlices(t, originLines(failed.Others), c.met)
		})
	}
}

func originLines(required []getproviders.Requirement) (all []int) {
	for _, r := range required {
		all = append(all, r.Pos.Line)
	}
	return all
}
