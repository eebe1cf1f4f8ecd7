package modules

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
)

// needSymlinks skips a test if making a symlink needs a privilege.
func needSymlinks(t *testing.T) {
	t.Helper()
	if err := must.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
}

func TestResolver_PathsOfPackagesStayInThem(t *testing.T) {
	for source, link := range map[string]string{
		"../../../private": "", "../../modules/../../private": "", "../b": "",
		"./out": "../../../private", "./out/sub": "../../../private", "./deep/out": "../../../../private", "./far": "ABSOLUTE",
	} {
		t.Run(source, func(t *testing.T) {
			p := newProject(t, texts{
				"main.tf": call("a", netURL), "private/main.tf": "", "private/sub/main.tf": "", ".terraform/modules/b/main.tf": "",
			})
			others := texts{"main.tf": call("in", source)}
			if link != "" {
				needSymlinks(t)
				others[strings.TrimSuffix(source[2:], "/sub")] = "-> " + strings.ReplaceAll(link, "ABSOLUTE", p.path("private"))
			}
			p.fetcher = &packageSet{others: others}
			p.wantProblem("a/main.tf", "escapes", "module.a.module.in", netURL, source)
		})
	}
	t.Run("near", func(t *testing.T) {
		needSymlinks(t)
		p := newProject(t, texts{"main.tf": call("a", netURL+"//sub")})
		p.fetcher = &packageSet{others: texts{"sub/main.tf": call("in", "../near") + call("link", "./link"), "near/main.tf": "", "sub/link": "-> ../near"}}
		p.save()
		p.save()
		p.mode = AsRecorded
		p.save()
	})
}

// A record of a path that leaves its package is ignored.
func TestResolver_RecordedPathsStayInTheirPackage(t *testing.T) {
	for _, mode := range []Mode{Normal, AsRecorded, Upgrade} {
		p := newProject(t, texts{
			"main.tf": call("a", netURL), "private/main.tf": "",
			".terraform/modules/a/main.tf": call("in", "../../../private"),
			".terraform/modules/modules.json": `{"Modules":[{"Key":"a","Source":"` + netURL + `","Dir":".terraform/modules/a"},
				{"Key":"a.in","Source":"../../../private","Dir":"private"}]}`,
		})
		p.mode, p.fetcher = mode, &packageSet{others: texts{"main.tf": call("in", "../../../private")}}
		p.wantProblem("a/main.tf", "escapes", "module.a.module.in")
	}
}

// Packages may be recorded in another directory for modules, as at the beginning of vendor -o.
func TestResolver_RecordedPackagesElsewhereAreWhole(t *testing.T) {
	p := newProject(t, texts{
		"main.tf":                              call("a", netURL+"//mod*/sub") + call("b", "x/y/z"),
		"private/main.tf":                      "",
		".terraform/modules/a/mods/sub/x.tf":   call("in", "../other"),
		".terraform/modules/a/mods/other/x.tf": call("out", "../../../../../private"),
		".terraform/modules/b/sub/x.tf":        call("in", "../other"),
		".terraform/modules/b/other/x.tf":      "",
		".terraform/modules/modules.json": `{"Modules":[{"Key":"a","Source":"` + netURL + `//mod*/sub","Dir":".terraform/modules/a/mods/sub"},
			{"Key":"b","Source":"x/y/z","Version":"1.0.0","Dir":".terraform/modules/b/sub"}]}`,
	})
	root, _ := load.LoadModule(p.dir, p.product)
	tree, problems := Resolver{Dir: p.path("bundle/.terraform/modules"), Product: p.product}.Resolve(t.Context(), root, p.manifest())
	must.Len(t, problems, 1)
	must.Contain(t, problems[0].Detail, "module.a.module.in.module.out")
	for i, pkg := range tree.Packages() {
		must.Equal(t, pkg.Path, p.path(".terraform/modules/"+[]string{"a", "b"}[i]), pkg.Key)
	}
}

