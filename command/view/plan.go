package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache"
)

// InitPlan says what an init would do.
type InitPlan struct {
	Modules   []modules.Planned // to be fetched
	Providers []PlannedProvider // all required ones, in the order of their addresses
	Others    []CheckReason     // other things to do
	// Complete says that all modules are known. Otherwise modules that aren't fetched yet may call others and require providers.
	Complete bool
}

// PlannedProvider is a provider, and what an init would do about it.
type PlannedProvider struct {
	providercache.PlannedFetch                      // all fields but the Selection are only set for a package to fetch; a built-in provider has no version
	Was                        getproviders.Version // locked version; zero if the lock file has no entry
	From                       string               // the source of a package to fetch, in short
	Action                     string               // one of the Plan constants
	Reasons                    []CheckReason
	LeftOut                    getproviders.LeftOut // the versions that a policy excludes
}

// The actions of an InitPlan. These words are stable.
const (
	PlanBuiltIn = "built_in"
	PlanPresent = "present"
	PlanLink    = "link"
	PlanFetch   = "fetch"
)

// IsEmpty reports whether there is nothing to do.
func (p InitPlan) IsEmpty() bool {
	return len(p.Modules)+len(p.Others) == 0 && !slices.ContainsFunc(p.Providers, func(o PlannedProvider) bool {
		return o.Action == PlanFetch || o.Action == PlanLink || len(o.Reasons) > 0
	})
}

// sum says in a line what there is to do. bytes is the size of the archives whose size is known, and unknown the number of the others.
func (p InitPlan) sum(actions map[string]int, bytes int64, unknown int) string {
	size := terminal.Megabytes(bytes)
	if unknown > 0 {
		size = fmt.Sprintf("%s and %d of unknown size", size, unknown)
	}
	var parts terminal.Phrases
	parts.Add(len(p.Modules), "%s to fetch", terminal.Count(len(p.Modules), "module"))
	parts.Add(actions[PlanFetch], "%s to fetch (%s)", terminal.Count(actions[PlanFetch], "provider"), size)
	parts.Add(actions[PlanLink], "%d from the shared cache", actions[PlanLink])
	parts.Add(actions[PlanPresent], "%d in place already", actions[PlanPresent])
	if len(parts) == 0 {
		parts = terminal.Phrases{"changes of records alone"}
	}
	return fmt.Sprintf("Plan: %s. Nothing was changed.", parts)
}

const incompletePlan = "What missing modules require is unknown, so there may be more."

// Planned prints what an init would do: a line and an object for each module, each provider and each other reason, and one at the end.
func (v *Init) Planned(p InitPlan) {
	for _, m := range p.Modules {
		text := moduleText(m)
		v.out.line(line{todo: true, human: "- " + text, json: text, kind: "plan_module", keys: result.Object{
			"key", m.Key, "package", m.Package, "code", m.Code, "version?", m.Version, "installed_version?", m.Was,
		}})
	}
	isEmpty, actions, bytes, unknown := p.IsEmpty(), map[string]int{}, int64(0), 0
	for _, provider := range p.Providers {
		actions[provider.Action]++
		if bytes += provider.Bytes; provider.Action == PlanFetch && provider.Bytes == 0 {
			unknown++
		}
		l := line{todo: true, json: provider.text(v.product), kind: "plan_provider", keys: result.Object{
			"provider", provider.Provider, "action", provider.Action, "version?", provider.Version, "locked_version?", provider.Was, "source?", provider.Source, "location?", provider.Location, "bytes?", provider.Bytes,
			"left_out?", leftOutObjects(provider.LeftOut.Versions),
			"reasons", result.Each(provider.Reasons, func(r CheckReason) result.Object { return result.Object{"code", r.Code, "detail", r.Detail} }),
		}}
		if !isEmpty && (provider.Action != PlanBuiltIn || len(provider.Reasons) > 0) {
			l.human = "- " + l.json + codes(provider.Reasons)
			if len(provider.LeftOut.Versions) > 0 {
				l.human += "\n  left out by policy: " + provider.LeftOut.String()
			}
		}
		v.out.line(l)
	}
	for _, reason := range p.Others {
		l := reason.line()
		l.human = "- " + l.json + codes([]CheckReason{reason})
		v.out.line(l)
	}
	all := line{human: upToDate, json: upToDate, kind: "plan", keys: result.Object{
		"up_to_date", isEmpty, "complete", p.Complete, "modules", len(p.Modules), "fetch", actions[PlanFetch], "link", actions[PlanLink], "present", actions[PlanPresent],
		"bytes", bytes, "unknown_sizes", unknown,
	}}
	if !isEmpty {
		all.json = p.sum(actions, bytes, unknown)
		if all.human = "\n" + all.json; !p.Complete {
			all.human += "\n" + incompletePlan
		}
	}
	v.out.line(all)
}

// codes returns the codes of reasons, in parentheses.
func codes(reasons []CheckReason) string {
	if len(reasons) == 0 {
		return ""
	}
	return " (" + strings.Join(result.Each(reasons, func(r CheckReason) string { return r.Code }), ", ") + ")"
}

func moduleText(m modules.Planned) string {
	text := "module " + m.Key + ": fetch " + m.Package
	if m.Version != "" {
		text += " " + m.Version
	}
	if m.Was != "" && m.Was != m.Version {
		text += ", now " + m.Was
	}
	return fmt.Sprintf("%s (%s)", text, m.Code)
}

func (p PlannedProvider) text(product getproviders.Product) string {
	text := product.Short(p.Provider)
	if !p.Version.IsZero() {
		text += " v" + p.Version.String()
	}
	if !p.Was.IsZero() && p.Was != p.Version {
		text += " in place of the locked v" + p.Was.String()
	}
	switch p.Action {
	case PlanFetch:
		size := "size unknown"
		if p.Bytes > 0 {
			size = terminal.Megabytes(p.Bytes)
		}
		return fmt.Sprintf("%s: fetch from %s, %s", text, p.From, size)
	case PlanLink:
		return text + ": from the shared cache"
	case PlanPresent:
		return text + ": in place already"
	}
	return text + ": built in"
}

const upToDate = "Nothing to do: this directory is initialized."

// Checked prints the reasons why an init would have something to do, or that there are none.
func (v *Init) Checked(reasons []CheckReason) {
	v.answer(reasons, upToDate, "There is something to do for init")
}
