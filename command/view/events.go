package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// line is what there is to say of one provider, for people and for programs;
// "" is nothing.
type line struct {
	human, json string
	ownJSON     bool   // OpenTofu's text for programs isn't that for people
	warning     bool   // it warns
	gap         bool   // people see an empty line before it
	source      string // who has the package that the line is about; "" if it's about none
}

// progressLines are the lines for an event; most events have one, some none.
func progressLines(product getproviders.Product, e event.Event) []line {
	switch e := e.(type) {
	case event.BuiltInEvent:
		text := product.Short(e.Addr) + " is built in to " + product.Name
		return []line{{human: "- " + text, json: text}}
	case event.QueryEvent:
		return []line{queryLine(product.Short(e.Addr), e)}
	case event.PresentEvent:
		what := fmt.Sprintf("%s v%s", product.Short(e.Addr), e.Version)
		return []line{{human: "- Using previously-installed " + what, json: what + ": Using previously-installed provider version"}}
	case event.LinkedEvent:
		what := fmt.Sprintf("%s v%s", product.Short(e.Addr), e.Version)
		return []line{{
			human: "- Using " + what + " from the shared cache directory",
			json:  what + ": Using from the shared cache directory",
		}}
	case event.FetchingEvent:
		what := fmt.Sprintf("%s v%s...", product.Short(e.Addr), e.Version)
		return []line{{human: "- Installing " + what, json: "Installing provider version: " + what, source: e.Source}}
	case event.FetchedEvent:
		return fetchedLines(product, e)
	}
	return nil
}

func queryLine(short string, e event.QueryEvent) line {
	switch {
	case e.Locked:
		return line{
			human: "- Reusing previous version of " + short + " from the dependency lock file",
			json:  short + ": Reusing previous version from the dependency lock file",
		}
	case e.Constraints.IsEmpty():
		return line{
			human: "- Finding latest version of " + short + "...",
			json:  short + ": Finding latest version...",
		}
	default:
		return line{
			human: fmt.Sprintf("- Finding %s versions matching %q...", short, e.Constraints),
			json:  fmt.Sprintf("Finding matching versions for provider: %s, version_constraint: %q", short, e.Constraints),
		}
	}
}

// fetchedLines say that a package is in its place and how far it is to be
// trusted; then where it came from, if not from where one would think, and
// remarks.
func fetchedLines(product getproviders.Product, e event.FetchedEvent) []line {
	a, what := e.Authentication, fmt.Sprintf("%s v%s", product.Short(e.Addr), e.Version)
	human := trust(product, a.TrustLevel)
	json := human
	if a.KeyID != "" {
		human += ", key ID " + a.KeyID
		json += "key_id: " + a.KeyID // no comma: Terraform has none
	}
	if host := product.KeylessHost; host != "" && e.Addr.Hostname == host && a.TrustLevel == getproviders.LevelVerifiedChecksum && fromOrigin(e.Addr, e.Source) {
		text := "Installed " + what + ". Signature validation was skipped due to the registry not containing GPG keys for this provider"
		return []line{{human: "- " + text, json: text, warning: true, source: e.Source}}
	}
	lines := []line{{
		human:  fmt.Sprintf("- Installed %s (%s)", what, human),
		json:   fmt.Sprintf("Installed provider version: %s (%s)", what, json),
		source: e.Source,
	}}
	if !fromOrigin(e.Addr, e.Source) {
		lines = append(lines, line{human: "  from " + e.Source})
	}
	for _, note := range slices.Concat(skipped(e.Skipped), a.Notes) {
		lines = append(lines, line{human: "  note: " + note, json: what + ": " + note})
	}
	return lines
}

// trust says how far a package is to be trusted. Where no key decides between
// levels, all that are signed have the same.
func trust(product getproviders.Product, level getproviders.TrustLevel) string {
	if level == getproviders.LevelCommunity && product.Keys != nil && *product.Keys == (getproviders.SigningKeys{}) {
		return "signed"
	}
	return level.String()
}

// fromOrigin reports whether a source is the provider's own registry, or
// it is unknown which one it is.
func fromOrigin(p getproviders.Provider, source string) bool {
	return source == "" || source == new(getproviders.RegistrySource).Describe(p).Name
}

