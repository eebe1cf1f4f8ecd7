package configs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Problem returns an error about a place in the configuration: a summary, and a
// detail that is made as by fmt.Sprintf.
func Problem(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf(format, args...),
		Subject:  &at,
	}
}

// Warning returns a warning about a place in the configuration.
func Warning(at hcl.Range, summary, format string, args ...any) *hcl.Diagnostic {
	diag := Problem(at, summary, format, args...)
	diag.Severity = hcl.DiagWarning
	return diag
}

// sortDiagnostics orders by file and position; what has no place comes first.
func sortDiagnostics(diags hcl.Diagnostics) {
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
