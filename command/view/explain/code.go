package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// CodeOf returns the code of a problem for programs: that of its error, else its own. Every error
// has a code, and some warnings.
func CodeOf(p *problem.Problem) string {
	code, otherwise := "", "invalid_configuration"
	switch extra := p.Extra.(type) {
	case problem.Caused:
		code, otherwise = cmp.Or(CodeOfError(extra.Err), extra.Code), "failed"
	case modules.Unlocated:
		code = cmp.Or(CodeOfError(extra.Err), "module_package_failed")
	case modules.Outdated:
		code = "module_not_installed"
	case diagnostic.Code:
		code = string(extra)
	}
	if problem.IsWarning(p) {
		return code
	}
	return cmp.Or(code, otherwise)
}

// CodeOfError returns the code of an error, or "" if that only names the step of an installation.
func CodeOfError(err error) string {
	if code := getproviders.CodeOf(err); !strings.HasPrefix(code, "failed_") {
		return code
	}
	return ""
}

// Ordered returns problems as they are shown: first those that belong to no file, in the order
// given, then the others by file and position, without duplicates.
func Ordered(problems problem.List) problem.List {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	return slices.CompactFunc(sorted, SameProblem)
}

func byPosition(a, b *problem.Problem) int {
	x, y := place(a), place(b)
	return cmp.Or(strings.Compare(x.Filename, y.Filename), x.Start.Byte-y.Start.Byte)
}

// place returns the range of a problem; problems that belong to no file sort first.
func place(p *problem.Problem) hcl.Range {
	if p.Subject == nil {
		return hcl.Range{Start: hcl.Pos{Byte: -1}}
	}
	return *p.Subject
}

// SameProblem reports whether two problems have the same texts, severity and place.
func SameProblem(a, b *problem.Problem) bool {
	return place(a) == place(b) && a.Severity == b.Severity && a.Summary == b.Summary && a.Detail == b.Detail
}
