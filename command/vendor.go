package command

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// VendorCommand puts all that a directory needs into the directory itself, to be
// committed, or into one archive.
type VendorCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *VendorCommand) Synopsis() string {
	return "Put providers and modules into the repository"
}

// Run carries the command out and returns the exit code.
func (c *VendorCommand) Run(args []string) int {
	opts, err := parseVendor(args, c.Meta.Env)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	meta := *c.Meta
	meta.readOnly = opts.check
	product, problems := meta.productOf()
	run := &vendorRun{Meta: &meta, opts: opts, product: product, base: ".", view: view.NewVendor(meta.viewOptions(product, false))}
	if opts.json {
		run.view = view.NewVendor(meta.viewOptions(product, true))
	}
	code := carryOut(append(problems, opts.problems...), run.do, run.view.Problems)
	if code == 0 && run.outdated {
		return ExitDiffers
	}
	return code
}

// vendorRun is one run of vendor.
type vendorRun struct {
	*Meta
	opts    vendorOptions
	product getproviders.Product
	view    *view.Vendor
	base    string // the directory that is filled: the current one, or one that a bundle is made of

	configuration
	moduleLocks
	cli         *cliconfig.Config
	net         network
	source      getproviders.Source
	record, was vendored.Record
	locks       *depsfile.Locks
	required    getproviders.Requirements
	placed      []getproviders.Provider // of which packages are there that vendor hasn't put there
	result      providercache.VendorResult

	replaced []string // of -unpack: what the lock file said, and doesn't any more
	outdated bool     // -check has found something to do
}

// do does what was asked for.
func (r *vendorRun) do() view.Problems {
	switch {
	case r.opts.unpack != "":
		return r.unbundle()
	case r.opts.check:
		return r.inOrder(r.begin, r.check)
	case r.opts.bundle != "":
		return r.bundle()
	default:
		return r.inOrder(r.begin, r.connect, r.vendor, r.hint, func() view.Problems {
			return r.done("Everything that this directory needs is vendored. Commit it together with the configuration.")
		})
	}
}

// inOrder does one after the other, until there is an error.
func (r *vendorRun) inOrder(phases ...func() view.Problems) (problems view.Problems) {
	for _, phase := range phases {
		if problems = append(problems, phase()...); problems.HasErrors() {
			return problems
		}
	}
	return problems
}

// begin reads the configuration and what is known of the directory.
func (r *vendorRun) begin() (problems view.Problems) {
	if dir := r.dataDir(); filepath.Clean(dir) != ".terraform" {
		return view.Problems{view.NewError("A data directory elsewhere can't be vendored", fmt.Sprintf(
			"TF_DATA_DIR is %q. Whoever clones the repository needn't have this variable, and then modules have to be in .terraform/modules. Unset it.", dir))}
	}
	if name := vendored.Linked("."); r.base == "." && name != "" {
		return view.Problems{view.NewError("What is behind a link can't be vendored", fmt.Sprintf(
			"%s leads somewhere else, and git keeps the link, but nothing of what it leads to. Put a directory in its place.", name))}
	}
	var err error
	if r.was, err = vendored.ReadRecord("."); err != nil {
		return view.Problems{view.NewError("Failed to read the record of what is vendored", sentence(err)+
			"\n\nTake the file from an earlier commit. If there is none, remove terraform.d/plugins, too, unless it has packages of your own: all is made anew.")}
	}
	r.record = r.opts.record(r.was)
	r.load(".", r.Meta, r.product, r.opts.configurationOptions)
	if r.module.Empty && !r.broken.HasErrors() {
		return view.Problems{view.NewError("No configuration files", fmt.Sprintf("The directory contains no %s configuration files.", r.product.Name))}
	}
	var unlocked view.Problems
	r.locks, problems = depsfile.Load(depsfile.FileName, r.product)
	r.modulesLocked, unlocked = loadModuleLockFile()
	_, err = os.Lstat(moduleLockFile)
	r.lockingModules = err == nil
	return append(problems, unlocked...)
}

// vendor fills the directory: modules, providers, what tells of them, and the
// lock file last.
func (r *vendorRun) vendor() view.Problems {
	return r.inOrder(r.vendorModules, r.require, r.vendorProviders, r.saveRecord, r.writeGitFiles, r.saveLockFiles)
}

// done ends a run.
func (r *vendorRun) done(text string) view.Problems {
	if err := r.view.Done(text); err != nil {
		return view.Problems{view.NewError("Failed to write the report", sentence(err))}
	}
	return nil
}

// in is where something of what is vendored is.
func (r *vendorRun) in(name string) string { return filepath.Join(r.base, filepath.FromSlash(name)) }
