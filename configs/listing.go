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
)

// defaultTestDirectory is where test files are, beside those in the module's
// own directory.
const defaultTestDirectory = "tests"

// listing is the names of a module's files, sorted.
type listing struct {
	primary  []string
	override []string
	tests    bool // whether there is a test file
}

// list reads the directories, not the files.
func list(dir string, suffixes []string, opts Options) (listing, hcl.Diagnostics) {
	var found listing
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, nil
	case err != nil:
		return found, hcl.Diagnostics{unreadable("Failed to read module directory", err)}
	}
	for _, entry := range entries {
		name := entry.Name()
		base, isConfig := configBase(name, suffixes)
		switch {
		case entry.IsDir() || ignored(name):
		case isTest(name):
			found.tests = true
		case isConfig && (base == "override" || strings.HasSuffix(base, "_override")):
			found.override = append(found.override, name)
		case isConfig:
			found.primary = append(found.primary, name)
		}
	}
	if opts.Path != "" {
		return found, nil
	}
	inTestDir, diags := hasTests(dir, opts)
	found.tests = found.tests || inTestDir
	return found, diags
}

// hasTests looks into the test directory, one level deep.
func hasTests(dir string, opts Options) (bool, hcl.Diagnostics) {
	name := opts.TestDirectory
	if name == "" {
		name = defaultTestDirectory
	}
	testDir := filepath.Join(dir, name)
	entries, err := os.ReadDir(testDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if opts.TestDirectory == "" {
			return false, nil
		}
		return false, hcl.Diagnostics{{
			Severity: hcl.DiagWarning,
			Summary:  "Test directory does not exist",
			Detail:   fmt.Sprintf("There is no directory %s, so no test files are read.", testDir),
		}}
	case err != nil:
		return false, hcl.Diagnostics{unreadable("Failed to read test directory", err)}
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() && !ignored(e.Name()) && isTest(e.Name())
	}), nil
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

func isTest(name string) bool {
	return strings.HasSuffix(name, ".tftest.hcl") || strings.HasSuffix(name, ".tftest.json")
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
