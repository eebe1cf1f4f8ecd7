package result

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Outdated is what "outdated" found: all dependencies, those included that are up to date.
type Outdated []Dependency

// Dependency is a provider or a module of a directory, and which versions there are. A version that is zero isn't known.
type Dependency struct {
	Directory, Kind, Name   string
	Key                     string // of a module
	Locked, Allowed, Newest getproviders.Version
	HeldBy                  []Holder // what doesn't allow the newest version
}

// Holder is a constraint or the rule of a policy, and where it is; an option has no line.
type Holder struct {
	Constraint, File string
	Line             int
}

func (h Holder) String() string {
	return strings.TrimSpace(strings.TrimSuffix(fmt.Sprintf("%s %s:%d", h.Constraint, h.File, h.Line), ":0"))
}

func (h Holder) object() Object {
	return Object{"constraint?", h.Constraint, "file", h.File, "line", h.Line}
}

// HasNewer reports whether there is a newer version than the locked one that is allowed.
func (d Dependency) HasNewer() bool {
	return !d.Locked.IsZero() && d.Allowed.Compare(d.Locked) > 0
}

// Text is a line for each dependency that isn't at its newest version.
func (o Outdated) Text() string {
	rows := [][]string{{"directory", "dependency", "locked", "allowed", "newest", "held back by"}}
	for _, d := range o {
		if d.HasNewer() || d.Newest != d.Allowed {
			held := Each(d.HeldBy, Holder.String)
			rows = append(rows, []string{d.Directory, d.Name, shownVersion(d.Locked), shownVersion(d.Allowed), shownVersion(d.Newest), strings.Join(held, ", ")})
		}
	}
	if len(rows) == 1 {
		return fmt.Sprintf("Nothing is outdated: %s.\n", terminal.Count(len(o), "dependency"))
	}
	return Table(rows)
}

func shownVersion(v getproviders.Version) string {
	if v.IsZero() {
		return "-"
	}
	return v.String()
}

// JSON implements Result.
func (o Outdated) JSON() any {
	return Object{"dependencies", Each(o, func(d Dependency) Object {
		return Object{"directory", d.Directory, "kind", d.Kind, "name", d.Name, "key?", d.Key, "locked?", d.Locked, "allowed?", d.Allowed, "newest?", d.Newest,
			"outdated", d.HasNewer(), "held_by", Each(d.HeldBy, Holder.object)}
	})}
}

// Why is what "why" found.
type Why []Requirer

// Requirer is a place that requires a provider or calls a module.
type Requirer struct {
	Directory, Module string
	Holder
}

// Text is a line for each place.
func (w Why) Text() string {
	return Table(Each(w, func(r Requirer) []string {
		return []string{r.Directory, fmt.Sprintf("%s:%d", r.File, r.Line), r.Constraint, r.Module}
	}))
}

// JSON implements Result.
func (w Why) JSON() any {
	return Object{"required_by", Each(w, func(r Requirer) Object {
		return append(Object{"directory", r.Directory, "module?", r.Module}, r.Holder.object()...)
	})}
}
