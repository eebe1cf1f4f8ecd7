// Package policycmd is the command "policy check", which checks lock files by the policy.
package policycmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// Command returns the command "policy check".
func Command() cli.Command {
	return sources.Command[options](cli.Command{Name: "policy check", Synopsis: "Check lock files against the policy",
		Usage: "policy check [options] [DIR...]",
		About: `  Says for each entry of the lock files in these directories, or in the current
  one, whether the policy that applies there would refuse it, and by which rule.
  No request is sent, and nothing is written. Rules about the package itself
  need it to be on this machine: in the directory or in the shared cache.

  The exit code is 0 if nothing is refused, 2 if something is, and 1 if that
  can't be known.`,
		Examples: [][2]string{
			{"$TFDEPS policy check envs/prod envs/test", "List the locked versions that the policy refuses, and the rules."},
		},
	}, cli.Flags.Mixed)
}

// options are the parsed arguments.
type options struct {
	sources.Reporter
	policies []string // of -policy
}

func (o *options) Flags() cli.Flags {
	return cli.Flags{sources.PolicyFlag(&o.policies), cli.NoColor()}
}

// report collects the results for lock files.
type report struct {
	text             strings.Builder
	refused, unknown bool
}

// Report checks the lock files by the policy, and returns the report.
func (o *options) Report() (*result.Result, error) {
	dirs, r := o.Operands, &report{}
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	if o.Choose() {
		for _, dir := range dirs {
			inside := o.In(o.Meta, o.Product)
			r.check(inside, *o, dir)
			o.Log.Add(inside.Log.All...)
			inside.Close()
		}
	}
	switch {
	case r.refused:
		o.Out.Code, o.Out.Despite = cli.ExitDiffers, true
	case r.unknown:
		o.Out.Code = 1
	}
	return &result.Result{People: r.text.String()}, nil
}

// check checks the lock file of a directory.
func (r *report) check(s *sources.Session, o options, dir string) {
	path := filepath.Join(dir, depsfile.FileName)
	if _, err := os.Stat(path); err != nil {
		s.Log.Fail("lock_file", "No lock file", "There is no %s that can be read. To make one, run \"%s init\" or \"%[2]s providers lock\" in its directory.", filepath.ToSlash(path), s.Called)
		return
	}
	locks, problems := depsfile.Load(path, s.Product)
	s.Log.Add(problems...)
	s.ReadConfig()
	rules, ok := s.PolicyOf(dir, o.policies)
	if !ok {
		return
	}
	cache := s.Cache()
	say := func(word string, lock depsfile.Lock, format string, args ...any) {
		fmt.Fprintf(&r.text, "%-8s %s %s in %s%s\n", word, s.Short(lock.Provider), lock.Version, filepath.ToSlash(path), terminal.PrintableLine(fmt.Sprintf(format, args...)))
	}
	for _, lock := range locks.All() {
		advice := ""
		advised := rules.Advised(func(r *policy.Refusal) { advice += "; advised against: " + r.Error() })
		found, err := advised.Examine(dir, cache, locks, getproviders.Requirements{lock.Provider: nil})
		if err != nil {
			s.Log.Failed("vendored", "Can't compare what is installed", err)
			return
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
			say("unknown", lock, ": the package isn't on this machine, and these rules need it: %s", strings.Join(unasked, ", "))
		default:
			say("allowed", lock, "%s", advice)
		}
	}
}
