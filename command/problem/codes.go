package problem

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Errorf is [Error] with a detail as fmt.Sprintf makes it.
func Errorf(code, summary, format string, args ...any) *Problem {
	return Error(code, summary, fmt.Sprintf(format, args...))
}

// Warningf is Errorf for a warning; with the code "" it has none.
func Warningf(code, summary, format string, args ...any) *Problem {
	p := Errorf(code, summary, format, args...)
	p.Severity = hcl.DiagWarning
	return p
}

// Fail returns an error that stands alone.
func Fail(code, summary, format string, args ...any) List {
	return List{Errorf(code, summary, format, args...)}
}

// Failed is Fail with an error's text as the detail.
func Failed(code, summary string, err error) List { return Fail(code, summary, "%s", Sentence(err)) }

// Unsaved is Failed for what can't be written.
func Unsaved(code, summary string, err error) List { return Fail(code, summary, "%s", Unwritten(err)) }

// Warn returns a warning that stands alone.
func Warn(code, summary, format string, args ...any) List {
	return List{Warningf(code, summary, format, args...)}
}

// Caused is the Extra of a problem with an error behind it, or with a code of its own.
type Caused struct {
	Err  error  // nil: there is none
	Code string // if the error has none
}

// Because returns the problem with the error that is behind it, whose code it gets if the error has one.
func Because(err error, p *Problem) *Problem {
	caused := *p
	own, _ := p.Extra.(Caused)
	caused.Extra = Caused{err, own.Code}
	return &caused
}
