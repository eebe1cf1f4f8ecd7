package configs

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// addTest takes over what a test file declares; name is relative to the module.
func (b *builder) addTest(name string, d *document) {
	seen := map[key]hcl.Range{}
	for _, declared := range d.declared {
		if first, ok := seen[declared.key]; ok {
			b.report(duplicate(declared, first))
			continue
		}
		seen[declared.key] = declared.rng
	}
	b.module.Tests = append(b.module.Tests, testKey(filepath.ToSlash(name)))
	taken := map[string]bool{}
	for _, run := range d.runs {
		if taken[run.Name] {
			continue
		}
		taken[run.Name] = true
		run.File = filepath.ToSlash(name)
		run.Key = runKey(run.File, run.Name)
		b.module.TestRuns = append(b.module.TestRuns, run)
	}
}

// Path is the module's place in the tree of modules, which no call can have.
func (r TestRun) Path() string {
	return "module." + strings.ReplaceAll(r.Key, ".", ".module.")
}

// runKey is the key under which a run's module is recorded. Only the suffix of
// the native syntax is cut off the file's name, as the real tool does.
func runKey(file, run string) string {
	return testKey(file) + "." + run
}

// testKey is what the keys of a test file's runs begin with.
func testKey(file string) string {
	parts := []string{"test"}
	if dir := path.Dir(file); dir != "." {
		parts = append(parts, strings.Split(dir, "/")...)
	}
	return strings.Join(append(parts, strings.TrimSuffix(path.Base(file), ".tftest.hcl")), ".")
}
