package view

import "github.com/hashicorp/hcl/v2"

// Problem is an error or a warning: what happened, why and what to do, and
// perhaps the place in a file that it is about.
type Problem = hcl.Diagnostic

// Problems are errors and warnings.
type Problems = hcl.Diagnostics

// NewError makes an error that isn't about a place in a file.
func NewError(summary, detail string) *Problem {
	return &Problem{Severity: hcl.DiagError, Summary: summary, Detail: detail}
}

// NewWarning makes a warning that isn't about a place in a file.
func NewWarning(summary, detail string) *Problem {
	return &Problem{Severity: hcl.DiagWarning, Summary: summary, Detail: detail}
}

// At returns the problem with the place in a file that it is about.
func At(place hcl.Range, p *Problem) *Problem {
	placed := *p
	placed.Subject = &place
	return &placed
}

// AsWarnings makes warnings of problems.
func AsWarnings(problems Problems) (warnings Problems) {
	for _, p := range problems {
		softened := *p
		softened.Severity = hcl.DiagWarning
		warnings = append(warnings, &softened)
	}
	return warnings
}

// IsWarning reports whether a run may go on in spite of the problem.
func IsWarning(p *Problem) bool { return p.Severity == hcl.DiagWarning }
