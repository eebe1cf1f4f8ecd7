package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache"
)

// InitPlan is what an init would do.
type InitPlan struct {
	Modules   []modules.Planned // to be fetched
	Providers []PlannedProvider // all that are required, in the order of their addresses
	Others    []CheckReason     // what else there is to do
	// Complete says that all modules are known: else those to be fetched may call others, and require providers.
	Complete bool
}

// PlannedProvider is a provider, and what would become of it.
type PlannedProvider struct {
	providercache.PlannedFetch                      // all but the Selection is of a package to fetch; a built-in provider has no version
	Was                        getproviders.Version // that of the lock file; zero: there is no entry
	Action                     string               // one of the Plan constants
	Reasons                    []CheckReason
	LeftOut                    getproviders.LeftOut // by a policy
}

// What would become of a provider. The words don't change.
const (
	PlanBuiltIn = "built_in"
	PlanPresent = "present"
	PlanLink    = "link"
	PlanFetch   = "fetch"
)

// IsEmpty reports whether there is nothing to do.
func (p InitPlan) IsEmpty() bool {
	sum := p.sum()
	return sum.modules+sum.fetch+sum.link+sum.reasons == 0
}

// planSum counts what is in a plan.
type planSum struct {
	modules, fetch, link, present, reasons int
	bytes                                  int64 // of the archives whose size is known
	unknown                                int   // archives whose size isn't
}

func (p InitPlan) sum() planSum {
	s := planSum{modules: len(p.Modules), reasons: len(p.Others)}
	for _, provider := range p.Providers {
		s.reasons += len(provider.Reasons)
		switch provider.Action {
		case PlanPresent:
			s.present++
		case PlanLink:
			s.link++
		case PlanFetch:
			s.fetch++
			if s.bytes += provider.Bytes; provider.Bytes == 0 {
				s.unknown++
			}
		}
	}
	return s
}

// text says what there is to do, in a line.
func (s planSum) text() string {
	size := terminal.Megabytes(s.bytes)
	if s.unknown > 0 {
		size = fmt.Sprintf("%s and %d of unknown size", size, s.unknown)
	}
	var parts terminal.Phrases
	parts.Add(s.modules, "%s to fetch", terminal.Count(s.modules, "module"))
	parts.Add(s.fetch, "%s to fetch (%s)", terminal.Count(s.fetch, "provider"), size)
	parts.Add(s.link, "%d from the shared cache", s.link)
	parts.Add(s.present, "%d in place already", s.present)
	if len(parts) == 0 {
		parts = terminal.Phrases{"changes of records alone"}
	}
	return fmt.Sprintf("Plan: %s. Nothing was changed.", parts)
}

const incompletePlan = "What modules require that aren't here yet is unknown, so there may be more."

// Planned tells what an init would do: a line and an object for each module, each provider and each other reason, and one for all.
func (v *Init) Planned(p InitPlan) {
	for _, m := range p.Modules {
		text := moduleText(m)
		v.out.line(line{human: "- " + text, json: text, kind: "plan_module", keys: result.Object{
			"key", m.Key, "package", m.Package, "code", m.Code, "version?", m.Version, "installed_version?", m.Was,
		}})
	}
	for _, provider := range p.Providers {
		l := line{json: provider.text(v.product), kind: "plan_provider", keys: result.Object{
			"provider", provider.Provider, "action", provider.Action, "version?", provider.Version, "locked_version?", provider.Was, "source?", provider.Source, "location?", provider.Location, "bytes?", provider.Bytes,
			"left_out?", leftOutObjects(provider.LeftOut.Versions),
			"reasons", result.Each(provider.Reasons, func(r CheckReason) result.Object { return result.Object{"code", r.Code, "detail", r.Detail} }),
		}}
		if !p.IsEmpty() && (provider.Action != PlanBuiltIn || len(provider.Reasons) > 0) {
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
	sum := p.sum()
	all := line{human: upToDate, json: upToDate, kind: "plan", keys: result.Object{
		"up_to_date", p.IsEmpty(), "complete", p.Complete, "modules", sum.modules, "fetch", sum.fetch, "link", sum.link, "present", sum.present,
		"bytes", sum.bytes, "unknown_sizes", sum.unknown,
	}}
	if !p.IsEmpty() {
		all.json = sum.text()
		if all.human = "\n" + all.json; !p.Complete {
			all.human += "\n" + incompletePlan
		}
	}
	v.out.line(all)
}

// codes are those of reasons, in parentheses.
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
		return fmt.Sprintf("%s: fetch from %s, %s", text, nameOfSource(p.Source), size)
	case PlanLink:
		return text + ": from the shared cache"
	case PlanPresent:
		return text + ": in place already"
	}
	return text + ": built in"
}

const upToDate = "Nothing to do: this directory is initialized."

// Checked answers whether an init would have something to do: without reasons,
// it wouldn't.
func (v *Init) Checked(reasons []CheckReason) {
	v.answer(reasons, upToDate, "There is something to do for init:")
}
