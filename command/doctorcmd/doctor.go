// Package doctorcmd is the command "doctor", which shows the settings of a directory, asks its
// registries and mirrors, and reports problems.
package doctorcmd

import (
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Command returns the command "doctor".
func Command() cli.Command {
	return cli.Command{Name: "doctor", Synopsis: "Show what is configured here, and what is wrong with it",
		Usage: "doctor [options]", Flags: new(options).flags,
		About: `  Shows what is in effect in this directory: the CLI configuration with files
  and lines, the registries and mirrors, the proxy and the certificates, where
  tokens come from, the shared cache, the installed programs and the policy
  files. It asks each registry and mirror for the versions of one provider, all
  at the same time and for half a minute at most, and says what is wrong and how
  to correct it. It also asks mirrors of -mirror and TFDEPS_MIRROR, buckets and
  OCI registries, but not an OCI registry for which no provider is required.

  Nothing is installed or changed, and no token is printed. The exit code is 1
  if there is a problem, and 0 if there are only warnings.`, Run: run,
		Examples: [][2]string{
			{"$TFDEPS doctor", "See why something isn't found, trusted or cached."},
			{"$TFDEPS doctor -json > doctor.json", "Attach it to a report: it has no token."},
		},
	}
}

// options are the parsed arguments of doctor.
type options struct {
	json      bool
	offlineBy string // the option or variable that set it, or ""
	mirrors   []string
	mirrorsBy string // the option or variable that named them
}

func (o *options) flags() cli.Flags {
	return cli.Flags{
		cli.Offline(&o.offlineBy, "Send no request: registries and mirrors are listed, but not asked"),
		sources.MirrorFlag(&o.mirrors),
		cli.Switch("json", &o.json, "Print a JSON object, including the problems"),
		cli.NoColor(),
	}
}

func run(m *cli.Meta, args []string) (int, error) {
	var o options
	given, err := o.flags().Alone(args, m.Env)
	if err != nil {
		return 0, err
	}
	o.mirrorsBy = given.By["mirror"]
	x := examine(m, o)
	how := m.ViewOptions(x.Product, o.json, view.ProgressAuto)
	x.color = how.Stdout.Color && !how.Plain && !how.NoColor
	unwritten, shown := m.Write(x.told(), o.json, x.Log.All), x.Log.All
	if o.json { // the object includes the problems
		shown = nil
	}
	view.Problems(how, append(shown, unwritten...))
	if unwritten.HasErrors() || x.Log.All.HasErrors() {
		return 1, nil
	}
	return 0, nil
}

// examination is one run of the command: the settings of a directory, and their problems. Only the
// Session has secrets.
type examination struct {
	*sources.Session
	opts    options
	because string // what decides on the product and its version, in words
	color   bool   // for people

	files    []configFile
	sources  []shownSource
	answers  []reply
	network  []setting // the proxy and the certificates
	tokens   []shownToken
	cache    sharedCache
	programs []shownProgram
	policies []policyFile

	locked   map[getproviders.Provider]getproviders.Version
	warnedOf map[string]bool // files with secrets that other users can read
}

// examine runs all checks. A check that fails logs a problem, and the others still run.
func examine(m *cli.Meta, o options) *examination {
	product, from, problems := products.ChooseWithOrigin(m, products.Options{ReadOnly: true})
	x := &examination{Session: sources.New(m, product, false), opts: o, because: from.Because(m, product), locked: map[getproviders.Provider]getproviders.Version{}, warnedOf: map[string]bool{}}
	defer x.Close()
	x.Log.Add(slices.Concat(m.Warnings, problems)...)
	x.ReadConfig()
	x.describeConfig()
	x.describeTokens()
	x.describeNetwork()
	x.askHosts()
	x.describeCache()
	x.describePrograms()
	x.describePolicies()
	return x
}
