package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
)

// Ordered are problems as they are shown: first those that belong to no file, in the order
// given, then the others by file and position, each of them once.
func Ordered(problems problem.List) problem.List {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	return slices.CompactFunc(sorted, SameProblem)
}

func byPosition(a, b *problem.Problem) int {
	x, y := place(a), place(b)
	return cmp.Or(strings.Compare(x.Filename, y.Filename), x.Start.Byte-y.Start.Byte)
}

// place is where a problem is; those that belong to no file are before all others.
func place(p *problem.Problem) hcl.Range {
	if p.Subject == nil {
		return hcl.Range{Start: hcl.Pos{Byte: -1}}
	}
	return *p.Subject
}

// SameProblem reports whether two problems say the same of the same place.
func SameProblem(a, b *problem.Problem) bool {
	return place(a) == place(b) && a.Severity == b.Severity && a.Summary == b.Summary && a.Detail == b.Detail
}
