package policy

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache"
)

// Policy is a set of rules. The zero value has none, and refuses nothing.
type Policy struct {
	rules     []rule
	platforms []requiredPlatforms
	overrides []getproviders.Pos // of rules that refuse providers without a package
	modules   []moduleRules
}

// rule is one statement of a file.
type rule struct {
	name string // in the file
	pos  getproviders.Pos

	advisory bool // it only reports what it would refuse

	// check returns why the rule refuses a candidate, or "" if it doesn't.
	check func(candidate) string
}

// candidate is a package about to be used, with what rules compare it with.
type candidate struct {
	getproviders.Candidate

	// Locked is the version in the lock file, and Seen the newest allowed one that was used on this machine; zero: none.
	Locked, Seen getproviders.Version

	// Now is the time from which ages are counted.
	Now time.Time
}

// Refusal says which rule refuses a package.
type Refusal struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Rule     string           // "minimum_trust"
	Pos      getproviders.Pos // of the rule; if an option gave it, Line is 0 and File is the option
	Reason   string           // a sentence without its full stop
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Pos.Line == 0 {
		return fmt.Sprintf("%s (rule %s, %s)", r.Reason, r.Rule, r.Pos.File)
	}
	return fmt.Sprintf("%s (rule %s, %s:%d)", r.Reason, r.Rule, r.Pos.File, r.Pos.Line)
}

// Hint says what to do.
func (r *Refusal) Hint() string {
	at := r.Pos.File
	if r.Pos.Line > 0 {
		at = fmt.Sprintf("line %d of %s", r.Pos.Line, at)
	}
	return "choose a version or a source that the rule accepts. If this package has to be used, ask those who set the rule, which is " + at
}

// IsZero reports whether there are no rules.
func (p Policy) IsZero() bool {
	return len(p.rules) == 0 && len(p.platforms) == 0 && len(p.overrides) == 0 && len(p.modules) == 0
}

// All returns the policy that refuses whatever any of these refuses.
func All(policies ...Policy) Policy {
	var all Policy
	for _, p := range policies {
		all.rules = append(all.rules, p.rules...)
		all.platforms = append(all.platforms, p.platforms...)
		all.overrides = append(all.overrides, p.overrides...)
		all.modules = append(all.modules, p.modules...)
	}
	return all
}

// check returns the first refusal of a candidate, in the order of the rules, or nil. Advisory rules don't count.
func (p Policy) check(c candidate) *Refusal {
	for _, r := range p.rules {
		if refusal := r.refusal(c); refusal != nil && !r.advisory {
			return refusal
		}
	}
	return nil
}

// advice returns the refusals of advisory rules.
func (p Policy) advice(c candidate) (all []*Refusal) {
	for _, r := range p.rules {
		if refusal := r.refusal(c); refusal != nil && r.advisory {
			all = append(all, refusal)
		}
	}
	return all
}

func (r rule) refusal(c candidate) *Refusal {
	reason := r.check(c)
	if reason == "" {
		return nil
	}
	return &Refusal{Provider: c.Provider, Version: c.Version, Rule: r.name, Pos: r.pos, Reason: reason}
}

// CheckDowngrade returns a Refusal if the rule refuse_downgrades forbids a version, else nil.
// It needs no package. locked and seen are those of HookOptions.Against; zero: none.
func (p Policy) CheckDowngrade(of getproviders.Provider, version, locked, seen getproviders.Version) *Refusal {
	return p.only(ruleDowngrades).check(candidate{Candidate: getproviders.Candidate{Provider: of, Version: version}, Locked: locked, Seen: seen})
}

// CheckNumber returns a Refusal if a rule forbids a version of a lock file by its provider and number
// alone; else nil. unasked are the names of the other rules. The rule quarantine needs now.
func (p Policy) CheckNumber(of getproviders.Provider, locked getproviders.Version, now time.Time) (refusal *Refusal, unasked []string) {
	decided := append([]string{ruleProviders, ruleDowngrades}, listedRules...)
	for _, r := range p.rules {
		if !r.advisory && !slices.Contains(decided, r.name) && !slices.Contains(unasked, r.name) {
			unasked = append(unasked, r.name)
		}
	}
	return p.only(decided...).check(candidate{Candidate: getproviders.Candidate{Provider: of, Version: locked}, Locked: locked, Now: now}), unasked
}

// only returns the policy with just the rules of these names that aren't advisory.
func (p Policy) only(names ...string) (some Policy) {
	for _, r := range p.rules {
		if slices.Contains(names, r.name) && !r.advisory {
			some.rules = append(some.rules, r)
		}
	}
	return some
}

