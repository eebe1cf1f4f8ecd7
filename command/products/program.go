package products

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
)

// Program finds the real program of a name, with or without a version: the one
// that the product's variable names, else the first on PATH that isn't tfdeps.
func Program(m *cli.Meta, name string) (string, error) {
	variable := PathVariable(name)
	given := m.Env.Get(variable)
	if given == "" {
		if found, ok := findProgram(m, name); ok {
			return found.Path, nil
		}
		return "", fmt.Errorf("there is no %s on PATH, besides tfdeps itself. Install it, or set %s to where it is", name, variable)
	}
	path, err := exec.LookPath(given)
	if err != nil {
		return "", fmt.Errorf("the variable %s: %w", variable, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("the variable %s: %w", variable, err)
	}
	if self, err := os.Stat(m.Executable); err == nil && os.SameFile(self, info) {
		return "", fmt.Errorf("the variable %s leads to tfdeps itself. Set it to where the real %s is", variable, name)
	}
	return path, nil
}

// PathVariable is the variable that says where the program of a name is, with or
// without a version.
func PathVariable(name string) string {
	product, _ := ofProgram(name)
	return settingsOf[product.Program].path
}

// findProgram finds the first program of a name on PATH that isn't tfdeps, which
// may have a link with that name before the real one.
func findProgram(m *cli.Meta, name string) (programRecord, bool) {
	self, _ := os.Stat(m.Executable)
	for _, dir := range filepath.SplitList(m.Env.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // as os/exec, which runs nothing of the working directory
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || self != nil && os.SameFile(self, info) {
			continue
		}
		return newProgramRecord(path, info), true
	}
	return programRecord{}, false
}
