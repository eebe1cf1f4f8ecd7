// Package vendorcmd is the command "vendor", which puts the providers and modules of a directory
// into the directory itself, to be committed, or into one archive.
package vendorcmd

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
)

// Command returns the command "vendor".
func Command() cli.Command {
	return cli.Command{Name: "vendor", Synopsis: "Put providers and modules into the repository",
		Usage: "vendor [options]\nvendor -unpack=FILE.tar [-accept-hash=HASH] [DIR]", About: about, Flags: new(options).flags, Run: run,
		Examples: [][2]string{
			{"$TFDEPS vendor -platform=linux_amd64", "Put what the configuration needs on Linux into the repository."},
			{"$TFDEPS vendor -check", "In CI: exit with 2 if something is missing or out of date."},
			{"$TFDEPS vendor -o deps.tar", "Write one archive, for a machine without a network."},
		},
	}
}

func run(m *cli.Meta, args []string) (int, error) {
	opts, err := parse(m, args)
	if err != nil {
		return 0, err
	}
	product, _, problems := products.ChooseWithOrigin(m, products.Options{ReadOnly: opts.check})
	v := view.NewVendor(m.ViewOptions(product, opts.json, opts.progress))
	r := request{sources.New(m.Showing(v.Activity), product, opts.roots.Given()), opts, v, "."}
	defer r.Close()
	code := 0
	if r.Log.Add(append(problems, opts.log.All...)...) {
		code = everywhere(r)
	}
	return r.Meta.Finish(v.Report(), r.Log.All, cli.Output{JSON: opts.json, Code: code}), nil
}

// everywhere runs vendor in each directory that the options name, and returns the exit code for a run without errors.
func everywhere(r request) int {
	if !r.opts.roots.Given() {
		return carryOut(r)
	}
	found, ok := r.opts.roots.Find(r.Meta, r.Product, nil, r.Log)
	if !ok {
		return 1
	}
	r.view.Several()
	opts, start := r.opts, r.Meta.Dir
	opts.policies, opts.mirrors = roots.Paths(opts.policies, start), roots.Paths(opts.mirrors, start)
	return roots.Each(r.Meta, found.Roots, func(m *cli.Meta, root roots.Root) int {
		inside := r
		inside.Session, inside.opts = r.In(m, r.Product), opts
		defer inside.Close()
		inside.opts.modules.Inputs = roots.Inputs(opts.modules.Inputs, start, root.Dir)
		r.view.Enter(root.Dir)
		code := carryOut(inside)
		r.Log.Add(problem.Below(root.Dir, inside.Log.All)...)
		return code
	}, func(root roots.Root, err error) {
		r.Log.Failed("configuration_not_found", "Can't work in a directory", err)
	})
}

// carryOut runs vendor in the current directory, and returns the exit code for a run without
// errors.
func carryOut(r request) (code int) {
	switch {
	case r.opts.unpack != "":
		if err := unpack(r); err != nil {
			r.Log.Fail("unwritable", "Failed to unpack the archive",
				"Nothing of %s was unpacked, and %s is as it was: %v.", r.opts.unpack, r.opts.target, err)
		}
		return 0
	case r.opts.bundle != "":
		if err := writeArchive(r); err != nil {
			r.Log.Fail("unwritable", "Failed to write the archive", "%s can't be made: %v.", r.opts.bundle, err)
		}
		return 0
	}
	p, ok := read(r)
	switch {
	case !ok:
	case r.opts.check:
		return check(r, p)
	case fill(r, p) && hint(r, p.wanted.LFS):
		r.view.Done("Everything that this directory needs is vendored. Commit it together with the configuration.")
	}
	return 0
}

// read reads the working directory, but not its modules.
func read(r request) (p project, ok bool) {
	if dir := workdir.DataDir(r.Meta.Env); filepath.Clean(dir) != ".terraform" {
		return p, r.Log.Fail("vendored", "A data directory elsewhere can't be vendored",
			"TF_DATA_DIR is %q. A clone on another machine needn't have this variable, and then modules have to be in .terraform/modules. Unset it.", dir)
	}
	if name := vendored.Linked("."); r.here() && name != "" {
		return p, r.Log.Fail("vendored", "A linked directory can't be vendored",
			"%s is a link, and git keeps only the link, not the directory that it leads to. Put a directory in its place.", name)
	}
	var err error
	if p.was, err = vendored.ReadRecord("."); err != nil {
		return p, r.Log.Fail("vendored", "Failed to read the record of what is vendored", "%s\n\nTake the file from an earlier commit. If there is none, remove terraform.d/plugins, too, unless it has packages of your own: all is made again.", problem.Sentence(err))
	}
	p.wanted = r.opts.record(p.was)
	p.dir = workdir.Load(r.Meta, r.Product, ".", r.opts.modules)
	if p.dir.Empty() {
		return p, r.Log.Add(r.opts.roots.NoConfiguration(r.Meta, r.Product, roots.ForAll))
	}
	var problems problem.List
	p.dir.Locks, problems = depsfile.Load(depsfile.FileName, r.Product)
	return p, r.Log.Add(append(problems, p.dir.LoadModuleLocks(r.Meta.Context, false)...)...)
}

// fill fills the directory: modules, providers, the record, the files for git, and the lock
// files last. If it fails, what it has added is removed: a directory that is half vendored would only be taken for a whole one.
func fill(r request, p project) (ok bool) {
	takeBack := additions(r)
	defer func() {
		if !ok {
			takeBack()
		}
	}()

	placed, ok := connect(r, p)
	if !ok {
		return false
	}
	record := p.wanted
	toLock, ok := vendorModules(r, p, record.Modules)
	if !ok {
		return false
	}
	required, ok := require(r, p)
	if !ok {
		return false
	}
	var locks *depsfile.Locks
	locks, record.Providers, ok = vendorProviders(r, p, placed, required)
	return ok && saveRecord(r, record) && writeGitFiles(r, record.LFS) && saveLockFiles(r, p, toLock, locks)
}
