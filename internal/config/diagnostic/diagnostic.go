// Package diagnostic makes the problems that packages below configs report.
package diagnostic

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Error returns an error at a position in a file: a summary, and a detail formatted as by
// fmt.Sprintf.
func Error(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	diag := Placeless(summary, format, args...)
	diag.Subject = &at
	return diag
}

// Warning is Error for a warning.
func Warning(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	diag := Error(at, summary, format, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// Code is the Extra of a problem with its own code of docs/troubleshooting.md. Problems without one are mistakes in the
// configuration.
type Code string

// Coded returns the problem with a code.
func Coded(code Code, diag *hcl.Diagnostic) *hcl.Diagnostic {
	diag.Extra = code
	return diag
}

// Unreadable returns an error about a file or directory that can't be read. It has no
// range, because there is no source line to show; err names the path.
func Unreadable(summary string, err error) *hcl.Diagnostic {
	return Placeless(summary, "It can't be read: %v.", err)
}

// most is how many problems of a module's files are kept. Users are shown far fewer, and a file may have one in every other byte.
const most = 10_000

// Append adds problems up to a limit. It always adds the first error, because that decides.
func Append(to hcl.Diagnostics, more ...*hcl.Diagnostic) hcl.Diagnostics {
	for _, diag := range more {
		if len(to) < most || diag.Severity == hcl.DiagError && !to.HasErrors() {
			to = append(to, diag)
		}
	}
	return to
}

// Placeless returns an error without a position, with a detail formatted as by fmt.Sprintf.
func Placeless(summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...)}
}

// PlacelessWarning is Placeless for a warning.
func PlacelessWarning(summary, format string, args ...any) *hcl.Diagnostic {
	diag := Placeless(summary, format, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// Sort orders by file and position; problems without a position come first.
func Sort(diags hcl.Diagnostics) {
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
		x, y := subject(a), subject(b)
		return cmp.Or(cmp.Compare(x.Filename, y.Filename), cmp.Compare(x.Start.Byte, y.Start.Byte))
	})
}

func subject(diag *hcl.Diagnostic) hcl.Range {
	if diag.Subject == nil {
		return hcl.Range{}
	}
	return *diag.Subject
}

// Beginning returns the position of a file's beginning.
func Beginning(file string) hcl.Range {
	return hcl.Range{Filename: file, Start: hcl.InitialPos, End: hcl.InitialPos}
}
