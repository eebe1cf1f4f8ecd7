package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
)

// defaultTestDirectory is where test files are, beside those in the module's
// own directory.
const defaultTestDirectory = "tests"

// listing is the names of a module's files, sorted.
type listing struct {
	primary  []string
	override []string
	tests    []string // those of the test directory with its name, after the others
}

// list reads the directories, not the files.
func list(dir string, product getproviders.Product, opts Options) (listing, hcl.Diagnostics) {
	var found listing
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, nil
	case err != nil:
		return found, hcl.Diagnostics{unreadable("Failed to read module directory", err)}
	}
	for _, name := range fileNames(entries, product) {
		base, isConfig := configBase(name, product.Suffixes)
		switch {
		case isTest(name, product):
			found.tests = append(found.tests, name)
		case isConfig && (base == "override" || strings.HasSuffix(base, "_override")):
			found.override = append(found.override, name)
		case isConfig:
			found.primary = append(found.primary, name)
		}
	}
	if opts.Path != "" {
		return found, nil
	}
	inTestDir, diags := listTests(dir, product, opts)
	for _, name := range inTestDir {
		if !slices.Contains(found.tests, name) { // the test directory may be the module's
			found.tests = append(found.tests, name)
		}
	}
	return found, diags
}

// listTests lists the test directory, one level deep.
func listTests(dir string, product getproviders.Product, opts Options) ([]string, hcl.Diagnostics) {
	name := opts.TestDirectory
	if name == "" {
		name = defaultTestDirectory
	}
	testDir := filepath.Join(dir, name)
	entries, err := os.ReadDir(testDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if opts.TestDirectory == "" {
			return nil, nil
		}
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagWarning,
			Summary:  "Test directory does not exist",
			Detail:   fmt.Sprintf("There is no directory %s, so no test files are read.", testDir),
		}}
	case err != nil:
		return nil, hcl.Diagnostics{unreadable("Failed to read test directory", err)}
	}
	var found []string
	for _, file := range fileNames(entries, product) {
		if isTest(file, product) {
			found = append(found, filepath.Join(".", name, file))
		}
	}
	return found, nil
}

// configBase cuts the longest suffix off the name of a configuration file.
func configBase(name string, suffixes []string) (base string, ok bool) {
	base = name
	for _, suffix := range suffixes {
		if rest, found := strings.CutSuffix(name, suffix); found && len(rest) < len(base) {
			base, ok = rest, true
		}
	}
	return base, ok
}

// ignored tells the names that editors give to their own files.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

func isTest(name string, product getproviders.Product) bool {
	return hasSuffix(name, product.TestSuffixes)
}

func hasSuffix(name string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// fileNames are the names of the files that count, in order. The file "main.tofu"
// hides "main.tf" from a product that says so.
func fileNames(entries []fs.DirEntry, product getproviders.Product) []string {
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() && !ignored(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	hidden := map[string]bool{}
	for _, name := range names {
		for own, other := range product.Hides {
			if base, ok := strings.CutSuffix(name, own); ok {
				hidden[base+other] = true
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return hidden[name] })
}

// unreadable is a problem without a range: there is no source line to show.
// The error names the path.
func unreadable(summary string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf("It can't be read: %v.", err),
	}
}
