package vendorcmd

import (
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/providercache"
)

// request is a run of vendor in one directory. Its steps add to the log, and most return whether the next one may run.
type request struct {
	*sources.Session
	opts options
	view *view.Vendor
	base string // the directory that is filled: the current one, or the staging directory of an archive
}

// here reports whether the working directory itself is filled.
func (r request) here() bool { return r.base == "." }

// in returns the path of a vendored file or directory.
func (r request) in(name string) string { return filepath.Join(r.base, filepath.FromSlash(name)) }

// project is a working directory: its configuration, lock files and
// records.
type project struct {
	dir    *workdir.Dir
	was    vendored.Record // the record of the last run
	wanted vendored.Record // the record of this run: platforms and options, without modules and providers yet
}

// options are the parsed arguments of vendor.
type options struct {
	modules    workdir.Options
	platforms  []getproviders.Platform // empty means those of the record, else the current one
	unpacked   *bool                   // nil means as recorded
	lfs        *bool                   // nil means as recorded
	upgrade    bool
	prune      bool
	check      bool
	json       bool
	hashesText string // of -hashes, as it was given
	hashes     providercache.HashPolicy
	policies   []string            // of -policy
	mirrors    []string            // of -mirror
	bundle     string              // of -o
	unpack     string              // of -unpack
	target     string              // where to unpack
	accepted   []getproviders.Hash // of -accept-hash
	progress   view.Progress
	roots      roots.Options

	log problem.Log // problems with values of options
}

func (o *options) flags() cli.Flags {
	return slices.Concat(cli.Flags{
		cli.Option("platform=OS_ARCH", cli.Platforms(&o.platforms, nil, &o.log.All),
			"A platform such as linux_amd64; may be given more than once", "The default is the platforms of the last run, or this machine's if there was none."),
		cli.Option("unpacked", cli.OptionalBool(&o.unpacked),
			"Vendor providers as directories", "Archives, the default, are a quarter of the size and one file each, and neither git nor an accident can change what is in them. -unpacked=false goes back to them."),
		cli.Option("lfs", cli.OptionalBool(&o.lfs), "Store packages of providers in git LFS, by .gitattributes", "-lfs=false takes that back."),
		cli.Switch("upgrade", &o.upgrade, "Take the newest allowed versions of modules and providers"),
		cli.Text("hashes=", &o.hashesText,
			"Which hashes to trust for other platforms: \"auto\", \"listed\" or \"read\", as for \"providers lock\"").
			Or(cli.HashesVariable, "which hashes to trust for unread packages"),
		sources.MirrorFlag(&o.mirrors),
		sources.PolicyFlag(&o.policies),
		cli.Switch("prune", &o.prune,
			"Also remove packages of providers and modules that aren't needed any more", "Packages of providers that you have put there yourself stay."),
		cli.Switch("check", &o.check,
			"Change nothing and send no request: exit with 0 if everything is vendored, with 2 and a list if not, and with 1 if that is unknown", "With -prune, what isn't needed counts, too."),
		cli.Text("o FILE.tar", &o.bundle,
			"Write all of this into one archive, and leave the directory as it is", "The same content makes the same archive, byte for byte. The configuration isn't in it."),
		cli.Text("unpack=FILE.tar", &o.unpack,
			"Verify such an archive and unpack it into DIR, the directory of the configuration; the default is the current one", "Lock files that are there decide: their entries stay, and the archive adds entries that they lack. Nothing changes if anything is wrong with the archive, if it has other packages than are locked, or if its lock files have other versions or more hashes of what is locked there."),
		cli.Option("accept-hash=HASH", cli.Each(&o.accepted, getproviders.ParseHash),
			"With -unpack: accept this hash, such as h1:..., of a provider or module that is locked there with others", "All hashes that the archive's lock files add have to be given; may be given more than once."),
		cli.Switch("json", &o.json,
			"Print a JSON object: packages, modules, what was changed and removed; with -check up_to_date and reasons; summary, started_at, ended_at, diagnostics"),
	}, o.roots.Flags("Fill this directory instead of the current one", "May be given more than once, and be a pattern such as envs/*, for directories with a configuration. {dir} in the values of -var-file stands for the directory."), o.modules.Flags(), cli.Flags{cli.Progress(&o.progress), cli.NoColor()})
}

