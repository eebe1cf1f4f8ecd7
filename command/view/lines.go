package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// line is what is printed about one thing, for people and for programs; a text that is "" isn't printed.
type line struct {
	human, json string
	style       string        // the escape sequences for people
	item        bool          // of a list: people see a dash before the text
	ownJSON     bool          // programs get json even for a product whose JSON has the text for people
	warning     bool          // it is a warning
	gap, apart  bool          // people see an empty line before it; with apart, only if the product prints one there
	todo        bool          // it says what there is to do
	once        bool          // it is printed once in a run
	source      string        // the source of the package that the line is about; "" if it is about no package
	code        string        // of a heading or a paragraph that belongs to no provider; stable when the words change
	kind        string        // the type of the JSON object; "" means Terraform's type for such a line
	keys        result.Object // of an object with a kind
}

// sameLine is an item of a list, with the same text for people and programs.
func sameLine(text string) line { return itemLine(text, text) }

func itemLine(human, json string) line { return line{item: true, human: human, json: json} }

func queryLine(short string, e event.Event) line {
	switch {
	case e.Locked:
		return itemLine("Reusing previous version of "+short+" from the dependency lock file", short+": Reusing previous version from the dependency lock file")
	case e.Constraints.IsEmpty():
		return itemLine("Finding latest version of "+short+"...", short+": Finding latest version...")
	default:
		return itemLine(fmt.Sprintf("Finding %s versions matching %q...", short, e.Constraints),
			fmt.Sprintf("Finding matching versions for provider: %s, version_constraint: %q", short, e.Constraints))
	}
}

// leftOutLine lists the versions that a policy excludes.
func leftOutLine(short string, e event.Event) line {
	l := sameLine("Left out of " + short + " by policy: " + e.LeftOut.String())
	l.kind, l.keys = "left_out", result.Object{"provider", e.Provider, "versions", leftOutObjects(e.LeftOut.Versions)}
	return l
}

func leftOutObjects(versions []getproviders.Fault) []result.Object {
	return result.Each(versions, func(r getproviders.Fault) result.Object {
		return result.Object{"version", r.Version, "reason", r.Err.Error()}
	})
}

// fetchedLines say that a package was installed and with which trust level,
// which source it came from if that isn't its own registry, and notes.
func fetchedLines(product getproviders.Product, what string, e event.Event) []line {
	a := e.Authentication
	human := trust(product, a.TrustLevel)
	json := human
	if a.KeyID != "" {
		human += ", key ID " + a.KeyID
		json += "key_id: " + a.KeyID // no comma, as in Terraform
	}
	if explain.SpeechOf(product).Keyless && !product.NeedsKeys && e.Provider.Hostname == product.DefaultHost && a.TrustLevel == getproviders.LevelVerifiedChecksum && fromOrigin(e.Provider, e.Source) {
		text := "Installed " + what + ". Signature validation was skipped due to the registry not containing GPG keys for this provider"
		return []line{{item: true, human: text, json: text, warning: true, source: e.Source}}
	}
	lines := []line{{
		item:   true,
		human:  fmt.Sprintf("Installed %s (%s)", what, human),
		json:   fmt.Sprintf("Installed provider version: %s (%s)", what, json),
		source: e.Source,
	}}
	if !fromOrigin(e.Provider, e.Source) {
		lines = append(lines, line{human: "  from " + e.Source})
	}
	for _, note := range slices.Concat(skipped(e.Skipped), a.Notes) {
		lines = append(lines, line{human: "  note: " + note, json: what + ": " + note})
	}
	return lines
}

// trust returns the trust level in the product's words.
func trust(product getproviders.Product, level getproviders.TrustLevel) string {
	if level == getproviders.LevelCommunity {
		return explain.SpeechOf(product).Community
	}
	return level.String()
}

// fromOrigin reports whether a source is the provider's own registry or unknown.
func fromOrigin(p getproviders.Provider, source string) bool {
	return source == "" || source == new(getproviders.RegistrySource).Describe(p).Name
}

// skipped returns a note for each source that failed before this one was asked.
func skipped(err error) []string {
	if err == nil {
		return nil
	}
	var notes []string
	for _, e := range getproviders.SplitErrors(err) {
		notes = append(notes, "a source before it failed: "+oneLine(e.Error()))
	}
	return notes
}

