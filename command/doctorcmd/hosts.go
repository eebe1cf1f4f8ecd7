package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/places"
)

// askedAtOnce is how many hosts are asked concurrently, and askedFor the timeout for all requests to one host.
const (
	askedAtOnce = 8
	askedFor    = 30 * time.Second
)

// askHosts asks each registry and mirror of this directory.
func (x *examination) askHosts() {
	known := x.Log
	x.Log = new(problem.Log)
	unasked := !x.Connect(x.opts.offlineBy, "") || x.opts.offlineBy != ""
	problems := x.Log.All
	x.Log = known
	x.Log.Add(slices.DeleteFunc(problems, x.Log.Knows)...)
	from, _ := x.OpenMirrors(x.opts.mirrors, cliconfig.SourceOptions{})
	if len(x.Mirrors) > 0 {
		x.sources = result.Each(x.Mirrors, func(m sources.Mirror) shownSource {
			return shownSource{Kind: "mirror", Location: m.Location, NamedBy: x.opts.mirrorsBy}
		})
	}
	targets := x.targets(from)
	answers, errs := par.Map(x.Meta.Context, askedAtOnce, targets, func(ctx context.Context, t target) (reply, error) {
		if unasked {
			return reply{Kind: t.kind, Host: t.name}, nil
		}
		return x.ask(ctx, t, from)
	})
	var failures []failure
	for i, answer := range answers {
		if errs[i] != nil {
			answer.OK, answer.Error = false, x.Explained(errs[i])
			answer.Code = explain.CodeOfError(errs[i])
			needed := x.needs(x.Meta.Context, targets[i], from)
			failures = gather(failures, failure{[]string{answer.Host}, errs[i], needed, !needed && len(targets[i].providers) > 0})
		}
		x.answers = append(x.answers, answer)
	}
	for _, f := range failures {
		detail := x.Explained(f.err) + f.whyWarning()
		found := problem.List{problem.Because(f.err, problem.Error("unreachable", "Failed to ask "+strings.Join(f.hosts, ", "), detail))}
		if !f.needed {
			found = problem.AsWarnings(found)
		}
		x.Log.Add(found...)
	}
}

// failure is an error that one or more hosts share.
type failure struct {
	hosts    []string
	err      error // of the first host
	needed   bool  // a provider needs one of the hosts
	mirrored bool  // mirrors have all providers of one of the hosts
}

// whyWarning says why a failure is only a warning, or returns "" if it is an error.
func (f failure) whyWarning() string {
	switch {
	case f.needed:
		return ""
	case f.mirrored:
		return "\n\nThis is only a warning, because the mirrors have all of its providers that this directory requires."
	default:
		return "\n\nThis is only a warning, because no provider that this directory requires comes from there."
	}
}

// gather adds a failure, or merges it with one that has the same cause: a proxy that can't be used, or no
// DNS.
func gather(failures []failure, one failure) []failure {
	for _, cause := range []error{hosts.ErrProxy, hosts.ErrName} {
		for i, f := range failures {
			if errors.Is(one.err, cause) && errors.Is(f.err, cause) {
				failures[i].hosts = append(f.hosts, one.hosts...)
				failures[i].needed, failures[i].mirrored = f.needed || one.needed, f.mirrored || one.mirrored
				return failures
			}
		}
	}
	return append(failures, one)
}

