package result

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Dependency is a provider or a module of a directory, with its versions. A zero version is unknown.
type Dependency struct {
	Directory, Kind, Name   string
	Key                     string // of a module
	Locked, Allowed, Newest getproviders.Version
	HeldBy                  []Holder // the constraints and rules that forbid the newest version
}

// Holder is a constraint or a rule of a policy, and its place; an option has no line.
type Holder struct {
	Constraint, File string
	Line             int
	Package          string // of a module that isn't installed: File is the path in it
}

func (h Holder) String() string { return strings.TrimSpace(h.Constraint + " " + h.place()) }

// place returns the place in words.
func (h Holder) place() string {
	text := h.File
	if h.Line > 0 {
		text += fmt.Sprintf(":%d", h.Line)
	}
	if h.Package != "" {
		text += " of " + h.Package
	}
	return text
}

func (h Holder) object() Object {
	return Object{"constraint?", h.Constraint, "package?", h.Package, "file", h.File, "line", h.Line}
}

// HasNewer reports whether a newer version than the locked one is allowed.
func (d Dependency) HasNewer() bool {
	return !d.Locked.IsZero() && d.Allowed.Compare(d.Locked) > 0
}

// Outdated is the report of "outdated" about all dependencies: for people a line for each that isn't at its newest version.
func Outdated(all []Dependency) *Result {
	rows := [][]string{{"directory", "dependency", "locked", "allowed", "newest", "held back by"}}
	for _, d := range all {
		if d.HasNewer() || d.Newest != d.Allowed {
			held := Each(d.HeldBy, Holder.String)
			rows = append(rows, []string{d.Directory, d.Name, shownVersion(d.Locked), shownVersion(d.Allowed), shownVersion(d.Newest), strings.Join(held, ", ")})
		}
	}
	text := Table(rows)
	if len(rows) == 1 {
		text = fmt.Sprintf("Nothing is outdated: %s.\n", terminal.Count(len(all), "dependency"))
	}
	return &Result{text, Object{"dependencies", Each(all, func(d Dependency) Object {
		return Object{"directory", d.Directory, "kind", d.Kind, "name", d.Name, "key?", d.Key, "locked?", d.Locked, "allowed?", d.Allowed, "newest?", d.Newest,
			"outdated", d.HasNewer(), "held_by", Each(d.HeldBy, Holder.object)}
	})}}
}

func shownVersion(v getproviders.Version) string {
	if v.IsZero() {
		return "-"
	}
	return v.String()
}

// Requirer is a place that requires a provider or calls a module.
type Requirer struct {
	Directory, Module string
	Holder
}

// Why is the report of "why": a line for each place.
func Why(found []Requirer) *Result {
	var rows [][]string
	objects := Each(found, func(r Requirer) Object {
		rows = append(rows, []string{r.Directory, r.place(), r.Constraint, r.Module})
		return append(Object{"directory", r.Directory, "module?", r.Module}, r.Holder.object()...)
	})
	return &Result{Table(rows), Object{"required_by", objects}}
}