// linkNote says that packages are copies, which take space in each directory, or why they aren't symlinks.
func linkNote(mode providercache.LinkMode, reason error) line {
	if reason == nil || mode != providercache.LinkCopy && !errors.Is(reason, link.ErrChangedByOthers) {
		return line{}
	}
	text := "packages are copied from the shared cache, because they can't be linked: " + oneLine(reason.Error())
	if mode != providercache.LinkCopy {
		text = fmt.Sprintf("packages come from the shared cache by %s, not by symlink: %v", mode, getproviders.SplitErrors(reason)[0])
	}
	return line{human: "  note: " + text, json: text, once: true}
}

func hashedName(product getproviders.Product, p providercache.Outcome) string {
	return fmt.Sprintf("%s %s for %s", product.Short(p.Provider), p.Version, p.Platform)
}

// hashesLine says where a package's hashes come from. The first line of the text is Terraform's.
func hashesLine(product getproviders.Product, p providercache.Outcome) line {
	if p.Err != nil || p.State == event.NotTried {
		return line{}
	}
	a := p.Authentication
	name, level := hashedName(product, p), trust(product, a.TrustLevel)
	if a.KeyID != "" {
		level += ", key ID " + a.KeyID
	}
	switch p.State {
	case event.Recalled:
		return sameLine(fmt.Sprintf("Recalled %s (%s)", name, level))
	case event.Listed:
		return sameLine(fmt.Sprintf("Trusted the hashes of %s (%s)", name, p.Source))
	}
	return sameLine(fmt.Sprintf("Retrieved %s (%s)", name, level) + notes("\n  ", a))
}

// notes returns the notes of a package's authentication.
func notes(indent string, a getproviders.AuthenticationResult) (text string) {
	for _, note := range a.Notes {
		text += indent + "note: " + note
	}
	return text
}

const mirroring = "Mirroring"

func selectedLine(s getproviders.Selection) line {
	why := "with no constraints"
	switch {
	case s.Locked:
		why = "to match dependency lock file"
	case !s.Constraints.IsEmpty():
		why = "to meet constraints " + s.Constraints.String()
	}
	return line{human: fmt.Sprintf("  - Selected v%s %s", s.Version, why)}
}

// archiveLine is Terraform's line for a download, or tfdeps' own for an archive on this machine.
func archiveLine(p providercache.Outcome, local bool) line {
	text := "  - Downloading package for %s..."
	if local {
		text = "  - Taking package for %s from this machine..."
	}
	return line{human: fmt.Sprintf(text, p.Platform)}
}

func archiveDoneLine(product getproviders.Product, p providercache.Outcome) line {
	failed, _ := getproviders.Failure(p.Err)
	switch {
	case failed != nil && failed.Step == during.Metadata: // no event.Fetching came before
		return archiveLine(p, false)
	case p.Err != nil, p.State == event.NotTried:
		return line{}
	case p.State == event.Present:
		return line{human: fmt.Sprintf("  - Package for %s is there already", p.Platform)}
	}
	text := "  - Package authenticated: "
	if p.Damaged {
		text = "  - Package put in place of one that was damaged, and authenticated: "
	}
	return line{human: text + trust(product, p.Authentication.TrustLevel) + notes("\n    ", p.Authentication)}
}

// CheckReason is a reason why an init would have something to do. Code is stable. The reason is
// about a provider, a module, or neither.
type CheckReason struct {
	Code     string                `json:"code"`
	Provider getproviders.Provider `json:"provider,omitzero"` // zero if it is about none
	Module   string                `json:"module,omitempty"`  // its key; "" if it is about none
	Detail   string                `json:"detail"`            // a sentence without capital and full stop
}

func (r CheckReason) text() string {
	switch {
	case r.Provider != getproviders.Provider{}:
		return fmt.Sprintf("provider %s: %s", r.Provider, r.Detail)
	case r.Module != "":
		return fmt.Sprintf("module %s: %s", r.Module, r.Detail)
	default:
		return r.Detail
	}
}

// line returns the line for a reason.
func (r CheckReason) line() line {
	return line{todo: true, json: r.text(), kind: "check_reason", keys: result.Object{"code", r.Code, "provider?", r.Provider, "module?", r.Module}}
}

// oneLine is text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// packageKey identifies a package.
type packageKey = terminal.Key

func packageOf(o event.Outcome) packageKey {
	return packageKey{Provider: o.Provider, Version: o.Version, Platform: o.Platform}
}

// uniqueWarnings sorts warnings by their detail, and removes duplicates.
func uniqueWarnings(warnings problem.List) problem.List {
	slices.SortStableFunc(warnings, func(a, b *problem.Problem) int { return strings.Compare(a.Detail, b.Detail) })
	return slices.CompactFunc(warnings, explain.SameProblem)
}
