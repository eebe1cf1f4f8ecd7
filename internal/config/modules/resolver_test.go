package modules

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
)

// texts maps slash-separated names to contents.
type texts = map[string]string

// project is a working directory.
type project struct {
	dry        bool
	t          testing.TB
	dir        string
	mode       Mode
	product    getproviders.Product
	ctx        context.Context // nil: the test's
	fetcher    Fetcher
	registries *Registries
	copied     string   // the address that the root was copied from
	changed    []string // "key in dir", as the last install recorded
}

func newProject(t testing.TB, files texts) *project {
	t.Helper()
	p := &project{t: t, dir: filepath.Join(t.TempDir(), "root"), product: asTerraform}
	for name, content := range files {
		write(t, p.dir, name, content)
	}
	return p
}

// install walks the tree without saving it.
func (p *project) install() (*Tree, hcl.Diagnostics) {
	p.t.Helper()
	root, diags := load.LoadModule(p.dir, p.product)
	must.Len(p.t, diags, 0)
	p.changed = nil
	in := Resolver{Dir: p.path(".terraform/modules"), Product: p.product, Mode: p.mode, DryRun: p.dry, Fetcher: p.fetcher, Registries: p.registries, CopiedFrom: p.copied, Observe: func(e Event) {
		switch e := e.(type) {
		case Downloading:
			p.changed = append(p.changed, "get "+e.Package+" for "+e.Key)
		case Planned:
			p.changed = append(p.changed, fmt.Sprint("plan ", e.Package, " for ", e.Key, ": ", e.Code, " ", e.Certain))
		case Recorded:
			p.changed = append(p.changed, e.Key+" in "+e.Dir)
		}
	}}
	ctx := p.ctx
	if ctx == nil {
		ctx = p.t.Context()
	}
	return in.Resolve(ctx, root, p.manifest())
}

func (p *project) manifest() Manifest {
	p.t.Helper()
	return must.Get(ReadManifest(nil, p.path(".terraform/modules"), p.product))(p.t)
}

func (p *project) path(name string) string { return filepath.Join(p.dir, name) }

func (p *project) read(name string) string {
	p.t.Helper()
	return string(must.Get(os.ReadFile(p.path(name)))(p.t))
}

// save installs modules without errors, and returns the record.
func (p *project) save() *Tree {
	p.t.Helper()
	tree, problems := p.install()
	must.Len(p.t, problems, 0)
	must.Succeed(p.t, tree.Save())
	return tree
}

func (p *project) wantChanged(want ...string) {
	p.t.Helper()
	must.EqualSlices(p.t, p.changed, want)
}

// wantProblem installs modules, one of which has an error.
func (p *project) wantProblem(place string, words ...string) {
	p.t.Helper()
	_, problems := p.install()
	must.Len(p.t, problems, 1)
	must.Equal(p.t, problems.HasErrors(), true, problems)
	for _, word := range words {
		must.Contain(p.t, problems[0].Error()+problems[0].Detail, word, problems[0])
	}
	if at := problems[0].Subject; at == nil || !strings.HasSuffix(filepath.ToSlash(at.Filename), place) {
		p.t.Errorf("the error is at %v, want %s", at, place)
	}
}

func call(name, source string) string {
	return "module \"" + name + "\" {\n  source = \"" + source + "\"\n}\n"
}

func TestResolver_RecordsATree(t *testing.T) {
	p := newProject(t, texts{
		"main.tf":      call("b", "./b") + call("a", "./a"),
		"a/main.tf":    call("up", "../b") + call("out", "../../beside"),
		"b/main.tf":    call("in", "./in"),
		"b/in/main.tf": `resource "x_y" "z" {}`,
	})
	write(t, filepath.Dir(p.dir), "beside/main.tf", "")
	tree := p.save()
	p.wantChanged("a in a", "b in b", "a.out in ../beside", "a.up in b", "b.in in b/in", "a.up.in in b/in")
	must.Len(t, tree.Modules, 7)
	must.Equal(t, tree.Modules[4].Config.Path, "module.a.module.up.module.in")
	p.save()
	p.wantChanged()
	p.mode = Upgrade
	p.save()
	p.wantChanged("a in a", "b in b", "a.out in ../beside", "a.up in b", "b.in in b/in", "a.up.in in b/in")
}

