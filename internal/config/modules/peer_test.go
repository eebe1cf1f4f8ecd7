package modules

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// Sources mean the same as to Terraform. All calls of one configuration are recorded with the
// source as it is written; calls with a refused source are reported as problems. Without those the
// other calls need no fetch, and their sources are normalised when the record is written.
func TestParseAddress_SameAsTerraform(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "x/main.tf", "")
	manifest := Manifest{}
	keys := map[string]string{}
	for source, want := range addressCases {
		// On Windows, Terraform takes a path without a drive for a relative one.
		if strings.HasPrefix(want, "strict ") || runtime.GOOS == "windows" && strings.HasPrefix(strings.TrimPrefix(source, "git::"), "/") {
			continue
		}
		key := fmt.Sprintf("k%03d", len(keys))
		keys[source] = key
		write(t, dir, key+".tf", fmt.Sprintf("module %q {\n  source = %q\n}\n", key, source))
		manifest[key] = Record{Key: key, Source: source, Dir: "x"}
	}
	must.Succeed(t, manifest.Save(filepath.Join(dir, ".terraform/modules")))
	refused := refusedFiles(t, dir, nil)
	for file := range refused {
		must.Succeed(t, os.Remove(filepath.Join(dir, file)))
		delete(manifest, strings.TrimSuffix(file, ".tf"))
	}
	must.Succeed(t, manifest.Save(filepath.Join(dir, ".terraform/modules")))
	out, err := terraform(t, dir, nil, "init")
	must.Succeed(t, err, out)

	var recorded struct{ Modules []Record }
	must.Succeed(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, ".terraform/modules/modules.json")))(t), &recorded))
	sources := map[string]string{}
	for _, record := range recorded.Modules {
		sources[record.Key] = record.Source
	}
	for source, key := range keys {
		kind, want, _ := strings.Cut(addressCases[source], " ")
		recorded, accepted := sources[key]
		must.Equal(t, refused[key+".tf"], kind == "error", source)
		must.Equal(t, accepted, kind != "error", source)
		if accepted {
			must.Equal(t, recorded, want, source)
		}
	}
}

// write makes a file and its directories.
func write(t testing.TB, dir, name, content string) {
	t.Helper()
	must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
}
