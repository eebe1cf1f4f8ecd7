package doctorcmd

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// askedAtOnce is how many hosts are asked at the same time.
const askedAtOnce = 8

// target is a registry or a mirror that is to be asked.
type target struct {
	kind     string
	url      string                // of a mirror
	host     hosts.Hostname        // of a registry
	provider getproviders.Provider // whose versions are asked for; zero: of none

	providers []getproviders.Provider // that may come from this registry
	probe     bool                    // it is asked to find out whether there is a network
}

// askHosts asks each registry and mirror that counts here.
func (x *examination) askHosts() {
	net, problems := sources.Connect(x.meta, x.product, x.config, x.opts.offlineBy)
	x.add(problems)
	targets := x.targets()
	if problems.HasErrors() || x.opts.offline {
		for _, t := range targets {
			x.report.Hosts = append(x.report.Hosts, view.DoctorHost{Kind: t.kind, Host: t.name()})
		}
		return
	}
	from := sources.Options{Net: net, Config: x.config, Product: x.product}.Single(x.meta)
	answers, errs := par.Map(x.meta.Context, askedAtOnce, targets, func(ctx context.Context, t target) (view.DoctorHost, error) {
		return x.ask(ctx, t, from)
	})
	var failures []failure
	for i, answer := range answers {
		if errs[i] != nil {
			answer.OK, answer.Error = false, view.Explained(errs[i])
			answer.Code = view.CodeOfError(errs[i])
			failures = gather(failures, answer.Host, x.needs(x.meta.Context, targets[i], from), errs[i])
		}
		x.report.Hosts = append(x.report.Hosts, answer)
	}
	for _, f := range failures {
		found := problem.List{problem.Because(f.err, problem.CodedError("unreachable", "Failed to ask "+strings.Join(f.hosts, ", "), view.Explained(f.err)))}
		if !f.needed {
			found = problem.AsWarnings(found)
		}
		x.add(found)
	}
}

