package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// readCases reads archives that hold several cases each, as files CASE/FILE. The
// result is by CASE, or if they are grouped by ARCHIVE/CASE, as several archives may have
// cases of one name then.
func readCases(t *testing.T, pattern string, grouped bool) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob(harness.Path(t, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no cases (%v)", pattern, err)
	}
	cases := map[string]*txtar.Archive{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		mustDo(t, err)
		for _, f := range archive.Files {
			name, rest, _ := strings.Cut(f.Name, "/")
			if grouped {
				name = strings.TrimSuffix(filepath.Base(path), ".txtar") + "/" + name
			}
			if cases[name] == nil {
				cases[name] = new(txtar.Archive)
			}
			cases[name].Files = append(cases[name].Files, txtar.File{Name: rest, Data: f.Data})
		}
	}
	return cases
}