const about = `  Puts all that this directory needs into the directory itself, to be committed:
  packages of providers into terraform.d/plugins, all called modules into
  .terraform/modules with modules.json, and the hashes of the packages into
  .terraform.lock.hcl. In a clone of the repository, "$PROGRAM init" and
  "$TFDEPS init" then need neither network nor CLI configuration. If there is a
  CLI configuration, it must not have a provider_installation block. No
  configuration is changed.

  Providers come from where init would take them, and are verified as there.
  Vendored packages that match the lock file aren't downloaded again. The signed
  checksums of an archive are beside it. Packages that you have put there
  yourself are verified, locked, and left as they are.

  Lines that git needs are kept in a marked block at the end of .gitignore and
  .gitattributes; the rest of these files is yours. terraform.d/vendor.json says
  what was vendored, for which platforms and how.`

// parse reads the arguments of vendor. Problems with values are in the options'
// log.
func parse(m *cli.Meta, args []string) (options, error) {
	o := options{target: ".", hashesText: "auto"}
	given, err := o.flags().Parse(args)
	if err != nil {
		return o, err
	}
	if o.unpack != "" && len(given.Operands) == 1 {
		o.target = given.Operands[0]
	} else if len(given.Operands) > 0 {
		return o, cli.TooMany(given.Operands[len(given.Operands)-1])
	}
	o.checkTogether(m, given)
	if _, err := given.Fill(m.Env); err != nil {
		return o, err
	}
	var invalid problem.List
	o.hashes, invalid = cli.ReadHashPolicy(o.hashesText)
	o.log.Add(invalid...)
	return o, nil
}

// accepts reports whether -accept-hash names all of these hashes.
func (o *options) accepts(hashes ...getproviders.Hash) bool {
	return !slices.ContainsFunc(hashes, func(h getproviders.Hash) bool { return !slices.Contains(o.accepted, h) })
}

// checkTogether refuses options that contradict each other.
func (o *options) checkTogether(m *cli.Meta, given cli.Given) {
	m.Conflict(&o.log, o.check && o.upgrade, "-upgrade", "-check", "It always has something to do.")
	m.Conflict(&o.log, o.check && o.bundle != "", "-o", "-check", "A check writes nothing.")
	m.Refuse(&o.log, o.unpack == "" && len(o.accepted) > 0, "The -accept-hash flag needs -unpack.", "It says what an archive may add to what is locked.", "-accept-hash")
	o.roots.Refuse(m, &o.log)
	m.Conflict(&o.log, o.roots.Given() && o.bundle != "", "-o", "-recursive", "One archive is for one directory.")
	if o.unpack == "" {
		return
	}
	for _, name := range given.Names() {
		switch name {
		case "unpack", "accept-hash", "json":
		default:
			m.Conflict(&o.log, true, "-"+name, "-unpack", "What is unpacked is what the archive has.")
		}
	}
}

// record returns the record of this run: values of the options, else those of the last record.
func (o *options) record(was vendored.Record) vendored.Record {
	r := vendored.Record{Platforms: o.platforms, Unpacked: was.Unpacked, LFS: was.LFS, Modules: map[string]getproviders.Hash{}}
	if len(r.Platforms) == 0 {
		r.Platforms = was.Platforms
	}
	if len(r.Platforms) == 0 {
		r.Platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	if o.unpacked != nil {
		r.Unpacked = *o.unpacked
	}
	if o.lfs != nil {
		r.LFS = *o.lfs
	}
	return r
}
