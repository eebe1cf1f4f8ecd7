package command

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// versionOptions are the parsed arguments of version.
type versionOptions struct{ json bool }

func (o *versionOptions) flags() cli.Flags {
	return cli.Flags{cli.Switch("json", &o.json, "Print a JSON object")}
}

// versionCommand prints the versions of the product, of tfdeps, and of the selected
// providers.
func versionCommand() cli.Command {
	return cli.Command{Name: "version", Synopsis: "Show the current version", Run: runVersion, Lines: true,
		Usage: "version [options]", Flags: new(versionOptions).flags,
		About: `  Shows which version of Terraform or OpenTofu tfdeps works as here, its own
  version, and the providers that the lock file selects.`,
		Examples: [][2]string{
			{"$TFDEPS version -json", "Print versions for programs."},
		},
	}
}

func runVersion(m *cli.Meta, args []string) (int, error) {
	var o versionOptions
	if _, err := o.flags().Parse(args); err != nil {
		wrong, _ := errors.AsType[*cli.UsageError](err)
		wrong.Summary = ""
		return 0, wrong
	}
	product, from, invalid := products.ChooseWithOrigin(m, products.Options{})
	if invalid.HasErrors() {
		fmt.Fprintf(m.Stderr, "Error: %s\n", invalid[0].Detail)
		return 1, nil
	}
	locks, problems := depsfile.Load(depsfile.FileName, product)
	// If the lock file has errors, the version and the readable entries are still
	// shown.
	report := versionReport(product, m.Version, from.Because(m, product), locks.All())
	return m.Finish(report, problem.AsWarnings(problems), cli.Output{JSON: o.json}), nil
}

// built returns the commit of this build and its time; both are "" if Go doesn't know them, as after "go install".
func built() (commit, at string) {
	info, ok := debug.ReadBuildInfo()
	for i := 0; ok && i < len(info.Settings); i++ {
		switch s := info.Settings[i]; s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.time":
			at = s.Value
		}
	}
	return commit, at
}

// versionReport returns what Terraform prints, and the version of tfdeps.
func versionReport(product getproviders.Product, own, because string, locks []depsfile.Lock) *result.Result {
	var b strings.Builder
	platform := getproviders.CurrentPlatform()
	fmt.Fprintf(&b, "%s v%s\non %s\n+ tfdeps %s (%s)\n", product.Name, product.Version, platform, own, because)
	selections := make(map[string]string, len(locks))
	for _, lock := range locks {
		version := "v" + lock.Version.String()
		if lock.Version.IsZero() {
			version = "(unversioned)"
		}
		fmt.Fprintf(&b, "+ provider %s %s\n", lock.Provider, version)
		selections[lock.Provider.String()] = lock.Version.String()
	}
	commit, at := built()
	return &result.Result{People: b.String(), Programs: result.Foreign{Object: result.Object{
		"terraform_version", product.Version, "platform", platform, "provider_selections", selections,
		"terraform_outdated", false, "tfdeps_version", own, "because", because,
		"tfdeps_commit?", commit, "tfdeps_time?", at, "follows", products.Followed(),
	}}}
}

// ownVersion returns the version of this build, or "dev" if Go doesn't know it.
func ownVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
