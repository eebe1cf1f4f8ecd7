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
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// Command returns the command "policy check".
func Command() cli.Command {
	return sources.Command[options](cli.Command{Name: "policy check", Synopsis: "Check lock files against the policy",
		Usage: "policy check [options] [DIR...]",
		About: `  Says which files and options have rules for the lock files in these
  directories, or in the current one, and for each entry whether these would
  refuse it, and by which rule.
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
	return cli.Flags{
		sources.PolicyFlag(&o.policies),
		o.JSONFlag("Print a JSON object: directories, each with directory, lock_file, rules (the files and options that have them) and entries, each with address, version, result (allowed, refused, unknown, no_rules), reason, needs_package (rules that can't be asked) and advice",
			"Last are summary, started_at, ended_at, diagnostics. Keys may be added."),
		cli.NoColor(),
	}
}

// The results for an entry of a lock file.
const (
	allowed = "allowed"
	refused = "refused"
	unknown = "unknown"
	noRules = "no rules"
)

// entry is what the policy makes of an entry of a lock file.
type entry struct {
	lock         depsfile.Lock
	result       string
	reason       string   // of a refusal
	needsPackage []string // the rules because of which the result is unknown
	advice       []string // of advisory rules
}

// directory is a directory with a lock file, and the rules that apply there.
type directory struct {
	path, lockFile string
	rules          []string // the files and options that have them
	hasRules       bool
	entries        []entry
}

// Report checks the lock files by the policy, and returns the report.
func (o *options) Report() (*result.Result, error) {
	paths := o.Operands
	if len(paths) == 0 {
		paths = []string{"."}
	}

	var dirs []directory
	if o.Choose() {
		for _, path := range paths {
			inside := o.In(o.Meta, o.Product)
			dir, ok := check(inside, *o, path)
			if ok {
				dirs = append(dirs, dir)
			}
			o.Log.Add(inside.Log.All...)
			inside.Close()
		}
	}

	count := map[string]int{}
	for _, dir := range dirs {
		for _, e := range dir.entries {
			count[e.result]++
		}
	}

	switch {
	case count[refused] > 0:
		o.Out.Code, o.Out.Despite = cli.ExitDiffers, true
	case count[unknown] > 0:
		o.Out.Code = 1
	}

	return &result.Result{
		People: o.text(dirs),
		Programs: result.Object{
			"directories", result.Each(dirs, directory.object),
			"summary", result.Object{allowed, count[allowed], refused, count[refused], unknown, count[unknown], code(noRules), count[noRules]},
		},
	}, nil
}

// check checks the lock file of a directory.
func check(s *sources.Session, o options, path string) (dir directory, ok bool) {
	dir = directory{path: filepath.ToSlash(path), lockFile: filepath.ToSlash(filepath.Join(path, depsfile.FileName))}

	lockFile := filepath.FromSlash(dir.lockFile)
	_, err := os.Stat(lockFile)
	if err != nil {
		return dir, s.Log.Fail("lock_file", "No lock file", "There is no %s that can be read. To make one, run \"%s init\" or \"%[2]s providers lock\" in its directory.", dir.lockFile, s.Called)
	}

	locks, problems := depsfile.Load(lockFile, s.Product)
	s.Log.Add(problems...)
	s.ReadConfig()
	rules, ok := s.PolicyOf(path, o.policies)
	if !ok {
		return dir, false
	}

	dir.hasRules = !rules.Rules.IsZero()
	for _, origin := range rules.Origins {
		dir.rules = append(dir.rules, filepath.ToSlash(origin))
	}

	cache := s.Cache()
	for _, lock := range locks.All() {
		e, err := checkEntry(rules, path, cache, locks, lock)
		if err != nil {
			return dir, s.Log.Failed("vendored", "Can't compare what is installed", err)
		}
		if !dir.hasRules {
			e.result = noRules
		}
		dir.entries = append(dir.entries, e)
	}

	return dir, true
}

// checkEntry checks one entry of a lock file.
func checkEntry(rules sources.Policy, path string, cache *providercache.Store, locks *depsfile.Locks, lock depsfile.Lock) (e entry, err error) {
	e = entry{lock: lock, result: allowed}
	advised := rules.Advised(func(r *policy.Refusal) { e.advice = append(e.advice, r.Error()) })
	found, err := advised.Examine(path, cache, locks, getproviders.Requirements{lock.Provider: nil})
	if err != nil {
		return e, err
	}

	refusal := found.Refused
	if !found.Present {
		e.needsPackage, refusal = rules.CheckNumber(lock)
	}
	for _, lacking := range rules.CheckLocks(locks, []getproviders.Provider{lock.Provider}) {
		refusal = lacking
	}

	switch {
	case refusal != nil:
		e.result, e.reason, e.needsPackage = refused, refusal.Error(), nil
	case len(e.needsPackage) > 0:
		e.result = unknown
	}

	return e, nil
}

// text returns the report for people: for each directory the rules that count there, then its entries.
func (o *options) text(dirs []directory) string {
	var text strings.Builder
	for _, dir := range dirs {
		switch {
		case dir.hasRules:
			fmt.Fprintf(&text, "Rules for %s: %s\n", dir.lockFile, terminal.PrintableLine(strings.Join(dir.rules, ", ")))
		case len(dir.rules) > 0:
			fmt.Fprintf(&text, "No policy applies to %s: there is no rule in %s\n", dir.lockFile, terminal.PrintableLine(strings.Join(dir.rules, ", ")))
		default:
			fmt.Fprintf(&text, "No policy applies to %s: there is no %s, and none is named by TFDEPS_POLICY or -policy\n", dir.lockFile, policy.FileName)
		}

		for _, e := range dir.entries {
			fmt.Fprintf(&text, "%-8s %s %s in %s%s\n", e.result, o.Short(e.lock.Provider), e.lock.Version, dir.lockFile, terminal.PrintableLine(e.explanation()))
		}
	}

	return text.String()
}

// explanation follows the line of an entry.
func (e entry) explanation() (text string) {
	switch e.result {
	case refused:
		return ": " + e.reason
	case unknown:
		return ": the package isn't on this machine, and these rules need it: " + strings.Join(e.needsPackage, ", ")
	}

	for _, advice := range e.advice {
		text += "; advised against: " + advice
	}
	return text
}

// object returns the report about a directory for programs.
func (dir directory) object() result.Object {
	return result.Object{
		"directory", dir.path, "lock_file", dir.lockFile, "rules", append([]string{}, dir.rules...),
		"entries", result.Each(dir.entries, func(e entry) result.Object {
			return result.Object{
				"address", e.lock.Provider, "version", e.lock.Version, "result", code(e.result),
				"reason?", e.reason, "needs_package?", e.needsPackage, "advice?", e.advice,
			}
		}),
	}
}

// code returns a result as programs read it.
func code(result string) string { return strings.ReplaceAll(result, " ", "_") }