// skipped says which sources didn't serve although their turn was before.
func skipped(err error) []string {
	if err == nil {
		return nil
	}
	var notes []string
	for _, e := range getproviders.SplitErrors(err) {
		notes = append(notes, "a source before it failed: "+strings.Join(strings.Fields(e.Error()), " "))
	}
	return notes
}

// signedProviders explains what the keys are whose IDs were printed. Programs
// get it as one line, and without a code.
func signedProviders(product getproviders.Product) string {
	who, page := "Partner and community providers", "https://developer.hashicorp.com/terraform/cli/plugins/signing"
	if product.Predecessor != nil {
		who, page = "Providers", "https://opentofu.org/docs/cli/plugins/signing/"
	}
	return who + " are signed by their developers.\n" +
		"If you'd like to know more about provider signing, you can read about it here:\n" + page
}

// sequence puts the events of an installation in one order: first the built-in
// providers, then the beginnings of all queries, then all other events, each
// in the order of the providers' addresses. Events of one provider keep their
// own order. An event is released as soon as nothing that comes before it can
// come any more.
type sequence struct {
	builtIn, queries, installs queue
}

// begin takes what is going to happen.
func (s *sequence) begin(req getproviders.Requirements) {
	for _, p := range req.Providers() {
		if p.IsBuiltIn() {
			s.builtIn.expect(p)
			continue
		}
		s.queries.expect(p)
		s.installs.expect(p)
	}
}

// add takes an event in and returns those that may be shown now.
func (s *sequence) add(e event.Event) []event.Event {
	switch e := e.(type) {
	case event.QueuedEvent:
		s.begin(e.Requirements)
	case event.BuiltInEvent:
		s.builtIn.put(e.Addr, e, true)
	case event.QueryEvent:
		s.queries.put(e.Addr, e, true)
	case event.WarningEvent:
		s.installs.put(e.Addr, e, false)
	case event.PresentEvent:
		s.installs.put(e.Addr, e, true)
	case event.LinkedEvent:
		s.installs.put(e.Addr, e, true)
	case event.FetchingEvent:
		s.installs.put(e.Addr, e, false)
	case event.FetchedEvent:
		s.installs.put(e.Addr, e, true)
	case event.FailedEvent:
		s.end(e)
	}
	return s.release()
}

// end has nothing wait for a provider that failed.
func (s *sequence) end(e event.FailedEvent) {
	s.builtIn.put(e.Addr, nil, true)
	s.queries.put(e.Addr, nil, true)
	s.installs.put(e.Addr, e, true)
}

func (s *sequence) release() []event.Event {
	var out []event.Event
	for _, q := range []*queue{&s.builtIn, &s.queries, &s.installs} {
		out = append(out, q.take()...)
		if !q.empty() {
			break
		}
	}
	return out
}

// rest returns what was held back, for there will be no more events: a run
// that was interrupted doesn't finish every provider.
func (s *sequence) rest() []event.Event {
	var out []event.Event
	for _, q := range []*queue{&s.builtIn, &s.queries, &s.installs} {
		for i := range *q {
			out = append(out, (*q)[i].events...)
		}
		*q = nil
	}
	return out
}

// queue holds the events of providers, in the order of the providers.
type queue []place

// place is a provider's place in a queue.
type place struct {
	provider getproviders.Provider
	events   []event.Event
	done     bool // no further event will come here
}

func (q queue) empty() bool { return len(q) == 0 }

func (q *queue) expect(p getproviders.Provider) { *q = append(*q, place{provider: p}) }

// put stores an event, if it is one (nil is none); last says that it is the
// provider's last one here. Events of a provider that isn't expected, or not
// any more, are dropped.
func (q queue) put(p getproviders.Provider, e event.Event, last bool) {
	i := slices.IndexFunc(q, func(pl place) bool { return pl.provider == p })
	if i < 0 {
		return
	}
	if e != nil {
		q[i].events = append(q[i].events, e)
	}
	q[i].done = q[i].done || last
}

// take removes and returns what is at the front.
func (q *queue) take() []event.Event {
	var out []event.Event
	for len(*q) > 0 {
		front := &(*q)[0]
		out = append(out, front.events...)
		front.events = nil
		if !front.done {
			break
		}
		*q = (*q)[1:]
	}
	return out
}
