package products

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
)

// All are the products, without versions.
func All() []getproviders.Product {
	return []getproviders.Product{getproviders.Terraform(""), getproviders.OpenTofu("")}
}

// Installed is a program that has the name of a product.
type Installed struct {
	Path    string
	IsOwn   bool   // it is tfdeps under that name
	Version string // what it said; "" for tfdeps, and with an error
	Err     error  // why it didn't say it
}

// InstalledOf returns the programs of a product, in the order in which they count: the one that the product's
// variable names, and nothing else, or those on PATH, tfdeps included. Each of them is run to ask for its
// version. The error is about the variable.
func InstalledOf(m *cli.Meta, product getproviders.Product) (all []Installed, err error) {
	s := settingsOf[product.Program]
	if m.Env.Get(s.path) != "" {
		path, err := Program(m, product.Program, nil)
		if err != nil {
			return nil, err
		}
		return []Installed{ask(m, path, s)}, nil
	}
	own := ownProgram(m)
	for _, name := range namesOf(product.Program) {
		for _, dir := range filepath.SplitList(m.Env.Get("PATH")) {
			if !filepath.IsAbs(dir) {
				continue
			}
			path, err := exec.LookPath(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			if info, err := os.Stat(path); err == nil && own.is(path, info) {
				all = append(all, Installed{Path: path, IsOwn: true})
			} else if err == nil {
				all = append(all, ask(m, path, s))
			}
		}
	}
	return all, nil
}

// ask has a program tell its version.
func ask(m *cli.Meta, path string, s settings) Installed {
	version, err := askVersion(m, path, s)
	if errors.Is(err, errOwnAnswer) {
		return Installed{Path: path, IsOwn: true}
	}
	return Installed{Path: path, Version: version, Err: err}
}