// ask asks a registry or a mirror.
func (x *examination) ask(ctx context.Context, t target, from cliconfig.SourceOptions) (reply, error) {
	late := &getproviders.Fault{Code: "timeout", Err: fmt.Errorf("there was no answer within %s", askedFor),
		Hint: "the server is overloaded, or something on the way drops what is sent to it: check firewall, proxy and VPN"}
	ctx, cancel := context.WithTimeoutCause(ctx, askedFor, late)
	defer cancel()
	began := x.Meta.Now()
	answer := reply{Kind: t.kind, Host: t.name, Asked: true, OK: true}
	if at := t.address(); at != nil {
		answer.Proxy = x.proxyOf(at)
	}
	source := t.source
	switch none := t.provider == (getproviders.Provider{}); {
	case source == nil:
		source = from.Registry()
		services, err := discover(ctx, from.Network.Discovery, t.host)
		if answer.Services = services; err != nil {
			return answer, inTime(ctx, late, err)
		}
		if !none || x.Config.Hosts[t.host] == nil {
			break
		}
		fallthrough // its host block names the services, so that discover has sent no request
	case none && t.isOCI():
		answer.Asked, answer.OK = false, false
		return answer, nil
	case none: // any provider: it only matters that the server answers
		t.provider = x.usual()
	}
	if t.provider != (getproviders.Provider{}) {
		available, err := source.Versions(ctx, t.provider)
		if err != nil && !errors.Is(err, getproviders.ErrNotFound) {
			return answer, inTime(ctx, late, err)
		}
		answer.Provider, answer.Versions = t.provider.String(), len(available.Versions)
	}
	answer.Took = x.Meta.Now().Sub(began).Milliseconds()
	return answer, nil
}

// usual returns a provider that registries and mirrors have.
func (x *examination) usual() getproviders.Provider {
	return getproviders.Provider{Hostname: x.Product.DefaultHost, Namespace: "hashicorp", Type: "null"}
}

// inTime returns late if the timeout has caused err, else err.
func inTime(ctx context.Context, late *getproviders.Fault, err error) error {
	if context.Cause(ctx) == error(late) {
		return late
	}
	return err
}

// discover asks a host for its registries. It is an error if the host has none.
func discover(ctx context.Context, discovery *hosts.Discovery, host hosts.Hostname) (map[string]string, error) {
	found := map[string]string{}
	var failed error
	for _, name := range []string{"providers", "modules"} {
		u, err := discovery.Service(ctx, host, name+".v1")
		switch {
		case err == nil:
			found[name] = hosts.RedactURL(u)
		case failed == nil:
			failed = err
		}
		if err != nil && !errors.Is(err, hosts.ErrNoService) && !errors.Is(err, hosts.ErrServiceVersion) {
			return nil, err
		}
	}
	if len(found) > 0 {
		failed = nil
	}
	return found, failed
}

// target is a registry or a mirror to ask.
type target struct {
	kind     string
	name     string                // the host, or the redacted location of a mirror
	source   getproviders.Source   // of a mirror; nil for a registry
	host     hosts.Hostname        // of a registry
	provider getproviders.Provider // whose versions are asked for, or zero

	providers []getproviders.Provider // that may come from this registry
	probe     bool                    // it is asked to check the network
}

// needs reports whether this directory needs a host: any mirror, and a registry that has a required
// provider that no mirror has. If no provider is required, the default
// registry counts as needed, as a check of the network.
func (x *examination) needs(ctx context.Context, t target, from cliconfig.SourceOptions) bool {
	if t.source != nil || len(t.providers) == 0 {
		return t.source != nil || t.probe
	}
	all, err := x.Config.Source(ctx, from)
	if err != nil {
		return true
	}
	all.Selectors = slices.DeleteFunc(all.Selectors, func(s getproviders.Selector) bool { return s.IsRegistry })
	return slices.ContainsFunc(t.providers, func(p getproviders.Provider) bool {
		available, err := all.Versions(ctx, p)
		locked, isLocked := x.locked[p]
		return err != nil || len(available.Versions) == 0 || isLocked && !slices.Contains(available.Versions, locked)
	})
}

