package explain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// Explained is an error's text with what its parts advise, as the beginning of an explanation.
func Explained(err error) string {
	text := WithHint(err)
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// WithHint is an error's text with what its parts advise, each once.
func WithHint(err error) string {
	text := err.Error()
	if locked, ok := errors.AsType[*cause.LockedVersionError](err); ok && locked.Product.Program != "" {
		text = strings.Replace(text, locked.Error(), fmt.Sprintf("%s; must use %s init -upgrade to allow selection of new versions", locked.Error(), locked.Product.Program), 1)
		return withAdvice(text, err)
	}
	for _, hint := range getproviders.HintsOf(err) {
		if !strings.Contains(text, hint) {
			text += "\n\nhint: " + hint
		}
	}
	return withAdvice(text, err)
}

// Named is a text whose commands name the program as it was called; "" is tfdeps itself. Commands of the real program stay.
func Named(text, called string) string {
	if called == "" {
		return text
	}
	return ownCommand().ReplaceAllString(text, called+"$1")
}

var ownCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\btfdeps( (?:\[global|cache|doctor|get|hash|help|init|outdated|policy|providers|roots|serve|vendor|version|why)\b)`)
})

// withAdvice adds to an error's text where this program takes credentials from, and what of it may help.
func withAdvice(text string, err error) string {
	var all []hosts.Hostname
	for _, part := range wrapped.All(err) {
		switch e := part.(type) {
		case *getproviders.Fault:
			all = append(all, e.Host)
		case *hosts.Fault:
			all = append(all, e.Host)
		}
	}
	slices.Sort(all)
	for _, host := range slices.Compact(all) {
		block, from := fmt.Sprintf("a credentials block for %q in the CLI configuration", host.String()), "a credentials block or a credentials helper of the CLI configuration"
		if variable := hosts.TokenVariable(host); variable != "" {
			block = "the environment variable " + variable + ", or into " + block
			from = "the environment variable " + variable + ", " + from
		}
		text = strings.ReplaceAll(text, hosts.MissingAdvice(host), "put a token into "+block)
		text = strings.ReplaceAll(text, hosts.RejectedAdvice(host), hosts.RejectedAdvice(host)+"; they come from "+from)
	}
	return withVariables(text, err)
}

// withVariables adds to an error's text what of this program may help: a variable that allows
// more time, the command that records hashes or makes room.
func withVariables(text string, err error) string {
	switch {
	case errors.Is(err, getproviders.ErrLockMismatch):
		text += ". If all is well, this command records the hashes of the source:\n  tfdeps providers lock"
	case errors.Is(err, hosts.ErrTimeout):
		text += ". TF_REGISTRY_CLIENT_TIMEOUT allows more seconds"
	case errors.Is(err, getproviders.ErrNoSpace), disk.IsFull(err):
		if !errors.Is(err, getproviders.ErrNoSpace) {
			text += "\n\nhint: the disk is full, or your quota is used up: free some room there"
		}
		text += ". This command removes unused packages from the shared cache:\n  tfdeps cache gc"
	}
	return text
}

// canceled is what an interrupt comes to.
func canceled(what string) *problem.Problem {
	return problem.CodedError("interrupted", what+" was canceled by an interrupt signal.", "")
}