func TestResolver_RequirementsSayWhichModuleAsks(t *testing.T) {
	p := newProject(t, texts{
		"main.tf":   call("a", "./a") + `resource "x_y" "z" {}`,
		"a/main.tf": call("b", "./b") + "terraform {\n  required_version = \"< 1\"\n}\n",
		"a/b/m.tf":  `resource "x_y" "z" {}`,
	})
	tree, problems := p.install()
	reqs, more := tree.Requirements()
	must.Len(t, append(problems, more...), 0)
	asked := reqs[getproviders.Provider{Hostname: p.product.DefaultHost, Namespace: "hashicorp", Type: "x"}]
	must.Len(t, asked, 2)
	must.Equal(t, asked[0].Pos.Module, "")
	must.Equal(t, asked[1].Pos.Module, "module.a.module.b")
	unfit := tree.CheckVersion()
	must.Len(t, unfit, 1)
	must.Contain(t, unfit[0].Detail, "Module module.a (from ./a)")
}

func TestResolver_ReportsProblems(t *testing.T) {
	for name, c := range map[string]struct {
		files        texts
		place, words string // words with bars between them
	}{
		"missing":   {texts{"main.tf": call("a", "./a")}, "main.tf", `Unreadable module directory|"a"`},
		"a file":    {texts{"main.tf": call("a", "./a"), "a": ""}, "main.tf", "is not a directory"},
		"no source": {texts{"main.tf": call("a", "./a"), "a/m.tf": "module \"x\" {}"}, "a/m.tf", `"source" is required`},
		"computed":  {texts{"main.tf": call("a", "${var.x}")}, "main.tf", "Reference to undeclared input variable"},
		"null":      {texts{"main.tf": "module \"a\" {\n  source = null\n}\n"}, "main.tf", "Unsuitable module source"},
		"nonsense":  {texts{"main.tf": call("a", "nonsense")}, "main.tf", `Invalid module source address|"./nonsense"`},
		"version": {texts{"main.tf": "module \"a\" {\n  source = \"./a\"\n  version = \"1.0\"\n}\n", "a/m.tf": ""},
			"main.tf", "Invalid registry module source address|local directory"},
		"bad version": {texts{"main.tf": "module \"a\" {\n  source = \"a/b/c\"\n  version = \"new\"\n}\n"},
			"main.tf", "Invalid version constraint"},
		"registry": {texts{"main.tf": "\n" + call("a", "x/y/z")}, "main.tf",
			"main.tf:2|registry.terraform.io/x/y/z|nothing to ask registries with"},
		"repository": {texts{"main.tf": call("a", "./a"), "a/m.tf": call("r", "github.com/o/r")}, "a/m.tf",
			"m.tf:1|git::https://github.com/o/r.git|a Resolver needs a Fetcher"},
		"itself":     {texts{"main.tf": call("a", "./a"), "a/m.tf": call("b", "../b"), "b/m.tf": call("a", "../a")}, "b/m.tf", "no end"},
		"the root":   {texts{"main.tf": call("a", "./")}, "main.tf", "no end"},
		"child bugs": {texts{"main.tf": call("a", "./a"), "a/m.tf": "nonsense {}"}, "a/m.tf", "Unsupported block type"},
		"import": {texts{"main.tf": call("a", "./a"), "a/m.tf": "import {\n  to = x_y.z\n  id = 1\n}\n"},
			"a/m.tf", "Invalid import configuration|module.a"},
	} {
		t.Run(name, func(t *testing.T) {
			newProject(t, c.files).wantProblem(c.place, strings.Split(c.words, "|")...)
		})
	}
}

func TestTree_CheckProvidersLeavesOutBrokenModules(t *testing.T) {
	wants := "terraform {\n  required_providers {\n    x = {\n      source = \"x/x\"\n      configuration_aliases = [x.y]\n    }\n  }\n}\n"
	p := newProject(t, texts{
		"main.tf":       call("a", "./a") + call("b", "./b"),
		"a/main.tf":     wants + "nonsense {}\n" + call("in", "./in"),
		"a/in/main.tf":  wants,
		"b/main.tf":     wants + call("in", "./in"),
		"b/in/other.tf": "nonsense {}\n",
	})
	tree, _ := p.install()
	found := tree.CheckProviders()
	must.Len(t, found, 1)
	must.Contain(t, found[0].Detail, "module.b ")
}

