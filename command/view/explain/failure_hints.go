package explain

import (
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Explained returns an error's text with the hints of its parts, beginning with a capital.
func (n Names) Explained(err error) string {
	text := n.WithHint(err)
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// WithHint returns an error's text with the hints of its parts, each once.
func (n Names) WithHint(err error) string {
	text, hints := err.Error(), hintsOf(err)
	if locked, ok := errors.AsType[*cause.LockedVersionError](err); ok && locked.Product.Program != "" {
		text += "; must use " + locked.Product.Program + " init -upgrade to allow selection of new versions"
		hints = nil
	}
	for _, hint := range hints {
		text += "\n\nhint: " + hint
	}
	return text + n.remedy(err)
}

// Hint returns the first hint of an error's parts, as the end of a detail.
func (n Names) Hint(err error) string {
	if hints := hintsOf(err); len(hints) > 0 {
		return "\n\nhint: " + hints[0] + n.remedy(err)
	}
	return n.remedy(err)
}

// hintsOf returns the hints of an error and of the errors that it wraps, outer ones first, each once, without those
// that the text of a SourcesError already has.
func hintsOf(err error) (hints []string) {
	_, told := errors.AsType[*getproviders.SourcesError](err)
	for _, part := range wrapped.All(err) {
		hint := ""
		switch e := part.(type) {
		case *hosts.Refusal:
			hint = credentials(e)
		case *getproviders.Fault:
			if !told || e.Kind != getproviders.ErrProviderNotFound {
				hint = e.Hint
			}
		case interface{ Hint() string }:
			hint = e.Hint()
		}
		if hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	if disk.IsFull(err) && !errors.Is(err, getproviders.ErrNoSpace) {
		hints = append(hints, "the disk is full, or your quota is used up: free some room there")
	}
	return hints
}

// credentials returns the hint of a refusal, with the places of tfdeps' credentials.
func credentials(r *hosts.Refusal) string {
	from := "a credentials block or a credentials helper of the CLI configuration"
	block := fmt.Sprintf("a credentials block for %q in the CLI configuration", r.Host.String())
	if variable := hosts.TokenVariable(r.Host); variable != "" {
		from, block = "the environment variable "+variable+", "+from, "the environment variable "+variable+", or into "+block
	}
	switch {
	case r.Advice != "":
		return r.Advice
	case r.Sent:
		return r.Hint() + "; they come from " + from
	default:
		return r.Lead + "put a token into " + block
	}
}

// remedy returns a way to help with tfdeps, as the end of an error's text: a variable that allows more time, or the command that
// records hashes or frees disk space.
func (n Names) remedy(err error) string {
	switch {
	case errors.Is(err, getproviders.ErrLockMismatch):
		return ". If the package is right, record its hashes (-mirror names another source):\n  " + n.Called + " providers lock -from=config"
	case errors.Is(err, hosts.ErrTimeout):
		return ". TF_REGISTRY_CLIENT_TIMEOUT allows more seconds"
	case errors.Is(err, getproviders.ErrNoSpace), disk.IsFull(err):
		return ". This command removes unused packages from the shared cache:\n  " + n.Called + " cache gc"
	}
	return ""
}

// canceled is the problem of an interrupt.
func canceled(what string) *problem.Problem {
	return problem.Error("interrupted", what+" was canceled by an interrupt signal.", "")
}
