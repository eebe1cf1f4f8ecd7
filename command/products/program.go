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

// Program finds the real program of a name, with or without a version: the one
// that the product's variable names, else the first on PATH that isn't tfdeps.
// Programs for which refuse returns true are passed over; refuse may be nil.
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
	Version string `json:"version"` // what it said; "" for tfdeps, and with an error
	IsOwn   bool   `json:"-"`       // it is tfdeps under that name
	Err     error  `json:"-"`       // why it didn't say its version
	old     string // the version of a Terraform that is too old for what tfdeps installs
}

// programsOf returns the programs that a name may mean, without their versions: the one that the product's variable names,
// and nothing else, or those on PATH. The error is about the variable.
func programsOf(m *cli.Meta, name string) (iter.Seq[Installed], error) {
	variable := PathVariable(name)
	given := m.Env.Get(variable)
	if given == "" {
		return programsOnPath(m, name), nil
	}
	path, err := exec.LookPath(given)
	if err != nil {
		return nil, fmt.Errorf("the variable %s names %s, and that is no program that can be run. Set it to where the real %s is, or unset it", variable, given, name)
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

// installed looks at the file of a program.
func installed(m *cli.Meta, path string) (found Installed, err error) {
	info, err := os.Stat(path)
	if err == nil {
		found.programRecord = programRecord{Path: path, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Inode: inode(info)}
		found.IsOwn = isCopy(m.Executable, path, info)
	}
	return found, err
}

// PathVariable is the variable that says where the program of a name is, with or
// without a version.
func PathVariable(name string) string {
	product, _ := ofProgram(name)
	return settingsOf[product.Program].path
}

// wrappedSuffix is what the setup actions of GitHub add to the name of the real program, so
// that a wrapper can have its own: "terraform-bin", "tofu-bin".
const wrappedSuffix = "-bin"

// namesOf are the names under which the program of a name is looked for, the best first.
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

// programsOnPath are the programs of a name on PATH. Tfdeps may have links with that name before the real one, and copies.
func programsOnPath(m *cli.Meta, name string) iter.Seq[Installed] {
	return func(yield func(Installed) bool) {
		for _, name := range namesOf(name) {
			for _, dir := range filepath.SplitList(m.Env.Get("PATH")) {
				if !filepath.IsAbs(dir) {
					continue // as os/exec, which runs nothing of the working directory
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

// digestOf returns the digest of a file's content; "" if it can't be read.
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

// All are the products, without versions.
func All() []getproviders.Product {
	return []getproviders.Product{getproviders.Terraform(""), getproviders.OpenTofu("")}
}

// InstalledOf returns the programs of a product, in the order in which they count: the one that the product's
// variable names, and nothing else, or those on PATH, tfdeps included. Each of them is run to ask for its
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
