// Package vendorcmd is the command "vendor", which puts all that a directory needs
// into the directory itself, to be committed, or into one archive.
package vendorcmd

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Command is the command.
func Command() cli.Command {
	return cli.Command{Name: "vendor", Synopsis: "Put providers and modules into the repository", Help: help(), Run: run, Report: true}
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, err := parse(args, m.Env)
	if err != nil {
		return 0, err
	}
	product, problems := products.Choose(m, products.Options{ReadOnly: opts.check})
	v := view.NewVendor(m.ViewOptions(product, opts.json, opts.progress))
	m = m.Showing(v.Activity())
	r := request{meta: m, opts: opts, product: product, base: ".", view: v}
	code := 0
	if problems = append(problems, opts.problems...); !problems.HasErrors() {
		var found problem.List
		code, found = carryOut(r)
		problems = append(problems, found...)
	}
	return m.Finish(r.view.Report(), problems, cli.Output{JSON: opts.json, Code: code}), nil
}

// request is what one run of vendor works on. Nothing of it changes.
type request struct {
	meta    *cli.Meta
	opts    options
	product getproviders.Product
	view    *view.Vendor
	base    string // the directory that is filled: the current one, or one that an archive is made of
}

// here reports whether the working directory itself is filled.
func (r request) here() bool { return r.base == "." }

// in is where something of what is vendored is.
func (r request) in(name string) string { return filepath.Join(r.base, filepath.FromSlash(name)) }

// carryOut does what the options ask for, and returns the exit code if there is no
// error.
func carryOut(r request) (code int, problems problem.List) {
	switch {
	case r.opts.unpack != "":
		return 0, unpack(r)
	case r.opts.bundle != "":
		return 0, writeArchive(r)
	}
	p, problems := read(r)
	if problems.HasErrors() {
		return 0, problems
	}
	if r.opts.check {
		outdated, found := check(r, p)
		if outdated {
			code = cli.ExitDiffers
		}
		return code, append(problems, found...)
	}
	lfs, found := fill(r, p)
	if problems = append(problems, found...); problems.HasErrors() {
		return 0, problems
	}
	if problems = append(problems, hint(r, lfs)...); problems.HasErrors() {
		return 0, problems
	}
	r.view.Done("Everything that this directory needs is vendored. Commit it together with the configuration.")
	return 0, problems
}

// project is a working directory: its configuration, and what is locked and
// vendored in it.
type project struct {
	dir         *workdir.Dir
	moduleLocks workdir.ModuleLocks
	was         vendored.Record // what is vendored
	wanted      vendored.Record // what is to be: for which platforms and how; no modules and no providers yet
}

// read reads the working directory. Its modules aren't found yet.
func read(r request) (p project, problems problem.List) {
	if dir := workdir.DataDir(r.meta.Env); filepath.Clean(dir) != ".terraform" {
		return p, problem.Fail("vendored", "A data directory elsewhere can't be vendored",
			"TF_DATA_DIR is %q. A clone on another machine needn't have this variable, and then modules have to be in .terraform/modules. Unset it.", dir)
	}
	if name := vendored.Linked("."); r.here() && name != "" {
		return p, problem.Fail("vendored", "What is behind a link can't be vendored",
			"%s leads somewhere else, and git keeps the link, but nothing of what it leads to. Put a directory in its place.", name)
	}
	var err error
	if p.was, err = vendored.ReadRecord("."); err != nil {
		return p, problem.Fail("vendored", "Failed to read the record of what is vendored", "%s\n\nTake the file from an earlier commit. If there is none, remove terraform.d/plugins, too, unless it has packages of your own: all is made again.", problem.Sentence(err))
	}
	p.wanted = r.opts.record(p.was)
	p.dir = workdir.Load(r.meta, r.product, ".", r.opts.modules)
	if p.dir.Empty() {
		return p, problem.Fail("configuration_not_found", "No configuration files",
			"The directory contains no %s configuration files.", r.product.Name)
	}
	var unlocked problem.List
	p.dir.Locks, problems = depsfile.Load(depsfile.FileName, r.product)
	p.moduleLocks, unlocked = workdir.LoadModuleLocks(r.meta.Context, false)
	return p, append(problems, unlocked...)
}

// fill fills the directory: modules, providers, what describes them, and the lock
// files last. It reports whether git LFS is to keep the packages.
func fill(r request, p project) (lfs bool, problems problem.List) {
	from, problems := connect(r, p)
	defer from.mirrors.Close()
	if problems.HasErrors() {
		return false, problems
	}
	record := p.wanted
	toLock, found := vendorModules(r, p, from.net, record.Modules)
	if problems = append(problems, found...); problems.HasErrors() {
		return false, problems
	}
	required, found := require(r, p)
	if problems = append(problems, found...); problems.HasErrors() {
		return false, problems
	}
	locks, providers, found := vendorProviders(r, p, from, required)
	if problems = append(problems, found...); problems.HasErrors() {
		return false, problems
	}
	record.Providers = providers
	return record.LFS, append(problems, problem.InOrder(
		func() problem.List { return saveRecord(r, record) },
		func() problem.List { return writeGitFiles(r, record.LFS) },
		func() problem.List { return saveLockFiles(r, p, toLock, locks) },
	)...)
}