func TestResolver_KeepsWhatIsRecorded(t *testing.T) {
	vpc := "module \"vpc\" {\n  source = \"x/vpc/y\"\n  version = \"~> 1.0\"\n}\n"
	p := newProject(t, texts{
		"main.tf":                           vpc,
		".terraform/modules/modules.json":   `{"Modules":[{"Key":"vpc","Source":"x/vpc/y","Version":"1.4.0","Dir":".terraform/modules/vpc/m"}]}`,
		".terraform/modules/vpc/m/main.tf":  call("in", "./in") + call("up", "../up"),
		".terraform/modules/vpc/m/in/in.tf": "",
		".terraform/modules/vpc/up/up.tf":   "",
	})
	p.save()
	p.wantChanged("vpc.in in .terraform/modules/vpc/m/in", "vpc.up in .terraform/modules/vpc/up")

	p.mode = Upgrade
	p.wantProblem("main.tf", "registry.terraform.io/x/vpc/y", "nothing to ask registries with")
	p.mode = Normal
	write(t, p.dir, "main.tf", strings.Replace(vpc, "~> 1.0", "~> 2.0", 1))
	p.wantProblem("main.tf", "registry.terraform.io/x/vpc/y", "nothing to ask registries with")
	p.mode = AsRecorded
	p.wantProblem("main.tf", "Module version requirements have changed", "1.4.0", "~> 2.0")
	p.read(".terraform/modules/vpc/up/up.tf") // could not be replaced, and still exists
}

func TestResolver_PathsStayInTheirPackage(t *testing.T) {
	p := newProject(t, texts{
		"main.tf":                          call("vpc", "x/vpc/y//m"),
		".terraform/modules/modules.json":  `{"Modules":[{"Key":"vpc","Source":"x/vpc/y//m","Dir":".terraform/modules/vpc/m"}]}`,
		".terraform/modules/vpc/m/main.tf": call("out", "../../../nowhere"),
	})
	p.wantProblem("m/main.tf", "escapes", "module.vpc.module.out", `"registry.terraform.io/x/vpc/y"`)
}

func TestResolver_SaveRemovesWhatWasReplaced(t *testing.T) {
	p := newProject(t, texts{
		"main.tf":                         call("a", "./a"),
		"a/main.tf":                       "",
		".terraform/modules/modules.json": `{"Modules":[{"Key":"a","Source":"x/y/z","Dir":".terraform/modules/a"},{"Key":"a.b","Source":"./b","Dir":"x"},{"Key":"ab","Source":"./b","Dir":"x"}]}`,
		".terraform/modules/a/old.tf":     "",
		".terraform/modules/ab/old.tf":    "",
	})
	tree := p.save()
	p.wantChanged("a in a")
	must.EqualSlices(t, slices.Sorted(maps.Keys(tree.Manifest)), []string{"a", "ab"})
	p.wantNothingElse("ab", "modules.json")
}

func TestResolver_RecordedModeChangesNothing(t *testing.T) {
	p := newProject(t, texts{"main.tf": call("a", "./a"), "a/main.tf": ""})
	p.mode = AsRecorded
	p.wantProblem("main.tf", "Module not installed")
	p.mode = Normal
	p.save()
	p.mode = AsRecorded
	p.save()
	p.wantChanged()
	write(t, p.dir, "main.tf", call("a", "./b"))
	p.wantProblem("main.tf", "Module source has changed")
}