// CheckOverride returns a Refusal if a provider may not come by other means than a package,
// such as "dev_overrides"; else nil. No other rule applies to such a provider.
func (p Policy) CheckOverride(of getproviders.Provider, by string) *Refusal {
	if len(p.overrides) == 0 {
		return nil
	}
	return &Refusal{Provider: of, Rule: ruleOverrides, Pos: p.overrides[0], Reason: fmt.Sprintf("it comes by %s, to which no rule applies", by)}
}

// ruleOverrides is the name of the rule of CheckOverride in a file.
const ruleOverrides = "allow_overrides"

// allowSources is the rule "sources".
func allowSources(sources []string) func(candidate) string {
	return func(c candidate) string {
		switch {
		case slices.ContainsFunc(sources, func(s string) bool { return isFrom(c, s) }):
			return ""
		case c.SourceURL == "":
			return "it isn't known where the package comes from"
		default:
			return fmt.Sprintf("it comes from %s, which is not one of the allowed sources", c.SourceURL)
		}
	}
}

// isFrom reports whether a candidate comes from a source: the name of a registry, whose service may
// be on any host, the host of an https URL, or a URL or a directory above the package.
func isFrom(c candidate, source string) bool {
	if filepath.IsAbs(source) {
		separator := string(filepath.Separator)
		return strings.HasPrefix(c.SourceURL, strings.TrimSuffix(filepath.Clean(source), separator)+separator)
	}
	given, err := url.Parse(c.SourceURL)
	if err != nil {
		given = &url.URL{}
	}
	if !strings.Contains(source, "://") {
		name, err := hosts.ParseHostname(source)
		if c.FromRegistry && err == nil && name == c.Provider.Hostname {
			return true
		}
		host, hostErr := hosts.HostnameOf(given)
		return given.Scheme == "https" && err == nil && hostErr == nil && host == name
	}
	allowed, err := url.Parse(source)
	if err != nil || !hosts.SameOrigin(allowed, given) || endpoint(allowed) != endpoint(given) {
		return false
	}
	// A server may resolve a ".." in a path.
	return strings.HasPrefix(path.Clean("/"+given.Path)+"/", strings.TrimSuffix(path.Clean("/"+allowed.Path), "/")+"/")
}

// endpoint returns the service that has a bucket; "": that of the URL's scheme.
func endpoint(u *url.URL) string { return strings.TrimSuffix(u.Query().Get(endpointParameter), "/") }

const endpointParameter = "endpoint"

// allowProviders is the rule "providers".
func allowProviders(patterns []getproviders.Pattern) func(candidate) string {
	return func(c candidate) string {
		if matches(patterns, c.Provider) {
			return ""
		}
		return "the provider matches none of the allowed patterns"
	}
}

// requireTrust is the rule "minimum_trust".
func requireTrust(level getproviders.TrustLevel) func(candidate) string {
	return func(c candidate) string {
		if c.Authentication.TrustLevel >= level {
			return ""
		}
		return fmt.Sprintf("it is %s, and has to be at least %s", c.Authentication.TrustLevel, level)
	}
}

// ruleDowngrades is the name of refuseDowngrade in a file.
const ruleDowngrades = "refuse_downgrades"

// refuseDowngrade is the rule "refuse_downgrades". A locked version may stay, whatever other directories use.
func refuseDowngrade(c candidate) string {
	none := getproviders.Version{}
	switch {
	case c.Locked != none && c.Version.Compare(c.Locked) < 0:
		return fmt.Sprintf("the lock file has %s, which is newer", c.Locked)
	case c.Seen != none && c.Version != c.Locked && c.Version.Compare(c.Seen) < 0:
		return fmt.Sprintf("%s was used on this machine before, which is newer", c.Seen)
	default:
		return ""
	}
}

// requireAge is the rule "minimum_age".
func requireAge(age time.Duration, except []getproviders.Pattern) func(candidate) string {
	return func(c candidate) string {
		switch {
		case matches(except, c.Provider):
			return ""
		case c.Released.IsZero():
			return fmt.Sprintf("it isn't known when it was released, and it has to be %s old", age)
		case c.Now.Sub(c.Released) < age:
			return fmt.Sprintf("it was released at %s, and has to be %s old", c.Released.UTC().Format(time.RFC3339), age)
		default:
			return ""
		}
	}
}

