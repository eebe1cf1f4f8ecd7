package doctorcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// askedAtOnce is how many hosts are asked at the same time, and askedFor how long each of them has for all its answers.
const (
	askedAtOnce = 8
	askedFor    = 30 * time.Second
)

// slowError says that a host took too long to answer.
type slowError struct{}

// Error implements error.
func (slowError) Error() string { return fmt.Sprintf("there was no answer within %s", askedFor) }

// Hint says what may be wrong.
func (slowError) Hint() string {
	return "the server is overloaded, or something on the way drops what is sent to it: check firewall, proxy and VPN"
}

// Code is "timeout".
func (slowError) Code() string { return "timeout" }

// askHosts asks each registry and mirror that counts here.
func (x *examination) askHosts() {
	net, problems := sources.Connect(x.meta, x.product, x.config, x.opts.offlineBy)
	x.log.Add(slices.DeleteFunc(slices.Clone(problems), x.knows)...)
	options := sources.Options{Net: net, Config: x.config, Product: x.product}
	mirrors, invalid := options.OpenMirrors(x.meta, x.opts.mirrors)
	defer mirrors.Close()
	x.log.Add(invalid...)
	if named := x.named(mirrors); named != nil {
		x.report.Sources = named
	}
	targets, unusable := x.targets(mirrors, options.Single(x.meta))
	x.log.Add(unusable...)
	if problems.HasErrors() || x.opts.offlineBy != "" {
		for _, t := range targets {
			x.report.Hosts = append(x.report.Hosts, result.DoctorHost{Kind: t.kind, Host: t.name()})
		}
		return
	}
	options.Mirrors = mirrors
	from := options.Single(x.meta)
	answers, errs := par.Map(x.meta.Context, askedAtOnce, targets, func(ctx context.Context, t target) (result.DoctorHost, error) {
		return x.ask(ctx, t, from)
	})
	var failures []failure
	for i, answer := range answers {
		if errs[i] != nil {
			answer.OK, answer.Error = false, explain.Explained(errs[i])
			answer.Code = explain.CodeOfError(errs[i])
			needed := x.needs(x.meta.Context, targets[i], from)
			failures = gather(failures, failure{[]string{answer.Host}, errs[i], needed, !needed && len(targets[i].providers) > 0})
		}
		x.report.Hosts = append(x.report.Hosts, answer)
	}
	for _, f := range failures {
		detail := explain.Explained(f.err) + f.whyWarning()
		found := problem.List{problem.Because(f.err, problem.CodedError("unreachable", "Failed to ask "+strings.Join(f.hosts, ", "), detail))}
		if !f.needed {
			found = problem.AsWarnings(found)
		}
		x.log.Add(found...)
	}
}

// failure is a cause for which hosts didn't answer as they should.
type failure struct {
	hosts    []string
	err      error // of the first of them
	needed   bool  // one of them is
	mirrored bool  // one of them is only not needed because mirrors have its providers
}

// whyWarning is the reason why a failure is no error; "" where it is one.
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

// gather adds a host that failed to those that failed for the same cause: a proxy that can't be used, or no
// DNS.
func gather(failures []failure, one failure) []failure {
	if cause, ok := errors.AsType[*hosts.Fault](one.err); ok && (cause.Kind == hosts.ErrProxy || cause.Kind == hosts.ErrName) {
		for i, f := range failures {
			if other, ok := errors.AsType[*hosts.Fault](f.err); ok && other.Kind == cause.Kind {
				failures[i].hosts = append(f.hosts, one.hosts...)
				failures[i].needed, failures[i].mirrored = f.needed || one.needed, f.mirrored || one.mirrored
				return failures
			}
		}
	}
	return append(failures, one)
}

// ask asks one of them.
func (x *examination) ask(ctx context.Context, t target, from cliconfig.SourceOptions) (result.DoctorHost, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askedFor, slowError{})
	defer cancel()
	began := x.meta.Now()
	answer := result.DoctorHost{Kind: t.kind, Host: t.name(), Asked: true, OK: true}
	if at := t.address(); at != nil {
		answer.Proxy = x.proxyOf(at)
	}
	source := t.source
	switch none := t.provider == (getproviders.Provider{}); {
	case source == nil:
		source = from.Registry()
		services, err := discover(ctx, from.Network.Discovery, t.host)
		if answer.Services = services; err != nil {
			return answer, slow(ctx, err)
		}
	case none && t.isOCI():
		answer.Asked, answer.OK = false, false
		return answer, nil
	case none: // any: what counts is that the server answers
		t.provider = getproviders.Provider{Hostname: x.product.DefaultHost, Namespace: "hashicorp", Type: "null"}
	}
	if t.provider != (getproviders.Provider{}) {
		available, err := source.Versions(ctx, t.provider)
		if err != nil && !errors.Is(err, getproviders.ErrNotFound) {
			return answer, slow(ctx, err)
		}
		answer.Provider, answer.Versions = t.provider.String(), len(available.Versions)
	}
	answer.Took = x.meta.Now().Sub(began).Milliseconds()
	return answer, nil
}

// slow is why a question failed: an error is no news where time was up.
func slow(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, slowError{}) {
		return cause
	}
	return err
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
