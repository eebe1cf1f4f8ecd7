package modules

import (
	"fmt"
	"strings"

	version "github.com/hashicorp/go-version"
)

// wanted is what a call asks of a version.
type wanted struct {
	text        string
	constraints version.Constraints // none: every release will do
	exact       []*version.Version  // those of terms that name one
}

// parseWanted reads the constraint of a call.
func parseWanted(text string) (wanted, error) {
	want := wanted{text: text}
	if text == "" {
		return want, nil
	}
	var err error
	if want.constraints, err = version.NewConstraint(text); err != nil {
		return wanted{}, fmt.Errorf("%q is no version constraint", text)
	}
	for term := range strings.SplitSeq(text, ",") {
		boundary := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(term), "="))
		if v, err := version.NewVersion(boundary); err == nil { // not with other operators
			want.exact = append(want.exact, v)
		}
	}
	return want, nil
}

// pinned returns the one version that a constraint leaves, if there is no other
// term.
func (w wanted) pinned() (string, bool) {
	if len(w.constraints) != 1 || len(w.exact) != 1 {
		return "", false
	}
	return w.exact[0].String(), true
}

// considers reports whether a version may be chosen at all: a prerelease only
// if it is asked for.
func (w wanted) considers(v *version.Version) bool {
	if v.Prerelease() == "" {
		return true
	}
	for _, exact := range w.exact {
		if exact.String() == v.String() {
			return true
		}
	}
	return false
}

// choose returns the newest version that a call may have. Of those that are
// equally new it is the first.
func (l versionList) choose(module Registry, want wanted) (Choice, error) {
	choice := Choice{Warnings: l.warnings(module)}
	var best, newest, prerelease *version.Version
	for _, v := range l.versions {
		switch {
		case !want.considers(v):
			prerelease = newer(prerelease, v)
			continue
		case want.constraints == nil || want.constraints.Check(v):
			best = newer(best, v)
		}
		newest = newer(newest, v)
	}
	if best == nil {
		return choice, &NoVersionError{
			Module:     module,
			Constraint: want.text,
			Newest:     text(newest),
			Prerelease: text(prerelease),
		}
	}
	choice.Version = best.String()
	return choice, nil
}

// newer returns the newer of two versions, the first if neither is. The first
// may be nil.
func newer(a, b *version.Version) *version.Version {
	if a == nil || b.GreaterThan(a) {
		return b
	}
	return a
}

// text is the version as it is recorded; "" for none.
func text(v *version.Version) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// What a warning repeats of a registry's answer.
const (
	oddVersions = 5
	oddLength   = 64
)

// warnings are about what isn't a version.
func (l versionList) warnings(module Registry) []string {
	if len(l.odd) == 0 {
		return nil
	}
	var shown []string
	for _, odd := range l.odd[:min(len(l.odd), oddVersions)] {
		shown = append(shown, fmt.Sprintf("%.*q", oddLength, odd))
	}
	names := strings.Join(shown, ", ")
	if more := len(l.odd) - len(shown); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("The registry at %s lists versions of %s that aren't versions, and are ignored: %s",
		module.Host, module.Package(), names)}
}
