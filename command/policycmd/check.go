// Package policycmd is the command "policy check", which says what the policy makes of lock files.
package policycmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// Command is the command.
func Command() cli.Command {
	return cli.Command{Name: "policy check", Synopsis: "Say what the policy makes of lock files", Run: run,
		Usage: "policy check [options] [DIR...]", Flags: new(options).flags,
		About: `  Says of each entry of the lock files in these directories, or in the current
  one, whether the policy that counts there would refuse it, and by which rule.
  Nothing is asked of any host, and nothing is written. Rules about the package
  itself need it to be on this machine: in the directory or in the shared cache.

  The exit code is 0 if nothing is refused, 2 if something is, and 1 if that
  can't be known.`}
}

// options are what the arguments ask for.
type options struct {
	policies []string // of -policy
}

func (o *options) flags() cli.Flags {
	return cli.Flags{sources.PolicyFlag(&o.policies), cli.NoColor()}
}

// report is what is said of lock files.
type report struct {
	result.NoResult
	text             strings.Builder
	refused, unknown bool
}

// Text implements result.Result.
func (r *report) Text() string { return r.text.String() }

func run(m *cli.Meta, args []string) (int, error) {
	var o options
	given, err := o.flags().Parse(args)
	if err != nil {
		return 0, err
	}
	if _, err := given.Fill(m.Env); err != nil {
		return 0, err
	}
	dirs := given.Operands
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	product, problems := products.Choose(m)
	log, r := problem.Log{}, &report{}
	if log.Add(problems...) {
		for _, dir := range dirs {
			log.Add(r.check(m, o, product, dir)...)
		}
	}
	code := m.Finish(r, log.All, cli.Output{})
	switch {
	case r.refused:
		code = cli.ExitDiffers
	case r.unknown:
		code = 1
	}
	return code, nil
}

// check looks at the lock file of a directory.
func (r *report) check(m *cli.Meta, o options, product getproviders.Product, dir string) problem.List {
	path := filepath.Join(dir, depsfile.FileName)
	if _, err := os.Stat(path); err != nil {
		return problem.Fail("lock_file", "No lock file", "There is no %s that can be read. To make one, run \"tfdeps init\" or \"tfdeps providers lock\" in its directory.", filepath.ToSlash(path))
	}
	locks, problems := depsfile.Load(path, product)
	config, unread := sources.ReadConfig(m, product)
	rules, unruled := sources.ReadPolicyOf(m, product, dir, o.policies)
	if problems = append(append(problems, unread...), unruled...); problems.HasErrors() {
		return problems
	}
	cache, unused := sources.OpenCache(m, config)
	problems = append(problems, unused...)
	say := func(word string, lock depsfile.Lock, format string, args ...any) {
		fmt.Fprintf(&r.text, "%-8s %s %s in %s%s\n", word, product.Short(lock.Provider), lock.Version, filepath.ToSlash(path), terminal.PrintableLine(fmt.Sprintf(format, args...)))
	}
	for _, lock := range locks.All() {
		advice := ""
		advised := rules.Advised(func(r *policy.Refusal) { advice += "; advised against: " + r.Error() })
		found, err := advised.Examine(product, dir, cache, locks, getproviders.Requirements{lock.Provider: nil})
		if err != nil {
			return append(problems, problem.Failed("vendored", "Can't compare what is installed", err)...)
		}
		var unasked []string
		refused := found.Refused
		if !found.Present {
			unasked, refused = rules.CheckNumber(lock)
		}
		for _, refusal := range rules.CheckLocks(locks, []getproviders.Provider{lock.Provider}) {
			refused = refusal
		}
		switch {
		case refused != nil:
			r.refused = true
			say("refused", lock, ": %v", refused)
		case len(unasked) > 0:
			r.unknown = true
			say("unknown", lock, ": the package isn't on this machine, and these rules are about it: %s", strings.Join(unasked, ", "))
		default:
			say("allowed", lock, "%s", advice)
		}
	}
	return problems
}
