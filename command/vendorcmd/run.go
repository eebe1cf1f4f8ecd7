// Package vendorcmd is the command "vendor", which puts all that a directory needs
// into the directory itself, to be committed, or into one archive.
package vendorcmd

import (
	"fmt"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/vendoring"
)

// Command is the command.
func Command() cli.Command {
	return cli.Command{Name: "vendor", Synopsis: "Put providers and modules into the repository", Help: help(), Run: run}
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, err := parse(args, m.Env)
	if err != nil {
		return 0, err
	}
	product, problems := products.Choose(m, products.Options{ReadOnly: opts.check})
	v := vendorRun{meta: m, opts: opts, product: product, base: ".", view: view.NewVendor(m.ViewOptions(product, opts.json))}
	switch problems = append(problems, opts.problems...); {
	case problems.HasErrors():
	case opts.unpack != "":
		problems = append(problems, unpack(m, opts, product, v.view)...)
	default:
		problems = append(problems, v.do()...)
	}
	code := 0
	if v.outdated {
		code = cli.ExitDiffers
	}
	return cli.End(v.view.Problems, problems, code), nil
}

// vendorRun is one run of vendor: what it works on, and what it has found out so
// far.
type vendorRun struct {
	meta    *cli.Meta
	opts    options
	product getproviders.Product
	view    *view.Vendor
	base    string // the directory that is filled: the current one, or one that an archive is made of

	dir         *workdir.Dir
	moduleLocks workdir.ModuleLocks
	toLock      *modulelock.Locks // of modules; nil: nothing
	record, was vendored.Record

	net      sources.Network
	source   getproviders.Source
	required getproviders.Requirements
	placed   []getproviders.Provider // of which there are packages that vendor hasn't put there
	result   vendoring.Result

	outdated bool // -check has found something to do
}

// do does what was asked for.
func (v *vendorRun) do() problem.List {
	switch {
	case v.opts.check:
		return problem.InOrder(v.begin, v.check)
	case v.opts.bundle != "":
		return v.bundle()
	default:
		return problem.InOrder(v.begin, v.connect, v.vendor, v.hint, func() problem.List {
			return done(v.view, "Everything that this directory needs is vendored. Commit it together with the configuration.")
		})
	}
}

// begin reads the configuration and what is known of the directory.
func (v *vendorRun) begin() (problems problem.List) {
	if dir := workdir.DataDir(v.meta.Env); filepath.Clean(dir) != ".terraform" {
		return problem.List{problem.Error("A data directory elsewhere can't be vendored", fmt.Sprintf(
			"TF_DATA_DIR is %q. A clone on another machine needn't have this variable, and then modules have to be in .terraform/modules. Unset it.", dir))}
	}
	if name := vendored.Linked("."); v.base == "." && name != "" {
		return problem.List{problem.Error("What is behind a link can't be vendored", fmt.Sprintf(
			"%s leads somewhere else, and git keeps the link, but nothing of what it leads to. Put a directory in its place.", name))}
	}
	var err error
	if v.was, err = vendored.ReadRecord("."); err != nil {
		return problem.List{problem.Error("Failed to read the record of what is vendored", problem.Sentence(err)+
			"\n\nTake the file from an earlier commit. If there is none, remove terraform.d/plugins, too, unless it has packages of your own: all is made again.")}
	}
	v.record = v.opts.record(v.was)
	v.dir = workdir.Load(v.meta, v.product, ".", v.opts.modules)
	if v.dir.Empty() {
		return problem.List{problem.Error("No configuration files", fmt.Sprintf("The directory contains no %s configuration files.", v.product.Name))}
	}
	var unlocked problem.List
	v.dir.Locks, problems = depsfile.Load(depsfile.FileName, v.product)
	v.moduleLocks, unlocked = workdir.LoadModuleLocks(false)
	return append(problems, unlocked...)
}

// vendor fills the directory: modules, providers, what describes them, and the
// lock file last.
func (v *vendorRun) vendor() problem.List {
	return problem.InOrder(v.vendorModules, v.require, v.vendorProviders, v.saveRecord, v.writeGitFiles, v.saveLockFiles)
}

// done shows the last line, or the report.
func done(shown *view.Vendor, text string) problem.List {
	if err := shown.Done(text); err != nil {
		return problem.List{problem.Error("Failed to write the report", problem.Sentence(err))}
	}
	return nil
}

// in is where something of what is vendored is.
func (v *vendorRun) in(name string) string { return filepath.Join(v.base, filepath.FromSlash(name)) }