// needs reports whether anything here needs a host: a mirror is needed, and a registry if a provider comes from it that none of the
// mirrors has. Where no provider is required, the default registry stands for the network.
func (x *examination) needs(ctx context.Context, t target, from cliconfig.SourceOptions) bool {
	if t.url != "" || len(t.providers) == 0 {
		return t.url != "" || t.probe
	}
	all, err := x.config.Source(ctx, from)
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

// failure is a cause for which hosts didn't answer as they should.
type failure struct {
	hosts  []string
	err    error // of the first of them
	needed bool  // one of them is
}

// gather adds a host that failed to those that failed for the same cause: a proxy that can't be used, or no
// DNS.
func gather(failures []failure, host string, needed bool, err error) []failure {
	if cause, ok := errors.AsType[*hosts.ConnectionError](err); ok && (cause.Reason == hosts.ErrProxy || cause.Reason == hosts.ErrName) {
		for i, f := range failures {
			if other, ok := errors.AsType[*hosts.ConnectionError](f.err); ok && other.Reason == cause.Reason {
				failures[i].hosts, failures[i].needed = append(f.hosts, host), f.needed || needed
				return failures
			}
		}
	}
	return append(failures, failure{[]string{host}, err, needed})
}

// targets are the network mirrors, and the registries of the providers that are required or locked here,
// without any the default one, and those of hosts that the user has settings for.
func (x *examination) targets() (all []target) {
	providers := x.providers()
	mirrors := map[string]bool{}
	for _, method := range x.config.Installation {
		if method.Kind == cliconfig.NetworkMirror && !mirrors[method.Location] {
			mirrors[method.Location] = true
			t := target{kind: cliconfig.NetworkMirror.String(), url: method.Location}
			if at := slices.IndexFunc(providers, func(p getproviders.Provider) bool { return serves(method, p) }); at >= 0 {
				t.provider = providers[at]
			}
			all = append(all, t)
		}
	}
	asked := map[hosts.Hostname]int{}
	add := func(host hosts.Hostname, p getproviders.Provider) *target {
		at, ok := asked[host]
		if !ok {
			at, asked[host] = len(all), len(all)
			all = append(all, target{kind: "registry", host: host, provider: p})
		}
		return &all[at]
	}
	for _, p := range providers {
		if x.direct(p) {
			t := add(p.Hostname, p)
			t.providers = append(t.providers, p)
		}
	}
	if len(providers) == 0 && x.direct(getproviders.Provider{Hostname: x.product.DefaultHost, Namespace: "hashicorp", Type: "null"}) {
		add(x.product.DefaultHost, getproviders.Provider{}).probe = true
	}
	for _, host := range x.configured() {
		add(host, getproviders.Provider{})
	}
	return all
}

// providers are those that the root module requires and the lock file selects, sorted.
func (x *examination) providers() (all []getproviders.Provider) {
	dir := workdir.Load(x.meta, x.product, ".", workdir.Options{})
	required, _ := dir.Root.Requirements(x.product) // what is wrong with the configuration is for init to say
	for p := range required {
		all = append(all, p)
	}
	x.add(dir.LoadLocks())
	for _, lock := range dir.Locks.All() {
		all = append(all, lock.Provider)
		x.locked[lock.Provider] = lock.Version
	}
	all = slices.DeleteFunc(all, func(p getproviders.Provider) bool { return p.IsBuiltIn() || p.IsLegacy() })
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// configured are the hosts that the user has a token or a host block for, sorted.
func (x *examination) configured() (all []hosts.Hostname) {
	for host := range x.config.Hosts {
		all = append(all, host)
	}
	for _, token := range x.report.Tokens {
		if host, err := hosts.ParseHostname(token.Host); err == nil && token.For == "registry" {
			all = append(all, host)
		}
	}
	for _, method := range x.config.Installation { // their tokens are for no registry
		if u, err := url.Parse(method.Location); err == nil && method.Kind == cliconfig.NetworkMirror {
			all = slices.DeleteFunc(all, func(host hosts.Hostname) bool { return host.ASCII() == u.Host })
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// direct reports whether a provider may come from its registry.
func (x *examination) direct(p getproviders.Provider) bool {
	return x.config.Installation == nil || slices.ContainsFunc(x.config.Installation, func(m cliconfig.Method) bool {
		return m.Kind == cliconfig.Direct && serves(m, p)
	})
}

// serves reports whether an installation method is for a provider.
func serves(m cliconfig.Method, p getproviders.Provider) bool {
	matches := func(pattern getproviders.Pattern) bool { return pattern.Matches(p) }
	return !slices.ContainsFunc(m.Exclude, matches) && (len(m.Include) == 0 || slices.ContainsFunc(m.Include, matches))
}

func (t target) name() string {
	if t.url != "" {
		return withoutLogin(t.url)
	}
	return t.host.String()
}

// ask asks one of them.
func (x *examination) ask(ctx context.Context, t target, from cliconfig.SourceOptions) (view.DoctorHost, error) {
	began := x.now()
	answer := view.DoctorHost{Kind: t.kind, Host: t.name(), Asked: true, OK: true}
	source := from.Registry()
	if t.url != "" {
		var err error
		if source, err = from.NetworkMirror(t.url); err != nil {
			return answer, err
		}
		if u, err := url.Parse(t.url); err == nil {
			answer.Proxy = x.proxyOf(u)
		}
		if t.provider == (getproviders.Provider{}) { // any: what counts is that the server answers
			t.provider = getproviders.Provider{Hostname: x.product.DefaultHost, Namespace: "hashicorp", Type: "null"}
		}
	} else {
		answer.Proxy = x.proxyOf(&url.URL{Scheme: "https", Host: t.host.ASCII()})
		services, err := discover(ctx, from.Network.Discovery, t.host)
		if answer.Services = services; err != nil {
			return answer, err
		}
	}
	if t.provider != (getproviders.Provider{}) {
		available, err := source.Versions(ctx, t.provider)
		if err != nil && !errors.Is(err, getproviders.ErrNotFound) {
			return answer, err
		}
		answer.Provider, answer.Versions = t.provider.String(), len(available.Versions)
	}
	answer.Took = x.now().Sub(began)
	return answer, nil
}

// discover asks a host which registries it has. A host needs one of them.
func discover(ctx context.Context, discovery *hosts.Discovery, host hosts.Hostname) (map[string]string, error) {
	found := map[string]string{}
	var failed error
	for _, service := range []string{"providers.v1", "modules.v1"} {
		u, err := discovery.Service(ctx, host, service)
		switch {
		case err == nil:
			name, _, _ := strings.Cut(service, ".")
			found[name] = hosts.RedactURL(u)
		case failed == nil:
			failed = err
		}
		if err != nil && !errors.Is(err, hosts.ErrNoService) && !errors.Is(err, hosts.ErrServiceVersion) {
			return nil, err
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, failed
}

func (x *examination) now() time.Time {
	if x.meta.Now == nil {
		return time.Time{}
	}
	return x.meta.Now()
}
