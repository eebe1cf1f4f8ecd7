package sources

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// policyVariable names further files with rules.
const policyVariable = "TFDEPS_POLICY"

// Policy refuses packages by rules. The zero value refuses none.
type Policy struct {
	Rules   policy.Policy
	Files   string   // with the rules, joined as a path list
	Origins []string // the files and the rules of -policy, as messages name them
	session *Session
	cache   func() *providercache.Store // nil if the CLI configuration wasn't read

	advised func(*policy.Refusal) // nil means that the Activity of the command gets the warnings
}

// PolicyFlag is the option -policy, whose values [Session.ReadPolicy] takes.
func PolicyFlag(given *[]string) cli.Flag {
	return cli.Option("policy=FILE|RULE=VALUE", cli.Strings(given),
		"Also refuse packages by the rules in this file, or by one rule, such as minimum_trust=partner, minimum_age=72h, refuse_downgrades=true, allow_overrides=false, or with commas sources=, providers= and lock_platforms=", "May be given more than once; all rules of the machine and the repository still apply.")
}

// PolicyOf reads the rules for a directory: those of the machine, of
// the files that the variable names, of the repository, and of the option -policy. A package has to satisfy all of them.
func (s *Session) PolicyOf(dir string, given []string) (Policy, bool) {
	m, product := s.Meta, s.Product
	paths, problems := PolicyFiles(m, dir)
	p := Policy{session: s}
	if config := s.Config; config != nil {
		p.cache = sync.OnceValue(func() *providercache.Store {
			cache, _ := OpenCache(m, config)
			return cache
		})
	}
	for _, text := range given {
		rule, diags, ok := policy.ParseRule(text, "-policy", product)
		if ok {
			p.Origins = append(p.Origins, "-policy="+text)
		} else {
			paths = append(paths, text)
		}
		problems = append(problems, InvalidPolicy(diags)...)
		p.Rules = policy.All(p.Rules, rule)
	}
	p.Files = strings.Join(paths, string(filepath.ListSeparator))
	p.Origins = append(slices.Clone(paths), p.Origins...)
	for _, path := range paths {
		rules, diags := policy.Load(path, product)
		for _, d := range diags {
			if by := namedBy(m, given, path); d.Subject == nil && by != "" {
				d.Detail += fmt.Sprintf(" It is what %s names.", by)
			}
		}
		problems = append(problems, InvalidPolicy(diags)...)
		p.Rules = policy.All(p.Rules, rules)
	}
	return p, s.Log.Add(problems...)
}

// InvalidPolicy sets the code invalid_policy of all problems, also of syntax errors.
func InvalidPolicy(problems problem.List) problem.List {
	for _, p := range problems {
		p.Extra = diagnostic.Code("invalid_policy")
	}
	return problems
}

// Against returns the policy as a hook for providercache.Fetcher, or nil without rules. A version
// is a downgrade if it is older than the locked one, or if it isn't the locked one and is older than
// the seen one. locks and seen may be nil.
func (p Policy) Against(locks *depsfile.Locks, seen func(getproviders.Provider) getproviders.Version) func(context.Context, getproviders.Candidate) error {
	return p.comparing(func(c getproviders.Candidate) (locked, used getproviders.Version) {
		if seen != nil {
			used = seen(c.Provider)
		}
		lock, _ := locks.Provider(c.Provider)
		return lock.Version, used
	})
}

// comparing is Against with a function that returns the versions to compare with: the locked one, and the newest that this machine has used.
func (p Policy) comparing(with func(getproviders.Candidate) (locked, seen getproviders.Version)) func(context.Context, getproviders.Candidate) error {
	if p.Rules.IsZero() {
		return nil
	}
	return p.Rules.Hook(policy.HookOptions{Advise: p.advise, Against: with})
}

// Advised returns the policy with a function that gets the refusals of advisory rules, in place of warnings to the user.
func (p Policy) Advised(advise func(*policy.Refusal)) Policy {
	p.advised = advise
	return p
}

func (p Policy) advise(r *policy.Refusal) {
	switch m := p.session.Meta; {
	case p.advised != nil:
		p.advised(r)
	case m.Activity != nil:
		m.Activity.Advise(r.Provider, problem.Warning("A policy advises against a package", fmt.Sprintf("%s v%s: %v.", r.Provider, r.Version, r)))
	case m.Log != nil:
		m.Log.Warn("a policy advises against a package", "provider", r.Provider.String(), "version", r.Version.String(), "reason", r.Error())
	}
}

// Examined is a provider's package that is on this machine.
type Examined struct {
	Present bool
	Package getproviders.Candidate
	Refused error // by the policy
}