// Symlinks within a project are followed, and lead out of no package.
func TestResolver_Links(t *testing.T) {
	needSymlinks(t)
	t.Run("are followed", func(t *testing.T) {
		p := newProject(t, texts{"main.tf": call("a", "./link/in"), "real/in/main.tf": call("b", "../beside"), "real/beside/main.tf": ""})
		must.Succeed(t, os.Symlink("real", p.path("link")))
		p.save()
		p.wantChanged("a in real/in", "a.b in real/beside")
	})
	// A repository can contain .terraform/modules as a symlink to the user's home directory.
	t.Run("nothing is replaced through one", func(t *testing.T) {
		p := newProject(t, texts{"main.tf": call("a", leafURL), "home/a/precious": "not a module", ".terraform/x": ""})
		must.Succeed(t, os.Symlink("../home", p.path(".terraform/modules")))
		p.fetcher = newPackageSet()
		p.wantProblem("main.tf", "is a symlink", "remove the link")
		must.Equal(t, p.read("home/a/precious"), "not a module")
		must.Refuse(removePackage(p.path(".terraform/modules/a")))(t, "it was removed through the link")
	})
	// Terraform records subdirectories behind symlinks.
	t.Run("in place of a recorded subdirectory", func(t *testing.T) {
		p := newProject(t, texts{
			"main.tf": call("a", netURL+"//sub"), "private/main.tf": "", ".terraform/modules/a/main.tf": "",
			".terraform/modules/modules.json": `{"Modules":[{"Key":"a","Source":"` + netURL + `//sub","Dir":".terraform/modules/a/sub"}]}`,
		})
		must.Succeed(t, os.Symlink("../../../private", p.path(".terraform/modules/a/sub")))
		p.mode = AsRecorded
		p.wantProblem("main.tf", "Module not installed")
		p.mode, p.fetcher = Normal, &packageSet{others: texts{"sub/main.tf": ""}}
		p.save()
		p.wantChanged("get "+netURL+" for a", "a in .terraform/modules/a/sub")
	})
	for subdir, ok := range map[string]bool{
		"real": true, "inner": true, "inner/sub": true, "in*/sub": true,
		"far": false, "far/sub": false, "f*r": false, "far/s*": false, "deep/up": false, "deep/up/x": false,
	} {
		t.Run("subdirectory "+subdir, func(t *testing.T) {
			p := newProject(t, texts{"main.tf": call("a", netURL+"//"+subdir), "private/main.tf": "", "private/sub/main.tf": ""})
			files := texts{"real/sub/main.tf": "", "inner": "-> real", "far": "-> " + p.path("private"), "deep/up": "-> ../.."}
			err := populate(t, &packageSet{others: files}, nil, netURL+"//"+subdir, t.TempDir())
			p.fetcher = &packageSet{others: files}
			if ok {
				p.save()
				must.Succeed(t, err)
				return
			}
			must.Contain(t, err, "outside of the module package")
			p.wantProblem("main.tf", "outside of the module package", `module "a"`, netURL, subdir[:1], "name a directory")
		})
	}
}

func TestResolver_InsideIsAllOfTheWay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "pkg/real/main.tf", "")
	write(t, dir, "other/main.tf", "")
	for name, want := range map[string]error{
		"real": nil, "": nil, "/real": nil, "out": errOutside, "out/back": errOutside, "..": errOutside, "../other": errOutside, "../pkg/real": errOutside,
		"../nothing": errOutside, "nothing": fs.ErrNotExist,
	} {
		t.Run("to "+name, func(t *testing.T) {
			if strings.HasPrefix(name, "out") {
				needSymlinks(t)
				for link, target := range map[string]string{"pkg/out": "../other", "other/back": "../pkg/real"} {
					_ = os.Remove(filepath.Join(dir, link))
					must.Succeed(t, os.Symlink(target, filepath.Join(dir, link)))
				}
			}
			must.Fail(t, must.ErrorOf(inside(filepath.Join(dir, "pkg"), name)), want)
		})
	}
}

func TestResolver_AddressesOfGitHubStayInTheirPackage(t *testing.T) {
	for _, source := range []string{"github.com/o/r/../../../../private", "github.com/o/r/%2e%2e/%2e%2e/private", "github.com/o/r/a/../../private"} {
		must.Fail(t, must.ErrorOf(parseComplete(source)), errOutside, source)
	}
}
