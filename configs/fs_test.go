package configs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
)

// workspace is the content of an editor: a root module that calls modules by paths, some of them
// computed, and one of a registry.
var workspace = files{
	"live/main.tf": `variable "kind" { const = true }
module "net" { source = "../shared/${var.kind}" }
module "new" { source = "./new" }
module "reg" { source = "example.com/acme/reg/cloud" }
`,
	"live/terraform.tfvars":    `kind = "net"`,
	"live/new/main.tf":         `resource "new_x" "y" {}`,
	"shared/net/main.tf":       "module \"dns\" {\n  source = \"./dns\"\n}\nresource \"net_x\" \"y\" {}\n",
	"shared/net/dns/main.tf":   `resource "dns_x" "y" {}`,
	"live/terraform.tfstate":   stateOfWidget,
	"live/.terraform.lock.hcl": lockOfGadget,
	"live/.terraform/modules/modules.json": `{"Modules":[{"Key":"","Source":"","Dir":"."},
		{"Key":"net","Source":"../shared/net","Dir":"../shared/net"},{"Key":"net.dns","Source":"./dns","Dir":"../shared/net/dns"},
		{"Key":"new","Source":"./new","Dir":"new"},
		{"Key":"reg","Source":"example.com/acme/reg/cloud","Dir":".terraform/modules/reg"},
		{"Key":"reg.sub","Source":"./sub","Dir":".terraform/modules/reg/sub"}]}`,
	"live/.terraform/modules/reg/main.tf":     "module \"sub\" {\n  source = \"./sub\"\n}\nresource \"reg_x\" \"y\" {}\n",
	"live/.terraform/modules/reg/sub/main.tf": `resource "sub_x" "y" {}`,
}