// Examine looks for the locked package of the one required provider in a directory and in the cache, and checks it by the policy.
// It sends no request, and writes nothing. It hashes a package without a receipt.
func (p Policy) Examine(dir string, cache *providercache.Store, locks *depsfile.Locks, required getproviders.Requirements) (found Examined, err error) {
	refuse, m := p.Against(locks, nil), p.session.Meta
	installer := providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: getproviders.MultiSource{}, Product: p.session.Product, Now: m.Now, StateDir: m.StateDir,
			Policy: func(ctx context.Context, c getproviders.Candidate) error {
				if found.Package, found.Present = c, true; refuse != nil {
					found.Refused = refuse(ctx, c)
				}
				return found.Refused
			}},
		Target: &providercache.Store{Dir: workdir.ProvidersDir(m.Env, dir)}, Cache: cache,
	}
	_, err = installer.Check(m.Context, required, locks)
	return found, err
}

// AllowsModule returns a function that checks whether a module may be called, or nil without rules for modules.
func (p Policy) AllowsModule() func(modules.Address, string) error {
	if !p.Rules.HasModules() {
		return nil
	}
	return func(address modules.Address, constraint string) error {
		call := policy.ModuleCall{Constraint: constraint}
		switch address := address.(type) {
		case modules.Registry:
			call.Registry = address.Host
		case modules.Remote:
			target, err := fetch.TargetOf(address.Package)
			if err == nil {
				call.Kind, call.URL, call.Ref = target.Kind, target.URL, target.Ref
			}
		}
		if refusal := p.Rules.CheckModule(call); refusal != nil {
			return refusal
		}
		return nil
	}
}

// Versions returns the rules by which a Fetcher chooses versions.
func (p Policy) Versions() providercache.Choice { return p.Rules.Choice() }

// Choice is a provider whose version is chosen by constraints, and the versions to compare it with.
type Choice struct {
	Provider    getproviders.Provider
	Constraints getproviders.Constraints
	AllVersions bool                 // all versions that the constraints allow are wanted, and none is a downgrade
	Dir         string               // the directory that requires it; "" means the current one
	Locked      getproviders.Version // in the lock file of the directory, or zero
}

// AgainstEach is Against for packages of several directories. A version is no downgrade if it is one of pinned, or if it is
// no downgrade for at least one of the choices.
func (p Policy) AgainstEach(pinned []getproviders.PackageSpec, choices []Choice) func(context.Context, getproviders.Candidate) error {
	return p.comparing(func(c getproviders.Candidate) (locked, seen getproviders.Version) {
		if slices.ContainsFunc(pinned, func(w getproviders.PackageSpec) bool { return w.Provider == c.Provider && w.Version == c.Version }) {
			return locked, seen
		}
		return p.compare(c, choices)
	})
}

// compare returns versions against which a package is a downgrade only if it is one for all choices that allow it.
func (p Policy) compare(c getproviders.Candidate, choices []Choice) (locked, seen getproviders.Version) {
	for _, choice := range choices {
		if choice.Provider != c.Provider || !choice.Constraints.Allows(c.Version) {
			continue
		}
		locked, seen = getproviders.Version{}, getproviders.Version{}
		if choice.AllVersions {
			return locked, seen
		}
		locked, seen = choice.Locked, p.Seen(choice.Dir, c.Provider, choice.Constraints.Allows)
		if p.Rules.CheckDowngrade(c.Provider, c.Version, locked, seen) == nil {
			return locked, seen
		}
	}
	return locked, seen
}

// CheckDowngrade returns an error if a version that was chosen for the lock file of a directory is a downgrade: a
// *getproviders.Fault as for a refused package. Without seen, versions that this machine has used
// aren't compared.
func (p Policy) CheckDowngrade(choice Choice, chosen getproviders.Version, seen bool) error {
	var used getproviders.Version
	if seen {
		used = p.Seen(choice.Dir, choice.Provider, choice.Constraints.Allows)
	}
	refusal := p.Rules.CheckDowngrade(choice.Provider, chosen, choice.Locked, used)
	if refusal == nil {
		return nil
	}
	candidate := getproviders.Candidate{Provider: choice.Provider, Version: chosen}
	return getproviders.Selection{Provider: choice.Provider, Version: chosen}.Failed(during.Policy, cause.Refused(candidate, refusal))
}

// Seen returns the newest allowed version of a provider that this machine has used, in a directory or from
// the cache. It returns zero if there is no such version, or no rules.
func (p Policy) Seen(dir string, of getproviders.Provider, allowed func(getproviders.Version) bool) getproviders.Version {
	if p.Rules.IsZero() || p.cache == nil {
		return getproviders.Version{}
	}
	m := p.session.Meta
	used := &providercache.Installer{
		Fetcher: &providercache.Fetcher{StateDir: m.StateDir, Now: m.Now},
		Target:  &providercache.Store{Dir: workdir.ProvidersDir(m.Env, dir)}, Cache: p.cache(),
	}
	return Newest(used.KnownPackages(of), allowed)
}

