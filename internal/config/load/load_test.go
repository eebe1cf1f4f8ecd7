package load

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// texts maps slash-separated names to contents.
type texts = map[string]string

// writeFiles makes a directory with files; a name that ends with a slash is a
// directory.
func writeFiles(t *testing.T, files texts) string {
	t.Helper()
	return must.WriteAll(t, t.TempDir(), files)
}

var asTerraform, asOpenTofu = getproviders.Terraform(productVersion), getproviders.OpenTofu("1.12.6")

// load loads a module that has no problems.
func load(t *testing.T, files texts) *Module {
	t.Helper()
	module, diags := LoadModule(writeFiles(t, files), asTerraform)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return module
}

func TestLoadModule_ReadsOnlyConfigurationFiles(t *testing.T) {
	module := load(t, texts{
		"a.tf":               ``,
		"b.tf.json":          `{}`,
		"override.tf":        ``,
		"c_override.tf.json": `{}`,
		"xoverride.tf":       ``,
		".hidden.tf":         `broken`,
		"#auto#":             `broken`,
		"#auto.tf#":          `broken`,
		"backup.tf~":         `broken`,
		"main.tofu":          `broken`,
		"main.hcl":           `broken`,
		"tf":                 `broken`,
		"dir.tf/inside.tf":   `broken`,
		"sub/main.tf":        `broken`,
		"x.tftest.hcl":       ``,
		"x.tftest.json":      `{}`,
		"tests/y.tftest.hcl": ``,
		"tests/y.tf":         `broken`,
		"x.tfquery.hcl":      `broken`,
		"terraform.tfvars":   `broken`,
	})
	var names []string
	for path := range module.Files {
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	must.EqualSlices(t, names, []string{"a.tf", "b.tf.json", "c_override.tf.json", "override.tf", "x.tftest.hcl", "x.tftest.json", "xoverride.tf", "y.tftest.hcl"})
}

// TestLoadModule_WithoutFilesIsEmpty has files, and after a bar the given directory for tests.
func TestLoadModule_WithoutFilesIsEmpty(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "empty",
		"missing":                  "empty",
		"main.tf":                  "",
		"override.tf":              "",
		"README.md .x.tf x.tfvars": "empty",
		"x.tf/":                    "empty",
		"sub/main.tf":              "empty",
		"x.tftest.hcl":             "",
		"x.tftest.json":            "",
		"OpenTofu: x.tftest.hcl tests/x.tftest.hcl":             "empty",
		"tests/x.tftest.hcl":                                    "",
		"tests/a/x.tftest.hcl":                                  "empty",
		"tests/main.tf tests/.x.tftest.hcl tests/y.tftest.hcl/": "empty",
		"spec/x.tftest.hcl":                                     "empty",
		"spec/x.tftest.hcl|spec":                                "",
		"spec/ tests/x.tftest.hcl|spec":                         "empty",
		"main.tf|spec":                                          "warned",
	} {
		product, there := asTerraform, text
		if of, isTofu := strings.CutPrefix(text, "OpenTofu: "); isTofu {
			product, there = asOpenTofu, of
		}
		names, testDir, _ := strings.Cut(there, "|")
		files := texts{}
		for _, name := range strings.Fields(names) {
			files[name] = map[bool]string{true: "{}"}[filepath.Ext(name) == ".json"]
		}
		delete(files, "missing")
		dir := writeFiles(t, files)
		if names == "missing" {
			must.Succeed(t, os.Remove(dir))
		}
		inputs, problems := ReadInputs(t.Context(), dir, InputSources{})
		must.Equal(t, inputs != nil && len(inputs)+len(problems) == 0, true, text, inputs, problems)
		module, diags := LoadModuleWith(dir, product, Options{TestDirectory: testDir})
		if module.Empty != (want == "empty") || diags.HasErrors() || (len(diags) > 0) != (want == "warned") {
			t.Errorf("%s: Empty is %v, with %v", text, module.Empty, diags)
		}
	}
}

// A committed main.tf that is a symlink to /proc/self/environ would have its lines in messages.
func TestLoadModule_ForeignFilesStayInTheirPackage(t *testing.T) {
	pkg := filepath.Join(writeFiles(t, texts{"private/x.tftest.hcl": "psst = 1", "pkg/common": "", "pkg/m/": ""}), "pkg")
	dir := filepath.Join(pkg, "m")
	const private = "../../private/x.tftest.hcl"
	links := texts{"near.tf": "../common", "LICENSE": private, "main.tf": private, "a.tf.json": filepath.Join(dir, private), "override.tf": private, "x.tftest.hcl": private,
		"tests": "../../private", "terraform.tfvars": private}
	for link, target := range links {
		if err := must.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symlinks here: %v", err)
		}
	}
	for path, want := range map[string]int{"": 6, "module.m": 4} {
		_, diags := LoadModuleWith(dir, asTerraform, Options{Path: path, Within: pkg})
		_, more := ReadInputs(t.Context(), dir, InputSources{Within: pkg})
		must.Len(t, append(diags, more...), want, path)
		for _, diag := range append(diags, more...) {
			must.Contain(t, diag.Detail, "reads no other files")
		}
	}
}