// requireKeys is the rule "signed_by".
func requireKeys(pattern getproviders.Pattern, keys []string) func(candidate) string {
	return func(c candidate) string {
		if !pattern.Covers(c.Provider) {
			return ""
		}
		signer := c.Authentication.KeyID
		if c.Authentication.TrustLevel == getproviders.LevelOfficial {
			signer = signedByHashiCorp
		}
		switch {
		case slices.Contains(keys, signer):
			return ""
		case signer == "":
			return fmt.Sprintf("it is %s, and has to be signed by one of the keys %s", c.Authentication.TrustLevel, strings.Join(keys, ", "))
		default:
			return fmt.Sprintf("it is signed by the key %s, and has to be signed by one of the keys %s", signer, strings.Join(keys, ", "))
		}
	}
}

func matches(patterns []getproviders.Pattern, p getproviders.Provider) bool {
	return slices.ContainsFunc(patterns, func(m getproviders.Pattern) bool { return m.Matches(p) })
}

// HookOptions are what a policy compares packages with, and who gets its advice.
type HookOptions struct {
	// Against returns the versions that a package is compared with: the one in the lock file, and the newest allowed one that was
	// used on this machine; zero: none. nil: no version of any provider is known. It is called from many goroutines.
	Against func(getproviders.Candidate) (locked, seen getproviders.Version)

	// Advise gets each refusal of an advisory rule; nil: these are dropped. It is called from many goroutines.
	Advise func(*Refusal)
}

// Hook returns the policy as a Fetcher.Policy, or nil if it has no rules about packages. Its errors are of type [*Refusal].
func (p Policy) Hook(opts HookOptions) func(context.Context, getproviders.Candidate) error {
	if len(p.rules) == 0 {
		return nil
	}
	now := time.Now
	return func(_ context.Context, c getproviders.Candidate) error {
		candidate := candidate{Candidate: c, Now: now()}
		if opts.Against != nil {
			candidate.Locked, candidate.Seen = opts.Against(c)
		}
		if refusal := p.check(candidate); refusal != nil {
			return refusal
		}
		if opts.Advise != nil {
			for _, advice := range p.advice(candidate) {
				opts.Advise(advice)
			}
		}
		return nil
	}
}

// Choice returns the rules by which a Fetcher leaves versions out before it chooses one, with errors of type [*Refusal]: sources, if the list
// of versions tells the source, versions, quarantine, minimum_age and signed_by. For the chosen package all rules count, see [Policy.Hook].
func (p Policy) Choice() (c providercache.Choice) {
	var opts HookOptions
	unplaced, listed := p.only(listedRules...).Hook(opts), p.only(slices.Concat(listedRules, []string{ruleSources})...).Hook(opts)
	if listed != nil {
		c.Listed = func(ctx context.Context, candidate getproviders.Candidate) error {
			switch {
			case candidate.SourceURL != "" || candidate.FromRegistry:
				return listed(ctx, candidate)
			case unplaced != nil:
				return unplaced(ctx, candidate)
			}
			return nil
		}
	}
	c.Dated, c.Signed = p.only(ruleAge).Hook(opts), p.only(ruleSigned).Hook(opts)
	return c
}

// listedRules are the rules that need only a version's number.
var listedRules = []string{ruleVersions, ruleQuarantine}

const (
	ruleSources    = "sources"
	ruleProviders  = "providers"
	ruleAge        = "minimum_age"
	ruleSigned     = "signed_by"
	ruleVersions   = "versions"
	ruleQuarantine = "quarantine"
)

// allowVersions is the rule "versions". A build of an excluded version is excluded, too: else whoever publishes
// 1.0.0 again as 1.0.0+x gets around the rule.
func allowVersions(of getproviders.Pattern, allowed getproviders.Constraints) func(candidate) string {
	return func(c candidate) string {
		if !of.Covers(c.Provider) {
			return ""
		}

		if allowed.Allows(c.Version) && !allowed.Excludes(c.Version) {
			return ""
		}

		return fmt.Sprintf("only versions %q are allowed", allowed)
	}
}

// keepBack is the rule "quarantine". It ends at ends; the zero time means never. Every build of the versions is kept back.
func keepBack(of getproviders.Pattern, versions []getproviders.Version, ends time.Time, reason string) func(candidate) string {
	kept := map[getproviders.Version]bool{}
	for _, v := range versions {
		kept[withoutBuild(v)] = true
	}

	return func(c candidate) string {
		if !of.Covers(c.Provider) || !kept[withoutBuild(c.Version)] {
			return ""
		}

		hasEnded := !ends.IsZero() && !c.Now.Before(ends)
		if hasEnded {
			return ""
		}

		return "it is in quarantine, " + reason
	}
}

// withoutBuild returns a version without its build metadata.
func withoutBuild(v getproviders.Version) getproviders.Version {
	v.Metadata = ""
	return v
}