// Newest returns the newest allowed version of the known packages, or zero if none is allowed.
func Newest(known []getproviders.CachedPackage, allowed func(getproviders.Version) bool) (newest getproviders.Version) {
	for _, k := range known {
		if allowed(k.Version) && (newest.IsZero() || k.Version.Compare(newest) > 0) {
			newest = k.Version
		}
	}
	return newest
}

// WithPlatforms returns others with the platforms for which the policy requires hashes.
func (p Policy) WithPlatforms(others []getproviders.Platform) []getproviders.Platform {
	for _, plat := range p.Rules.LockPlatforms() {
		if !slices.Contains(others, plat) {
			others = append(slices.Clip(others), plat)
		}
	}
	return others
}

// CheckNumber checks an entry of a lock file by the rules about version numbers; unasked are the names of the rules that it doesn't check.
func (p Policy) CheckNumber(lock depsfile.Lock) (unasked []string, refused error) {
	refusal, unasked := p.Rules.CheckNumber(lock.Provider, lock.Version, p.session.Meta.Now())
	if refusal != nil {
		refused = refusal
	}
	return unasked, refused
}

// Explain returns the reason why a locked package isn't in its place, or package_refused if the rules refuse the version whatever the package
// is: then init, which is the cure of the other reason, would fail.
func (p Policy) Explain(reason providercache.Reason, locks *depsfile.Locks) providercache.Reason {
	isCuredByInit := slices.Contains([]string{"package_absent", "package_differs", "lock_without_hash"}, reason.Code)
	lock, isLocked := locks.Provider(reason.Provider)
	if !isCuredByInit || !isLocked {
		return reason
	}

	_, refused := p.CheckNumber(lock)
	if refused == nil {
		return reason
	}

	candidate := getproviders.Candidate{Provider: lock.Provider, Version: lock.Version}
	reason.Code = "package_refused"
	reason.Detail = fmt.Sprintf("version %s is %s", lock.Version, cause.Refused(candidate, refused).Err)

	return reason
}

// CheckLocks returns a refusal for each entry of the given providers that lacks hashes
// for platforms that the policy requires.
func (p Policy) CheckLocks(locks *depsfile.Locks, of []getproviders.Provider) (refused []*policy.Refusal) {
	for _, lock := range locks.All() {
		if !slices.Contains(of, lock.Provider) {
			continue
		}
		if refusal := p.Rules.CheckLock(lock); refusal != nil {
			refused = append(refused, refusal)
		}
	}
	return refused
}

// CheckOverrides returns a refusal for each provider that comes by other means than a package, if the policy forbids that. by
// names the means, or is "" for a package.
func (p Policy) CheckOverrides(by func(getproviders.Provider) string, of []getproviders.Provider) (refused []*policy.Refusal) {
	for _, provider := range of {
		if means := by(provider); means != "" {
			if refusal := p.Rules.CheckOverride(provider, means); refusal != nil {
				refused = append(refused, refusal)
			}
		}
	}
	return refused
}

// PolicyFiles lists the files with rules for a directory, without those of -policy.
func PolicyFiles(m *cli.Meta, dir string) (paths []string, invalid problem.List) {
	if path := machinePolicy(m.Env); path != "" {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	for _, path := range filepath.SplitList(m.Env.Get(policyVariable)) {
		if path != "" {
			paths = append(paths, path)
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.Dir, dir)
	}
	found, err := policy.Find(dir)
	if err != nil {
		return nil, problem.Failed("invalid_policy", "Can't use the policy", err)
	}
	for _, path := range found {
		here, err := filepath.EvalSymlinks(m.Dir)
		if short, relErr := filepath.Rel(here, path); err == nil && relErr == nil {
			path = short
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// namedBy returns the option or the variable that names a file with rules, or "" if neither does.
func namedBy(m *cli.Meta, given []string, path string) string {
	switch {
	case slices.Contains(given, path):
		return "the option -policy"
	case slices.Contains(filepath.SplitList(m.Env.Get(policyVariable)), path):
		return "the variable " + policyVariable
	}
	return ""
}

// machinePolicy returns the path of the rules for all users of a machine, or "" if ProgramData isn't
// set.
func machinePolicy(env cli.Environment) string {
	if runtime.GOOS != "windows" {
		return "/etc/tfdeps/" + policy.FileName
	}
	data := env.Get("ProgramData")
	if !filepath.IsAbs(data) {
		return ""
	}
	return filepath.Join(data, "tfdeps", policy.FileName)
}