func TestLoadModule_UnreadableFilesAndDirectoriesAreDiagnostics(t *testing.T) {
	tree := fstest.MapFS{
		"module": {}, "broken/main.tf": {Data: []byte(`resource "a_b" "c" {}`)}, "broken/z.tf": {Data: []byte("nowhere"), Mode: fs.ModeSymlink},
		"with/tests": {}, "with/x.tftest.hcl": {}, "with/dangling_x.txt": {},
	}
	places := map[string]Options{".": {FS: tree}}
	if dir := t.TempDir(); os.CopyFS(dir, tree) == nil && runtime.GOOS != "windows" { // where a file that is read as a directory doesn't exist
		places[dir] = Options{}
		must.Succeed(t, os.Symlink(os.DevNull, filepath.Join(dir, "device.tf")))
	}
	tree["device.tf"] = &fstest.MapFile{Mode: fs.ModeDevice}
	for dir, opts := range places {
		for name, want := range map[string]string{
			"module": "Failed to read module directory",
			"broken": "Failed to read file",
			"with":   "Failed to read test directory",
			"":       "not a regular file",
		} {
			module, diags := LoadModuleWith(filepath.Join(dir, name), asTerraform, opts)
			must.Equal(t, module.Empty, false, name)
			must.Len(t, diags, 1, name)
			must.Contain(t, diags.Error(), want, name)
			must.Equal(t, diags.HasErrors(), true, name)
			if reqs, _ := module.Requirements(); name == "broken" {
				must.Len(t, reqs, 1)
			}
		}
	}
}

func TestLoadModule_FileNamesAreRelativeIfTheDirectoryIs(t *testing.T) {
	t.Chdir(writeFiles(t, texts{"main.tf": "x = 1", "sub/main.tf": "x = 1"}))
	for dir, want := range map[string]string{".": "main.tf", "sub": filepath.Join("sub", "main.tf")} {
		module, diags := LoadModule(dir, asTerraform)
		if len(diags) != 1 || diags[0].Subject.Filename != want || module.Files[want] == nil {
			t.Errorf("in %s: %v", dir, diags)
		}
	}
}

func TestLoadModule_DiagnosticsAreInTheOrderOfFilesAndPositions(t *testing.T) {
	_, diags := LoadModule(writeFiles(t, texts{
		"a.tf": "variable \"x\" {}\nx = 1\noutput \"y\" {}\n",
		"b.tf": "variable \"x\" {}\ny = 1\n",
	}), asTerraform)
	var got []string
	for _, diag := range diags {
		got = append(got, filepath.Base(diag.Subject.Filename)+": "+diag.Summary)
	}
	want := []string{
		"a.tf: Unsupported argument", "a.tf: Missing required argument",
		"b.tf: Duplicate variable declaration", "b.tf: Unsupported argument",
	}
	must.EqualSlices(t, got, want)
	must.Equal(t, key{block: "variables"}.String(), "variables block", "a duplicate without labels")
}

func TestLoadModule_ModuleCallsAreSortedAndOverridden(t *testing.T) {
	module := load(t, texts{
		"main.tf": `
module "z" {
  source = "./z"
}
module "a" {
  source = "acme/a/cloud"
}
module "v" {
  source = var.v
}
module "o" {
  source = "./old"
}
module "k" {
  source = "./kept"
}
`,
		"override.tf": `
module "o" {
  source = "./new"
}
module "k" {
  count = 1
}
`,
	})
	want := []string{"a acme/a/cloud 5", "k ./kept 14", "o ./new 11", "v  8", "z ./z 2"}
	var got []string
	for _, call := range module.Calls {
		got = append(got, strings.Join([]string{call.Name, call.Source, strconv.Itoa(call.Range.Start.Line)}, " "))
	}
	must.EqualSlices(t, got, want)
}

// TestLoadModule_BackendIsTheOneThatCounts has the content of the block terraform, and after a bar that of an override's.
func TestLoadModule_BackendIsTheOneThatCounts(t *testing.T) {
	for text, want := range map[string]string{
		"|":                                "",
		`backend "s3" {}|`:                 "s3",
		"cloud {}|":                        "cloud",
		`backend "s3" {}|cloud {}`:         "cloud",
		`cloud {}|backend "s3" {}`:         "s3",
		`backend "s3" {}|backend "gcs" {}`: "gcs",
		"|cloud {}\nbackend \"s3\" {}":     "cloud",
	} {
		base, override, _ := strings.Cut(text, "|")
		module := load(t, texts{"main.tf": "terraform {\n" + base + "\n}\n", "override.tf": "terraform {\n" + override + "\n}\n"})
		must.Equal(t, backendType(module), want, text)
	}
}

func backendType(m *Module) string {
	if m.Backend == nil {
		return ""
	}
	return m.Backend.Type
}

// TestLoadModule_BackendsThatAnOverrideRepeats does the same for mistakes: the block that is recorded although the run fails.
func TestLoadModule_BackendsThatAnOverrideRepeats(t *testing.T) {
	t.Parallel()
	const twice = "backend \"gcs\" {}\nbackend \"pg\" {}\n"
	for text, want := range map[string]string{
		`backend "s3" {}|` + twice:                       "s3",
		`cloud {}|` + twice:                              "cloud",
		`|` + twice:                                      "",
		`backend "s3" {}|cloud {}` + "\n" + twice:        "cloud",
		"backend \"s3\" {}|cloud {}\ncloud {}":           "s3",
		"cloud {}|cloud {}\ncloud {}\nbackend \"pg\" {}": "pg",
	} {
		base, override, _ := strings.Cut(text, "|")
		module, problems := LoadModule(writeFiles(t, texts{"main.tf": "terraform {\n" + base + "\n}\n", "override.tf": "terraform {\n" + override + "\n}\n"}), asTerraform)
		must.Len(t, problems, 1, text)
		must.Equal(t, backendType(module), want, text)
	}
}
