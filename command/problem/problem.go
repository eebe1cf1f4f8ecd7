// Package problem makes errors and warnings for people: what happened, why, and
// what to do about it.
//
//	return problem.Fail("cli_configuration", "Can't search for providers", "%v", err)
//
// Packages below the commands return a [List]. A [Log] collects the problems of a
// command's steps, and says whether the next one may run. Package view prints them.
package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Problem is an error or a warning, perhaps with a place in a file.
type Problem = hcl.Diagnostic

// List is any number of errors and warnings.
type List = hcl.Diagnostics

// Error makes an error that isn't about a place in a file, with a code of docs/troubleshooting.md.
func Error(code, summary, detail string) *Problem {
	return &Problem{Severity: hcl.DiagError, Summary: summary, Detail: detail, Extra: Caused{Code: code}}
}

// Warning makes a warning that isn't about a place in a file.
func Warning(summary, detail string) *Problem {
	return &Problem{Severity: hcl.DiagWarning, Summary: summary, Detail: detail}
}

// Introduction makes a text that is printed before errors. It has no severity.
func Introduction(text string) *Problem { return &Problem{Severity: hcl.DiagInvalid, Summary: text} }

// IsIntroduction reports whether a problem was made by Introduction.
func IsIntroduction(p *Problem) bool { return p.Severity == hcl.DiagInvalid }

// At returns the problem with a place in a file.
func At(place hcl.Range, p *Problem) *Problem {
	placed := *p
	placed.Subject = &place
	return &placed
}

// AsWarnings returns the problems as warnings.
func AsWarnings(problems List) (warnings List) {
	for _, p := range problems {
		softened := *p
		softened.Severity = hcl.DiagWarning
		warnings = append(warnings, &softened)
	}
	return warnings
}

// IsWarning reports whether a command may continue in spite of the problem.
func IsWarning(p *Problem) bool { return p.Severity == hcl.DiagWarning }

// Sentence returns an error's text as a sentence, with a capital and a full stop.
func Sentence(err error) string {
	text := err.Error()
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Unwritten returns the text of an error about a file or a directory that can't be written, with advice
// if this user may not write.
func Unwritten(err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return Sentence(err)
	}
	return Sentence(err) + "\n\nThis user may not write there. An earlier run as another user, such as root in a container, may have made the directory: " +
		"correct its owner or its permissions, or run as the user who owns it."
}

// Items formats a list below a sentence.
func Items(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("\n  - " + text)
	}
	return b.String()
}

// Log collects the problems of a command's steps. A step adds its problems, and returns whether the next one may run.
type Log struct{ All List }

// Add adds problems, and reports whether there is no error so far.
func (l *Log) Add(problems ...*Problem) bool {
	l.All = append(l.All, problems...)
	return !l.All.HasErrors()
}

// Knows reports whether one of the problems has the same texts.
func (l *Log) Knows(p *Problem) bool {
	return slices.ContainsFunc(l.All, func(other *Problem) bool { return other.Summary == p.Summary && other.Detail == p.Detail })
}

// Fail adds an error, and returns false.
func (l *Log) Fail(code, summary, format string, args ...any) bool {
	return l.Add(Errorf(code, summary, format, args...))
}

// Failed and Unsaved are Fail with an error's text as the detail.
func (l *Log) Failed(code, summary string, err error) bool {
	return l.Add(Failed(code, summary, err)...)
}
func (l *Log) Unsaved(code, summary string, err error) bool {
	return l.Add(Unsaved(code, summary, err)...)
}

// Warningf adds a warning.
func (l *Log) Warningf(code, summary, format string, args ...any) {
	l.Add(Warningf(code, summary, format, args...))
}

// Below returns the problems of a directory for a report about several, with the directory's name before their files, or without a file before their details.
func Below(dir string, all List) List {
	told := make(List, len(all))
	for i, p := range all {
		moved := *p
		if told[i] = &moved; p.Subject == nil {
			moved.Detail = dir + ": " + moved.Detail
			continue
		}
		moved.Subject = new(*p.Subject)
		moved.Subject.Filename = filepath.Join(dir, p.Subject.Filename)
	}
	return told
}

// Split returns the warnings and the errors.
func (l *Log) Split() (warnings, errors List) {
	for _, p := range l.All {
		if IsWarning(p) {
			warnings = append(warnings, p)
		} else {
			errors = append(errors, p)
		}
	}
	return warnings, errors
}

// Errorf is [Error] with a detail formatted as by fmt.Sprintf.
func Errorf(code, summary, format string, args ...any) *Problem {
	return Error(code, summary, fmt.Sprintf(format, args...))
}

// Warningf is Errorf for a warning; the code may be "".
func Warningf(code, summary, format string, args ...any) *Problem {
	p := Errorf(code, summary, format, args...)
	p.Severity = hcl.DiagWarning
	return p
}

// Fail returns a list with one error.
func Fail(code, summary, format string, args ...any) List {
	return List{Errorf(code, summary, format, args...)}
}

// Failed is Fail with an error's text as the detail.
func Failed(code, summary string, err error) List { return Fail(code, summary, "%s", Sentence(err)) }

// Unsaved is Failed for a file that can't be written.
func Unsaved(code, summary string, err error) List { return Fail(code, summary, "%s", Unwritten(err)) }

// Warn returns a list with one warning.
func Warn(code, summary, format string, args ...any) List {
	return List{Warningf(code, summary, format, args...)}
}

// Caused is the Extra of a problem with a cause, or with its own code.
type Caused struct {
	Err  error  // may be nil
	Code string // if the error has none
}

// Because returns the problem with its cause. The code of the cause, if it has one, replaces that of the problem.
func Because(err error, p *Problem) *Problem {
	caused := *p
	own, _ := p.Extra.(Caused)
	caused.Extra = Caused{err, own.Code}
	return &caused
}
