package modules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
)

// into is the source of a directory in the package of a call.
func into(key, dir string) string { return "./.terraform/modules/" + key + dir }

func TestResolver_PathsIntoPackagesOfOtherCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files texts
		want  map[string]string // key to directory, without the packages
	}{
		"beside the package": {
			texts{"main.tf": call("a", into("net", "/d1")) + call("net", netURL)},
			map[string]string{"a": ".terraform/modules/net/d1"},
		},
		"behind the package, by its name": {
			texts{"main.tf": call("net", netURL) + call("z", into("net", "/d1"))},
			map[string]string{"z": ".terraform/modules/net/d1"},
		},
		"the package itself": {
			texts{"main.tf": call("a", into("leaf", "")) + call("leaf", leafURL)},
			map[string]string{"a": ".terraform/modules/leaf"},
		},
		"a package further down": {
			texts{"main.tf": call("a", into("net.leaf", "")) + call("net", netURL)},
			map[string]string{"a": ".terraform/modules/net.leaf"},
		},
		"a package that a module of the user's calls": {
			texts{"main.tf": call("a", into("m.net", "/d2")) + call("m", "./m"), "m/main.tf": call("net", netURL)},
			map[string]string{"a": ".terraform/modules/m.net/d2", "m": "m"},
		},
		"called by a module of the user's": {
			texts{"main.tf": call("m", "./m") + call("net", netURL), "m/main.tf": call("a", "../.terraform/modules/net/d1")},
			map[string]string{"m": "m", "m.a": ".terraform/modules/net/d1"},
		},
		"called below the package's own calls": {
			texts{"main.tf": call("m", "./m") + call("net", netURL), "m/main.tf": call("a", "../.terraform/modules/net.leaf")},
			map[string]string{"m": "m", "m.a": ".terraform/modules/net.leaf"},
		},
		"two packages": {
			texts{"main.tf": call("a", into("net", "/d1")) + call("b", into("leaf", "")) + call("net", netURL) + call("leaf", leafURL)},
			map[string]string{"a": ".terraform/modules/net/d1", "b": ".terraform/modules/leaf"},
		},
		"one directory twice": {
			texts{"main.tf": call("a", into("net", "/d1")) + call("b", into("net", "/d1")) + call("net", netURL)},
			map[string]string{"a": ".terraform/modules/net/d1", "b": ".terraform/modules/net/d1"},
		},
		"a directory that calls another": {
			texts{"main.tf": call("a", into("net", "/sub")) + call("net", netURL+"//d1")},
			map[string]string{"a": ".terraform/modules/net/sub", "a.up": ".terraform/modules/net/beside"},
		},
		"there already, called by nobody": {
			texts{"main.tf": call("a", into("old", "/d1")), ".terraform/modules/old/d1/main.tf": ""},
			map[string]string{"a": ".terraform/modules/old/d1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, c.files)
			p.fetcher = newPackageSet()
			for _, mode := range []Mode{Normal, Normal, Upgrade, AsRecorded} {
				p.mode = mode
				tree := p.save()
				for key, dir := range c.want {
					must.Equal(t, tree.Manifest[key].Dir, dir, key, mode)
				}
			}

			must.Succeed(t, os.RemoveAll(p.path(".terraform/modules/net")))
			p.mode = Normal
			must.Equal(t, p.save().Manifest["a"].Dir, c.want["a"])
		})
	}
}

func TestResolver_PathsIntoPackagesThatAreNotThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, problem string }{
		"nothing calls it":   {call("a", into("net", "/d1")), "modules/net/d1"},
		"it lacks it":        {call("a", into("net", "/none")) + call("net", netURL), "modules/net/none"},
		"it isn't fetched":   {call("a", into("net", "/d1")) + call("net", "https://example.com/none.zip"), "Could not download the module \"net\""},
		"it is a local one":  {call("a", into("m", "/d1")) + call("m", "./m"), "modules/m/d1"},
		"it is in itself":    {call("a", into("a", "/d1")), "modules/a/d1"},
		"it leads elsewhere": {call("a", into("net", "/../../../elsewhere")) + call("net", netURL), "elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, texts{"main.tf": c.config, "m/main.tf": ""})
			p.fetcher = newPackageSet()
			p.wantProblem("main.tf", c.problem)
		})
	}

	p := newProject(t, texts{"main.tf": call("a", into("b", "/x")) + call("b", into("a", "/x"))})
	_, problems := p.install()
	must.Len(t, problems, 2, "two that wait for one another")
}

// Packages can stay where the fetcher has them, and not in the directory that paths name.
func TestResolver_PathsIntoPackagesElsewhere(t *testing.T) {
	t.Parallel()
	p := newProject(t, texts{"main.tf": call("a", into("net", "/sub")) + call("net", netURL)})
	root, _ := load.LoadModule(p.dir, p.product)
	set := newPackageSet()
	set.kept = must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	in := Resolver{Dir: p.path(".terraform/modules"), Look: true, Product: p.product, Fetcher: set}
	tree, problems := in.Resolve(t.Context(), root, nil)
	must.Len(t, problems, 0)
	must.Equal(t, tree.Manifest["a.up"].Dir, filepath.ToSlash(filepath.Join(set.kept, "1", "beside")))
	must.Fail(t, must.ErrorOf(os.Lstat(p.path(".terraform"))), os.ErrNotExist)

	p.fetcher = newPackageSet()
	manifest := p.save().Manifest
	in.Fetcher = nil // nothing has to be fetched
	tree, problems = in.Resolve(t.Context(), root, manifest)
	must.Len(t, problems, 0)
	must.Equal(t, tree.Manifest["a"].Dir, ".terraform/modules/net/sub")
}

// In a dry run, nothing is known of a directory whose package would be fetched.
func TestResolver_DryRunOfPathsIntoPackages(t *testing.T) {
	t.Parallel()
	p := newProject(t, texts{"main.tf": call("a", into("net", "/d1")) + call("net", netURL)})
	p.fetcher, p.dry = newPackageSet(), true
	_, problems := p.install()
	must.Len(t, problems, 0)
	p.wantChanged("plan " + netURL + " for net: module_absent false")
}

// A directory of a foreign package has the limits of its package, whoever calls it.
func TestResolver_PathsIntoForeignPackagesStayThere(t *testing.T) {
	t.Parallel()
	set := &packageSet{packages: map[string]texts{netURL: {
		"main.tf":         "",
		"out/main.tf":     call("up", "../../../../private"),
		"machine/main.tf": call("m", "file:///private"),
		"reads/main.tf":   call("r", "./${file(\"private/main.tf\")}"),
		"link":            "-> ../../../private",
	}}}
	for dir, want := range map[string]string{
		"out":     "Local module path escapes module package",
		"machine": "Module leads to files of this machine",
		"reads":   "isn't in the package",
		"link":    "Local module path escapes module package",
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, texts{"main.tf": call("a", into("net", "/"+dir)) + call("net", netURL), "private/main.tf": "SECRET"})
			p.fetcher = set
			tree, problems := p.install()
			must.Len(t, problems, 1)
			must.Contain(t, problems[0].Error(), want)
			for _, m := range tree.Modules {
				must.Equal(t, filepath.Base(m.Dir) == "private", false, m.Key)
			}
		})
	}
}