// targets returns the mirrors, the registries of required or locked providers, or the default registry
// without any, and the hosts that have a token or a host block. Mirrors of -mirror replace all but the latter.
func (x *examination) targets(from cliconfig.SourceOptions) (all []target) {
	providers := x.providers()
	only := len(x.Mirrors) > 0
	mirror := func(kind, name string, source getproviders.Source, method cliconfig.Method) {
		t := target{kind: kind, name: name, source: source}
		if at := slices.IndexFunc(providers, func(p getproviders.Provider) bool { return serves(method, p) }); at >= 0 {
			t.provider = providers[at]
		}
		all = append(all, t)
	}
	for _, m := range x.Mirrors {
		mirror("mirror", m.Location, m.Source, cliconfig.Method{})
	}
	seen := map[string]bool{}
	for _, method := range x.Config.Installation {
		if only || seen[method.Location] {
			continue
		}
		switch source, err := mirrorOf(method, from); {
		case err != nil:
			x.Log.Failed("cli_configuration", "Invalid mirror", err)
		case source != nil:
			seen[method.Location] = true
			mirror(method.Kind.String(), places.Redacted(method.Location), source, method)
		}
	}
	asked := map[hosts.Hostname]int{}
	add := func(host hosts.Hostname, p getproviders.Provider) *target {
		at, ok := asked[host]
		if !ok {
			at, asked[host] = len(all), len(all)
			all = append(all, target{kind: "registry", name: host.String(), host: host, provider: p})
		}
		return &all[at]
	}
	for _, p := range providers {
		if !only && x.direct(p) {
			t := add(p.Hostname, p)
			t.providers = append(t.providers, p)
		}
	}
	if len(providers) == 0 && !only && x.direct(x.usual()) {
		add(x.Product.DefaultHost, x.usual()).probe = true
	}
	for _, host := range x.configured() {
		add(host, getproviders.Provider{})
	}
	return all
}

// mirrorOf returns the source of a network or OCI mirror, or nil for another method.
func mirrorOf(method cliconfig.Method, from cliconfig.SourceOptions) (getproviders.Source, error) {
	switch method.Kind {
	case cliconfig.NetworkMirror:
		return from.NetworkMirror(method.Location)
	case cliconfig.OCIMirror:
		return from.OCIMirror(method.Template.Address), nil
	}
	return nil, nil
}

// providers returns the providers that the root module requires or the lock file selects, sorted.
func (x *examination) providers() (all []getproviders.Provider) {
	dir := workdir.Load(x.Meta, x.Product, ".", workdir.Options{})
	required, _ := dir.Root.Requirements() // init reports problems with the configuration
	all = required.Providers()
	x.Log.Add(dir.LoadLocks()...)
	for _, lock := range dir.Locks.All() {
		all = append(all, lock.Provider)
		x.locked[lock.Provider] = lock.Version
	}
	all = slices.DeleteFunc(all, func(p getproviders.Provider) bool { return p.IsBuiltIn() || p.IsLegacy() })
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// configured returns the hosts with a token or a host block, sorted.
func (x *examination) configured() (all []hosts.Hostname) {
	all = slices.Collect(maps.Keys(x.Config.Hosts))
	for _, token := range x.tokens {
		if host, err := hosts.ParseHostname(token.Host); err == nil && token.For == "registry" {
			all = append(all, host)
		}
	}
	for _, method := range x.Config.Installation { // a network mirror's token is for no registry
		if u, err := url.Parse(method.Location); err == nil && method.Kind == cliconfig.NetworkMirror {
			all = slices.DeleteFunc(all, func(host hosts.Hostname) bool { return host.ASCII() == u.Host })
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// direct reports whether a provider may come from its registry.
func (x *examination) direct(p getproviders.Provider) bool {
	return x.Config.Installation == nil || slices.ContainsFunc(x.Config.Installation, func(m cliconfig.Method) bool {
		return m.Kind == cliconfig.Direct && serves(m, p)
	})
}

// serves reports whether an installation method applies to a provider.
func serves(m cliconfig.Method, p getproviders.Provider) bool {
	matches := func(pattern getproviders.Pattern) bool { return pattern.Matches(p) }
	return !slices.ContainsFunc(m.Exclude, matches) && (len(m.Include) == 0 || slices.ContainsFunc(m.Include, matches))
}

// isOCI reports whether it is a mirror in an OCI registry. There each provider has its own
// repository, so that no request without a provider can check whether the registry answers.
func (t target) isOCI() bool {
	return t.kind == cliconfig.OCIMirror.String() || places.IsOCI(t.name)
}

// address returns a URL with the target's host, or nil if the location is no URL.
func (t target) address() *url.URL {
	location := "https://" + t.host.ASCII()
	if t.source != nil {
		location = t.name
	}
	if t.isOCI() || places.IsOCI(location) {
		host, _, _ := strings.Cut(location[strings.Index(location, "://")+3:], "/")
		location = "https://" + host
	}
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	return u
}
