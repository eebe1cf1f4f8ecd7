package modules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestResolve_TakesRootAndDirAsTheyAreGiven: the root module and the directory for modules may each
// be absolute or relative to the process's working directory. The same modules are found, and found
// again by the next run.
func TestResolve_TakesRootAndDirAsTheyAreGiven(t *testing.T) {
	product := asTerraform
	for _, text := range []string{ // the root module and the directory, below the working directory; those with a slash in front are absolute
		"work work/.terraform/modules",
		"/work /work/.terraform/modules",
		"/work work/.terraform/modules",
		"work /work/.terraform/modules",
		"/work data/modules",
		"work /data/modules",
		"work data/modules",
		". /.terraform/modules",
	} {
		t.Run(text, func(t *testing.T) {
			wd := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
			t.Chdir(wd)
			names := strings.Fields(text)
			below := strings.TrimPrefix(names[0], "/")
			write(t, wd, filepath.Join(below, "main.tf"), call("net", netURL)+call("own", "./linked"))
			write(t, wd, "elsewhere/main.tf", `resource "linked_y" "z" {}`)
			if link.Dir(filepath.Join(wd, "elsewhere"), filepath.Join(below, "linked")) != nil { // Wine makes no links
				write(t, wd, filepath.Join(below, "linked/main.tf"), `resource "linked_y" "z" {}`)
			}
			for i, name := range names {
				if names[i] = filepath.FromSlash(name); name[0] == '/' {
					names[i] = filepath.Join(wd, name)
				}
			}
			root, dir := names[0], names[1]
			for _, mode := range []Mode{Normal, AsRecorded} {
				module, diags := load.LoadModule(root, product)
				must.Len(t, diags, 0)
				manifest := must.Get(ReadManifest(nil, dir, product))(t)
				in := Resolver{Dir: dir, Product: product, Mode: mode, Fetcher: newPackageSet()}
				tree, problems := in.Resolve(t.Context(), module, manifest)
				must.Len(t, problems, 0, mode)
				required, _ := tree.Requirements()
				must.Len(t, required.Providers(), 2, mode)
				must.Len(t, tree.Modules, 6, mode)
				must.Succeed(t, tree.Save())
			}
		})
	}
}

// TestResolve_RefusesNamesThatAreNoDirectories: the names in a configuration made by a program are
// unchecked.
func TestResolve_RefusesNamesThatAreNoDirectories(t *testing.T) {
	for _, name := range []string{"../../out", "..", "", "a/b", "/x", "."} {
		top := t.TempDir()
		root := &load.Module{Dir: top, Calls: []load.ModuleCall{{Name: name, Source: netURL}}}
		dir := filepath.Join(top, "in/deep/modules")
		fetcher := newPackageSet()
		tree, problems := Resolver{Dir: dir, Product: asTerraform, Fetcher: fetcher}.Resolve(t.Context(), root, nil)
		must.Equal(t, problems.HasErrors(), true, name)
		must.Len(t, tree.Modules, 1, name)
		must.Len(t, fetcher.asked, 0, name)
		must.Len(t, must.Get(os.ReadDir(top))(t), 0, name)
	}
}

// TestRegistries_RefuseAddressesThatAreNone: an address made by a program is checked before it
// becomes a path of a store or a URL.
func TestRegistries_RefuseAddressesThatAreNone(t *testing.T) {
	registry := newRegistry(t)
	for _, address := range []Registry{
		{},
		{Host: "example.com", Namespace: "../../..", Name: "net", System: "cloud"},
		{Host: "example.com", Namespace: "acme", Name: "..", System: "cloud"},
		{Host: "example.com", Namespace: "acme", Name: "net", System: "../x"},
		{Host: "../x", Namespace: "acme", Name: "net", System: "cloud"},
		{Host: "example.com", Namespace: "acme", Name: "net", System: "cloud", Subdir: "../x"},
	} {
		registries := newRegistries(registry)
		registries.Store = t.TempDir()
		_, selectErr := registries.Select(t.Context(), address, "")
		_, locateErr := registries.Locate(t.Context(), address, "1.0.0", false)
		_, relocateErr := registries.Locate(t.Context(), address, "1.0.0", true)
		for _, err := range []error{selectErr, locateErr, relocateErr} {
			must.Fail(t, err, ErrAddress, address)
		}
		must.Len(t, registry.Log(), 0, address)
	}
}

// Examples call the root module by its path, and tests run examples.
func TestResolve_TestsMayRunWhatCallsTheRoot(t *testing.T) {
	run := func(source string) string {
		return "run \"r\" {\n  module {\n    source = \"" + source + "\"\n  }\n}\n"
	}
	for name, files := range map[string]texts{
		"an example":      {"tests/a.tftest.hcl": run("./examples/basic"), "examples/basic/main.tf": call("m", "../..")},
		"two examples":    {"tests/a.tftest.hcl": run("./examples/a"), "examples/a/main.tf": call("b", "../b"), "examples/b/main.tf": call("m", "../../")},
		"the root":        {"tests/a.tftest.hcl": run("./")},
		"in its own file": {"a.tftest.hcl": run("./tests/.."), "tests/x.tf": ""},
		"what it calls":   {"a.tftest.hcl": run("./child"), "child/main.tf": ""},
	} {
		files["main.tf"] = "output \"x\" {\n  value = 1\n}\n"
		if _, diags := newProject(t, files).install(); diags.HasErrors() {
			t.Error(name, diags)
		}
	}
	newProject(t, texts{"main.tf": "", "a.tftest.hcl": run("./e"), "e/main.tf": call("f", "../f"), "f/main.tf": call("e", "../e")}).
		wantProblem("f/main.tf", "no end")
}
