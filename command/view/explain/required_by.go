package explain

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
)

// whoRequires stands above a list of requirements.
const whoRequires = "The provider is required by:"

// requiredBy says where a provider is asked for, as the end of an explanation;
// "" if that isn't known.
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

// originText says where something was written, and in which module; "" if it isn't known.
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

// boundText is requirementText with what it would lead to by itself.
func boundText(b cause.ConstraintBound) string {
	if b.Newest.IsZero() {
		return requirementText(b.Requirement) + " (there is none)"
	}
	return requirementText(b.Requirement) + " (the newest is " + b.Newest.String() + ")"
}

// conflictText shows every requirement with the newest version that it allows,
// and which ones there is no version for.
func conflictText(sentence string, c cause.Conflict) string {
	every := list(sentence, texts(c.Bounds, boundText))
	switch {
	case len(c.Minimal) == 0 || len(c.Bounds) == 1:
		return every
	case len(c.Minimal) == len(c.Bounds):
		return every + "\n\nNo version satisfies all of these. Without any one of them there would be one."
	case len(c.Minimal) == 1:
		return every + list("This one alone leaves no version:", texts(c.Minimal, boundText))
	default:
		return every + list(fmt.Sprintf("These %d leave no version between them, whatever the others say:", len(c.Minimal)), texts(c.Minimal, boundText))
	}
}

// lockedText shows which requirements are against the locked version, and
// which aren't.
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

// list is a paragraph with items below a sentence; "" without items.
func list(sentence string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "\n\n" + sentence + problem.Items(items)
}

// LegacyProblem explains an address of a form from before Terraform 0.13.
func LegacyProblem(req getproviders.Requirements, p getproviders.Provider) *problem.Problem {
	return problem.Errorf("invalid_address", "Invalid legacy provider address",
		"This configuration or its associated state refers to the unqualified provider %q, an address from "+
			"before Terraform 0.13 that says nothing of where the provider comes from.%s\n\n"+
			"You must complete the Terraform 0.13 upgrade process before upgrading to later versions.",
		p.Type, requiredBy(req, p))
}