// inMemory returns files as a file system.
func inMemory(files files) fstest.MapFS {
	held := fstest.MapFS{}
	for name, content := range files {
		held[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return held
}

func TestRead_TakesADirectoryInMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	files := maps.Clone(workspace)
	files["live/.terraform/modules/modules.json"] = `{"Modules":[{"Key":"reg","Source":"example.com/acme/reg/cloud","Dir":".terraform/modules/reg"}]}`
	held := inMemory(files)
	opts := configs.Options{FS: held, Product: asTerraform}

	found, problems := configs.Read(t.Context(), "live", opts)
	must.Len(t, problems, 0)
	must.Equal(t, types(found.Requirements), "dns net new reg sub widget")
	if locks := found.Locks.All(); len(locks) != 1 || locks[0].Provider.Type != "gadget" {
		t.Errorf("the lock file has %v", locks)
	}
	if _, problems := new(configs.Resolver).Resolve(t.Context(), "live", opts); problems.HasErrors() {
		t.Errorf("modules that were read from memory are resolved, and nothing is written: %v", problems)
	}

	held["live/new/main.tf"] = &fstest.MapFile{Data: []byte(`resource "edited_x" "y" {}`)}
	delete(held, "live/.terraform/modules/modules.json")
	found, problems = configs.Read(t.Context(), "live", opts)
	must.Equal(t, types(found.Requirements), "dns edited net widget")
	if len(problems) != 1 || problems[0].Extra != (modules.Outdated{Key: "reg", Code: modules.Absent}) {
		t.Errorf("without a record of the registry's module the problems are %v", problems)
	}
	must.Len(t, must.Get(os.ReadDir("."))(t), 0)
}

// places returns the directories of modules, without the root module's.
func places(all []configs.Module) (text string) {
	for _, m := range all[1:] {
		text += fmt.Sprintln(m.Key, m.Source, m.Version, m.Dir)
	}
	return text
}

// A file system in memory and the same directory on disk have the same requirements, and no module
// leads out of it.
func TestRead_TakesADirectoryOfAnFSAsThatOnDisk(t *testing.T) {
	dir := write(t, workspace)
	opts := configs.Options{Product: asTerraform}
	onDisk, problems := configs.Read(t.Context(), filepath.Join(dir, "live"), opts)
	must.Len(t, problems, 0)
	for name, fsys := range map[string]fs.FS{"os.DirFS": os.DirFS(dir), "a map": inMemory(workspace)} {
		opts.FS = fsys
		got, problems := configs.Read(t.Context(), "live", opts)
		if problems.HasErrors() || types(got.Requirements) != types(onDisk.Requirements) {
			t.Errorf("%s: required are %s, problems %v; on disk %s", name, types(got.Requirements), problems, types(onDisk.Requirements))
		}
		must.Equal(t, places(got.Modules), places(onDisk.Modules), name)
	}
	opts.FS = os.DirFS(filepath.Join(dir, "live"))
	if _, problems := configs.Read(t.Context(), ".", opts); len(problems) != 1 || !strings.Contains(problems[0].Detail, "invalid") {
		t.Errorf("a path out of the file system is the problem %v", problems)
	}
}

// hidesLinks is an FS that can't read its symlinks, as many implementations.
type hidesLinks struct{ under fs.FS }

func (h hidesLinks) Open(name string) (fs.File, error) { return h.under.Open(name) }

// A module of a registry can't use a symlink to leave its package, neither by a path nor by a
// function, in an FS as on disk.
func TestRead_KeepsModulesInTheirPackagesInAnFS(t *testing.T) {
	const record = `{"Modules":[{"Key":"a","Source":"example.com/acme/reg/cloud","Dir":".terraform/modules/a"},{"Key":"a.b","Source":"./b","Dir":"KEPT"}]}`
	for _, tc := range []struct {
		name, source, link, target, kept string
	}{
		{"by a relative link", `"./b"`, "b", "../../../private", ""},
		{"by an absolute link", `"./b"`, "b", "ABSOLUTE", ""},
		{"by a chain of links", `"./b"`, "b", "c/../../../../private", ""},
		{"by a recorded link", `"./b"`, "b", "../../../private", ".terraform/modules/a/b"},
		{"by a recorded directory", `"./b"`, "", "", "private"},
		{"by dots", `"../../../private"`, "", "", ""},
		{"by a function", `"./${file("${path.module}/b/name.txt")}"`, "b", "../../../private", ""},
		{"by a link in a circle", `"./b"`, "b", "b", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := write(t, files{
				"main.tf":                         "module \"a\" {\n  source = \"example.com/acme/reg/cloud\"\n}\n",
				"private/main.tf":                 `resource "secret_x" "y" {}`,
				"private/name.txt":                "ok",
				".terraform/modules/a/main.tf":    "module \"b\" {\n  source = " + tc.source + "\n}\n",
				".terraform/modules/a/ok/main.tf": `resource "secret_x" "y" {}`,
				".terraform/modules/a/deep/c.txt": "",
				".terraform/modules/modules.json": strings.ReplaceAll(record, "KEPT", tc.kept),
			})
			link := filepath.Join(dir, ".terraform/modules/a", tc.link)
			if tc.target == "c/../../../../private" {
				cachetest.LinkOrSkip(t, "deep", filepath.Join(filepath.Dir(link), "c"))
			}
			if tc.link != "" {
				cachetest.LinkOrSkip(t, strings.ReplaceAll(tc.target, "ABSOLUTE", filepath.Join(dir, "private")), link)
			}
			for kind, fsys := range map[string]fs.FS{"on disk": nil, "os.DirFS": os.DirFS(dir), "an FS that can't read links": hidesLinks{os.DirFS(dir)}} {
				at := "."
				if fsys == nil {
					at = dir
				}
				opts := configs.Options{FS: fsys, Product: asTerraform}
				found, problems := configs.Read(t.Context(), at, opts)
				if !problems.HasErrors() || slices.Contains(strings.Fields(types(found.Requirements)), "secret") {
					t.Errorf("%s: required are %s, problems %v", kind, types(found.Requirements), problems)
				}
			}
		})
	}
}
