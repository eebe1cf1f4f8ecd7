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
	builtIn, queries, installs turns[event.Event]
}

// add takes an event in and returns those that may be shown now.
func (s *sequence) add(e event.Event) []event.Event {
	key := packageKey{provider: e.Provider()}
	switch e := e.(type) {
	case event.QueuedEvent:
		s.begin(e.Requirements)
	case event.BuiltInEvent:
		s.builtIn.put(key, true, e)
	case event.QueryEvent:
		s.queries.put(key, true, e)
	case event.WarningEvent, event.FetchingEvent:
		s.installs.put(key, false, e)
	case event.PresentEvent, event.LinkedEvent, event.FetchedEvent:
		s.installs.put(key, true, e)
	case event.FailedEvent:
		s.builtIn.put(key, true)
		s.queries.put(key, true)
		s.installs.put(key, true, e)
	}
	all := s.builtIn.take()
	if len(s.builtIn) == 0 {
		all = append(all, s.queries.take()...)
	}
	if len(s.builtIn)+len(s.queries) == 0 {
		all = append(all, s.installs.take()...)
	}
	return all
}

// begin takes what is going to happen.
func (s *sequence) begin(req getproviders.Requirements) {
	for _, p := range req.Providers() {
		expected := turn[event.Event]{key: packageKey{provider: p}}
		if p.IsBuiltIn() {
			s.builtIn = append(s.builtIn, expected)
			continue
		}
		s.queries, s.installs = append(s.queries, expected), append(s.installs, expected)
	}
}

// rest returns what was held back, for there will be no more events: a run
// that was interrupted doesn't finish every provider.
func (s *sequence) rest() []event.Event {
	return slices.Concat(s.builtIn.rest(), s.queries.rest(), s.installs.rest())
}
