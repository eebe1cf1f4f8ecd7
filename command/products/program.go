package products

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Program returns the path of the real program of a name, with or without a version: the one
// that the product's variable names, else the first on PATH that isn't tfdeps.
// It skips programs for which refuse returns true; refuse may be nil.
func Program(m *cli.Meta, name string, refuse func(path string) bool) (string, error) {
	all, err := programsOf(m, name)
	if err != nil {
		return "", err
	}
	for found := range all {
		if !found.IsOwn && (refuse == nil || !refuse(found.Path)) {
			return found.Path, nil
		}
	}
	variable := PathVariable(name)
	if m.Env.Get(variable) != "" {
		return "", errOwn(variable, name)
	}
	return "", fmt.Errorf("there is no %s on PATH, besides tfdeps itself. Install it, or set %s to where it is", name, variable)
}

func errOwn(variable, name string) error {
	return fmt.Errorf("the variable %s leads to tfdeps itself. Set it to where the real %s is", variable, name)
}

// Installed is a program that has the name of a product.
type Installed struct {
	programRecord
	Version string `json:"version"` // its answer; "" for tfdeps, and with an error
	IsOwn   bool   `json:"-"`       // the program is tfdeps under that name
	Err     error  `json:"-"`       // why the program didn't print its version
	old     string // the version, if it is a Terraform that is too old for what tfdeps installs
}

// programsOf returns the programs of a name, without their versions: only the one that the product's variable names,
// or without that variable those on PATH. The error is about the variable.
func programsOf(m *cli.Meta, name string) (iter.Seq[Installed], error) {
	variable := PathVariable(name)
	given := m.Env.Get(variable)
	if given == "" {
		return programsOnPath(m, name), nil
	}
	path, err := exec.LookPath(given)
	if err != nil {
		return nil, fmt.Errorf("the variable %s names %s, which isn't a program that can be run. Set it to where the real %s is, or unset it", variable, given, name)
	}
	found, err := installed(m, path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the variable %s: %w", variable, err)
	case found.IsOwn:
		return nil, errOwn(variable, name)
	}
	return func(yield func(Installed) bool) { yield(found) }, nil
}

// installed returns the record of a program's file.
func installed(m *cli.Meta, path string) (found Installed, err error) {
	info, err := os.Stat(path)
	if err == nil {
		found.programRecord = programRecord{Path: path, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Inode: inode(info)}
		found.IsOwn = isCopy(m.Executable, path, info)
	}
	return found, err
}

// PathVariable returns the variable with the path of the program of a name, which may have
// a version.
func PathVariable(name string) string {
	product, _ := ofProgram(name)
	return settingsOf[product.Program].path
}

// wrappedSuffix is appended by setup actions of GitHub to the name of the real program, so
// that a wrapper can have its name: "terraform-bin", "tofu-bin".
const wrappedSuffix = "-bin"

// namesOf returns the file names to look for, the best first.
func namesOf(name string) []string {
	for program := range settingsOf {
		switch name {
		case program:
			return []string{name, name + wrappedSuffix}
		case program + wrappedSuffix:
			return []string{name, program}
		}
	}
	return []string{name}
}

// programsOnPath returns the programs of a name on PATH. Links to tfdeps and copies of it may come before the real one.
func programsOnPath(m *cli.Meta, name string) iter.Seq[Installed] {
	return func(yield func(Installed) bool) {
		for _, name := range namesOf(name) {
			for _, dir := range filepath.SplitList(m.Env.Get("PATH")) {
				if !filepath.IsAbs(dir) {
					continue // os/exec runs no program of the working directory either
				}
				path, err := exec.LookPath(filepath.Join(dir, name))
				if err != nil {
					continue
				}
				if found, err := installed(m, path); err == nil && !yield(found) {
					return
				}
			}
		}
	}
}

// isCopy reports whether a file is the program itself, or a copy of it.
func isCopy(program, path string, info fs.FileInfo) bool {
	own, err := os.Stat(program)
	if err != nil || own.Size() != info.Size() {
		return false
	}
	if os.SameFile(own, info) {
		return true
	}
	digest := digestOf(program)
	return digest != "" && digest == digestOf(path)
}

// digestOf returns the digest of a file's content, or "" if it can't be read.
func digestOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return string(sum.Sum(nil))
}

// All returns the products, without versions.
func All() []getproviders.Product {
	return []getproviders.Product{getproviders.Terraform(""), getproviders.OpenTofu("")}
}

// InstalledOf returns the programs of a product, in order of precedence: only the one that the product's
// variable names, or those on PATH, including tfdeps. It runs each of them to get its
// version. The error is about the variable.
func InstalledOf(m *cli.Meta, product getproviders.Product) (all []Installed, err error) {
	programs, err := programsOf(m, product.Program)
	if err != nil {
		return nil, err
	}
	for found := range programs {
		found.ask(m, settingsOf[product.Program])
		all = append(all, found)
	}
	return all, nil
}
