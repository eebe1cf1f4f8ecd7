package load

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

var update = flag.Bool("update", false, "write what LoadModule says into testdata/*.txtar")

// productVersion is the version for which testdata is read. Any terraform on PATH evaluates the files' required_version in
// the same way.
const productVersion = "1.15.9"

// modules is testdata/*.txtar: each archive has several modules, as directories. In each module,
// the file "want" has its requirements and problems, "differs" the reason if Terraform reports
// something else, and "since" the first version that does.
type modules struct {
	file    string
	archive *txtar.Archive
}

func readModules(t testing.TB) []modules {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	var all []modules
	for _, file := range files {
		archive := must.Get(txtar.ParseFile(file))(t)
		all = append(all, modules{file, archive})
	}
	return all
}

// version returns the version of the product whose language the modules have: the suffix of the file's name, or else
// productVersion.
func (m modules) version() string {
	name := strings.TrimSuffix(filepath.Base(m.file), ".txtar")
	if program, version, ok := strings.Cut(name, "-"); ok && (program == "terraform" || program == "tofu") {
		return version + ".0"
	}
	return productVersion
}

// isTofu reports whether the modules are OpenTofu's, as the file's name says.
func (m modules) isTofu() bool { return strings.HasPrefix(filepath.Base(m.file), "tofu-") }

func (m modules) product() getproviders.Product {
	if m.isTofu() {
		return getproviders.OpenTofu(m.version())
	}
	return getproviders.Terraform(m.version())
}

// names returns the names of the modules, in order.
func (m modules) names() []string {
	var names []string
	for _, f := range m.archive.Files {
		name, _, _ := strings.Cut(f.Name, "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// text returns the content of a file of a module, or "" if it doesn't exist.
func (m modules) text(module, name string) string {
	for _, f := range m.archive.Files {
		if f.Name == module+"/"+name {
			return string(f.Data)
		}
	}
	return ""
}

// directory is one of the modules.
func (m modules) directory(module string) *txtar.Archive {
	var own txtar.Archive
	for _, f := range m.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, module+"/"); ok && name != "want" && name != "differs" && name != "since" {
			own.Files = append(own.Files, txtar.File{Name: name, Data: f.Data})
		}
	}
	return &own
}

// unpack writes the files of a module.
func (m modules) unpack(t *testing.T, module, dir string) {
	t.Helper()
	for _, f := range m.directory(module).Files {
		must.Write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
	}
}

func TestLoadModule_ListsRequirementsAndProblems(t *testing.T) {
	for _, m := range readModules(t) {
		for _, name := range m.names() {
			t.Run(strings.TrimSuffix(filepath.Base(m.file), ".txtar")+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				m.unpack(t, name, dir)
				got := summary(dir, m.product())
				if *update {
					m.write(name, got)
					return
				}
				must.Equal(t, filepath.ToSlash(got), m.text(name, "want"))
			})
		}
		if *update {
			must.Write(t, m.file, txtar.Format(m.archive))
		}
	}
}

// write replaces the wanted result of a module.
func (m modules) write(module, want string) {
	for i := range m.archive.Files {
		if m.archive.Files[i].Name == module+"/want" {
			m.archive.Files[i].Data = []byte(want)
			return
		}
	}
	last := 0
	for i, f := range m.archive.Files {
		if strings.HasPrefix(f.Name, module+"/") {
			last = i
		}
	}
	m.archive.Files = slices.Insert(m.archive.Files, last+1, txtar.File{Name: module + "/want", Data: []byte(want)})
}

// summary returns, in sorted lines, what init finds out about a module's providers: the
// requirements, and the problems in the order of precedence.
func summary(dir string, product getproviders.Product) string {
	module, diags := LoadModule(dir, product)
	for _, run := range module.TestRuns {
		diags = append(diags, run.Call.Problems()...)
	}
	if bad := module.CheckVersion(); len(bad) > 0 {
		return joinLines(problemLines(dir, bad))
	}
	if diags.HasErrors() {
		return joinLines(problemLines(dir, diags))
	}
	reqs, more := module.Requirements()
	lines := problemLines(dir, append(diags, more...))
	if !more.HasErrors() {
		for _, p := range reqs.Providers() {
			lines[strings.TrimSpace(fmt.Sprintf("%s %s", p, reqs.Constraints(p)))+"\n"] = true
		}
		for _, run := range module.TestRuns {
			lines[runLine(run.Key, run.Call.Source)] = true
		}
	}
	return joinLines(lines)
}

func problemLines(dir string, diags hcl.Diagnostics) map[string]bool {
	lines := map[string]bool{}
	for _, diag := range diags {
		severity := "error"
		if diag.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		at := ""
		if diag.Subject != nil {
			rng := *diag.Subject
			if rng.Empty() {
				rng.End.Column++ // as Terraform shows it
			}
			at = strings.TrimPrefix(rng.String(), dir+string(filepath.Separator))
		}
		lines[problemLine(severity, at, diag.Summary)] = true
	}
	return lines
}

func runLine(key, source string) string { return fmt.Sprintf("run %s: %s\n", dotted(key), source) }

// dotted is the key that other systems have in place of one with a backslash of Windows.
func dotted(key string) string { return strings.ReplaceAll(key, `\`, ".") }

func problemLine(severity, at, summary string) string {
	return fmt.Sprintf("%s %s: %s\n", severity, at, summary)
}

func joinLines(lines map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(lines)), "")
}
