package providerscmd

import (
	"fmt"
	"net/url"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// packageOptions are the options that lock, mirror, urls, outdated and why share: which packages,
// and where they come from.
type packageOptions struct {
	sources.Reporter
	modules workdir.Options
	roots   roots.Options // the directories

	platforms    []getproviders.Platform
	allPlatforms bool // -platform=all

	fsMirror, netMirror string
	mirrors             []string // of -mirror
	policies            []string // of -policy
	from                string   // "origin" or "config"

	progress view.Progress
	each     bool // an error in a directory doesn't stop the others

	mayBeEmpty bool   // as in Terraform, nothing is required where there is no configuration
	many       string // for an error: the option that works in several directories; "" means roots.ForAll

	problems problem.Log // with values of options
}

func (o *packageOptions) platformFlag() cli.Flag {
	return cli.Option("platform=OS_ARCH", cli.Platforms(&o.platforms, &o.allPlatforms, &o.problems.All),
		`A platform such as linux_amd64; may be given more than once`, `The default is this machine's. "all" means those that the source of a provider lists for its version.`)
}

// sourceFlags returns the flags that say where packages come from. from is the value of
// -from that isn't the default, and help its text.
func (o *packageOptions) sourceFlags(from, help string, more ...string) cli.Flags {
	return cli.Flags{
		cli.Text("fs-mirror=DIR", &o.fsMirror, "Take packages only from this directory, which has the layout of a filesystem mirror"),
		cli.Text("net-mirror=URL", &o.netMirror, "Take them only from this network mirror"),
		cli.Word("from="+from, cli.String(&o.from), help, more...),
		sources.MirrorFlag(&o.mirrors),
		sources.PolicyFlag(&o.policies),
	}
}

func (o *packageOptions) dirFlag(help string, more ...string) cli.Flag {
	return cli.Option("dir=DIR", cli.Strings(&o.roots.Dirs), help, more...)
}

// checkSource checks the options that say where packages come from.
func (o *packageOptions) checkSource() {
	if o.fsMirror+o.netMirror != "" && o.By["mirror"] != "-mirror" {
		o.mirrors = nil // the mirrors come from TFDEPS_MIRROR, and -fs-mirror and -net-mirror are the only sources
	}
	u, err := url.Parse(o.netMirror)
	switch fromConfig := o.from == "config"; {
	case !fromConfig && o.from != "origin":
		o.refuse(true, "Invalid installation method options", fmt.Sprintf(
			"The value of -from is %q. It is \"origin\", each provider's own registry, or \"config\", what the CLI configuration says.", o.from), "-from")
	case o.fsMirror != "" && o.netMirror != "":
		o.refuse(true, "Invalid installation method options", "The -fs-mirror and -net-mirror command line options are mutually-exclusive.", "-fs-mirror", "-net-mirror")
	case o.fsMirror+o.netMirror != "" && len(o.mirrors) > 0:
		o.refuse(true, "Invalid installation method options", "The option -mirror can't be used together with -fs-mirror or -net-mirror, which have packages come from nowhere else.", "-mirror", "-fs-mirror", "-net-mirror")
	case fromConfig && o.fsMirror+o.netMirror != "":
		o.refuse(true, "Invalid installation method options", "The option -from=config can't be used together with -fs-mirror or -net-mirror.", "-from", "-fs-mirror", "-net-mirror")
	case o.netMirror != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http"):
		o.refuse(true, "Invalid network mirror URL", "The -net-mirror option requires a valid https: URL as the mirror base URL.", "-net-mirror")
	}
}

// refuse adds an error about these options if broken is true.
func (o *packageOptions) refuse(broken bool, summary, detail string, options ...string) {
	o.Meta.Refuse(&o.problems, broken, summary, detail, options...)
}

// connect opens the source of packages: the registries,
// unless options name another one.
func (o *packageOptions) connect() bool {
	if !o.Online("", o.policies...) {
		return false
	}
	single, ok := o.OpenMirrors(o.mirrors, cliconfig.SourceOptions{})
	if !ok {
		return false
	}
	var err error
	switch {
	case o.fsMirror != "":
		o.Source = single.FilesystemMirror(o.fsMirror)
	case o.netMirror != "":
		o.Source, err = single.NetworkMirror(o.netMirror)
	case o.from == "config":
		o.Source, err = o.Config.Source(o.Meta.Context, single)
	default:
		o.Source = single.MirrorsOr(single.Registry())
	}
	return err == nil || o.Log.Failed("cli_configuration", "Can't search for providers", err)
}
