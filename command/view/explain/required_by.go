package explain

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
)

// whoRequires is the sentence above a list of requirements.
const whoRequires = "The provider is required by:"

// requiredBy lists where a provider is required, as the end of a detail;
// "" if that is unknown.
func requiredBy(req getproviders.Requirements, p getproviders.Provider) string {
	var items []string
	for _, r := range req[p] {
		switch {
		case r.Pos.File == "":
		case r.Constraints.IsEmpty():
			items = append(items, originText(r.Pos))
		default:
			items = append(items, requirementText(r))
		}
	}
	return list(whoRequires, items)
}

// originText returns file, line and module, or "" if they aren't known.
func originText(o getproviders.Pos) string {
	text := o.File
	if o.Line > 0 {
		text += fmt.Sprintf(":%d", o.Line)
	}
	if o.Module != "" {
		text += " (" + o.Module + ")"
	}
	return text
}

// requirementText is one line about a requirement.
func requirementText(r getproviders.Requirement) string {
	text := r.Constraints.String()
	if r.Constraints.IsEmpty() {
		text = "any version"
	}
	if at := originText(r.Pos); at != "" {
		text = at + ": " + text
	}
	return text
}

// boundText is requirementText with the newest version that the requirement allows by itself.
func boundText(b cause.ConstraintBound) string {
	if b.Newest.IsZero() {
		return requirementText(b.Requirement) + " (no matching version)"
	}
	return requirementText(b.Requirement) + " (the newest is " + b.Newest.String() + ")"
}

// conflictText lists every requirement with the newest version that it allows,
// and those that no version satisfies together.
func conflictText(sentence string, c cause.Conflict) string {
	every := list(sentence, texts(c.Bounds, boundText))
	switch {
	case len(c.Minimal) == 0 || len(c.Bounds) == 1:
		return every
	case len(c.Minimal) == len(c.Bounds):
		return every + "\n\nNo version satisfies all of these. Leave out any one of them, and a version does."
	case len(c.Minimal) == 1:
		return every + list("This one alone allows no version:", texts(c.Minimal, boundText))
	default:
		return every + list(fmt.Sprintf("These %d together allow no version, whatever the others say:", len(c.Minimal)), texts(c.Minimal, boundText))
	}
}

// lockedText lists which requirements forbid the locked version, and
// which allow it.
func lockedText(e *cause.LockedVersionError) string {
	return list(fmt.Sprintf("Version %s is not allowed by:", e.Version), texts(e.Requirements, requirementText)) +
		list("It is allowed by:", texts(e.Others, requirementText))
}

func texts[T any](things []T, text func(T) string) (all []string) {
	for _, thing := range things {
		all = append(all, text(thing))
	}
	return all
}

// list returns a paragraph with items below a sentence, or "" without items.
func list(sentence string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "\n\n" + sentence + problem.Items(items)
}

// LegacyProblem explains an address in the form from before Terraform 0.13.
func LegacyProblem(req getproviders.Requirements, p getproviders.Provider) *problem.Problem {
	return problem.Errorf("invalid_address", "Invalid legacy provider address",
		"This configuration or its associated state refers to the unqualified provider %q, an address from "+
			"before Terraform 0.13 that doesn't say where the provider comes from.%s\n\n"+
			"You must complete the Terraform 0.13 upgrade process before upgrading to later versions.",
		p.Type, requiredBy(req, p))
}
