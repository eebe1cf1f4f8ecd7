package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// files are the contents of files by their names, which have slashes.
type files = map[string]string

// eachCase runs a tenth of the cases. There are a number of them at least, and each exemption is for one of them.
func eachCase[Case any](t *testing.T, cases map[string]Case, exemptions map[string]harness.Exemption, least int, run func(t *testing.T, c Case, allowed harness.Exemption)) {
	t.Helper()
	if len(cases) < least {
		t.Errorf("there are %d cases, want %d at least", len(cases), least)
	}
	for name := range exemptions {
		if _, ok := cases[name]; !ok {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // -parallel is the number of cores, unless a flag says otherwise
			harness.PeerCase(t)
			run(t, c, exemptions[name].Now(t))
		})
	}
}

// readCases reads the files of archives. split says which case a file belongs to and what it is called there, of the name of
// its archive and its own.
func readCases(t *testing.T, pattern string, split func(archive, name string) (caseName, file string)) map[string][]txtar.File {
	t.Helper()
	paths, err := filepath.Glob(harness.Path(t, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no cases (%v)", pattern, err)
	}
	cases := map[string][]txtar.File{}
	for _, path := range paths {
		archive := must.Get(txtar.ParseFile(path))(t)
		for _, f := range archive.Files {
			name, file := split(strings.TrimSuffix(filepath.Base(path), ".txtar"), f.Name)
			cases[name] = append(cases[name], txtar.File{Name: file, Data: f.Data})
		}
	}
	return cases
}

// several is for archives that hold several cases each, as files CASE/FILE. inGroups is the same if several archives may have
// cases of one name: the case is called ARCHIVE/CASE.
func several(_, name string) (caseName, file string) {
	caseName, file, _ = strings.Cut(name, "/")
	return caseName, file
}

func inGroups(archive, name string) (caseName, file string) {
	caseName, file = several(archive, name)
	return archive + "/" + caseName, file
}

// byName are the files of a case.
func byName(files []txtar.File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Name] = string(f.Data)
	}
	return all
}