// A dry run traverses existing modules even if they would be fetched again, and neither fetches nor
// writes.
func TestResolver_DryRunFetchesNothing(t *testing.T) {
	source := "git::https://example.com/n.git"
	p := newProject(t, texts{"main.tf": call("n", source) + call("a", "./a"), "a/main.tf": call("m", source)})
	p.dry = true
	tree, problems := p.install()
	p.wantChanged("a in a", "plan "+source+" for n: module_absent false", "plan "+source+" for a.m: module_absent false")
	must.Len(t, problems, 0)
	must.Len(t, tree.Modules, 2)
	p.wantNothing()

	write(t, p.dir, ".terraform/modules/modules.json", `{"Modules":[{"Key":"n","Source":"`+source+`","Dir":".terraform/modules/n"},{"Key":"a","Source":"./a","Dir":"a"},{"Key":"a.m","Source":"x/y/z","Dir":"x"}]}`)
	write(t, p.dir, ".terraform/modules/n/main.tf", call("in", "./in"))
	write(t, p.dir, ".terraform/modules/n/in/main.tf", "")
	before := p.read(".terraform/modules/modules.json")
	p.mode = Upgrade
	tree, problems = p.install()
	must.Len(t, problems, 0)
	must.Len(t, tree.Modules, 4)
	must.Equal(t, p.read(".terraform/modules/modules.json"), before)
	p.wantChanged("a in a", "plan "+source+" for n: module_upgrade false", "n.in in .terraform/modules/n/in", "plan "+source+" for a.m: module_source_changed false")
}

func TestResolver_StopsWhenItIsCanceled(t *testing.T) {
	p := newProject(t, texts{"main.tf": call("a", "./a") + call("b", "./b")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.ctx = ctx
	_, problems := p.install()
	must.Len(t, problems, 1)
	must.Contain(t, problems[0].Summary, "canceled")
}

// The input is the sources of calls, one per line: inputs that Go minimizes have few bytes, and one
// directory is overwritten each time. With whole files and a directory each, Go would spend its
// time on minimizing the first inputs. FuzzLoadModule fuzzes the rest of calls.
func FuzzInstall(f *testing.F) {
	f.Add("./a\n./b", "../b", "./")
	f.Add("./a", "a/b/c\n../..", "x/y/z")
	f.Add("./b//c", "/tmp", "git::x")
	p := newProject(f, texts{"main.tf": "", "a/main.tf": "", "b/main.tf.json": ""})
	f.Fuzz(func(t *testing.T, root, a, b string) {
		calls := func(sources string) (text string) {
			for i, source := range strings.Split(sources, "\n") {
				text += call(fmt.Sprintf("m%d", i), source)
			}
			return text
		}
		write(t, p.dir, "main.tf", calls(root))
		write(t, p.dir, "a/main.tf", calls(a))
		inJSON := must.Get(json.Marshal(map[string]any{"module": map[string]any{"x": map[string]string{"source": b}}}))(t)
		write(t, p.dir, "b/main.tf.json", string(inJSON))
		module, _ := load.LoadModule(p.dir, p.product)
		tree, problems := Resolver{Dir: filepath.Join(p.dir, ".terraform"), Product: p.product, most: 8}.Resolve(t.Context(), module, nil)
		for _, problem := range problems {
			if problem.Summary == "" || problem.Subject == nil && problem.Summary != "Too many modules" {
				t.Errorf("a problem without place: %v", problem)
			}
		}
		for _, child := range tree.Modules[1:] {
			if child.Config.Path == "" || tree.Manifest[child.Key] != child.Record {
				t.Errorf("%+v isn't recorded in %v", child.Record, tree.Manifest)
			}
		}
	})
}

// A few directories can make an infinite tree. A level that would be too large isn't read.
func TestResolver_CountsCallsBeforeItFollowsThem(t *testing.T) {
	if testing.Short() {
		t.Skip("reads ten thousand modules")
	}
	const names = "abcdefghijklmnopqrstuvwxyz"
	files := map[string]string{}
	for i, dir := range []string{"", "1/", "2/", "3/"} {
		for _, name := range names {
			files[dir+"main.tf"] += call(string(name), fmt.Sprintf("%s%d", map[bool]string{true: "./", false: "../"}[i == 0], i+1))
		}
	}
	p := newProject(t, files)
	read := 0
	tree, problems := p.install()
	for _, m := range tree.Modules {
		if m.Config != nil {
			read++
		}
	}
	must.Contain(t, problems, "more than 10000 modules")
	must.Equal(t, read > 10_000, false, read, "modules were read")
}
