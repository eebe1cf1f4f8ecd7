package explain

import (
	"slices"
	"strings"

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
	switch {
	case a.Subject == nil && b.Subject == nil:
		return 0
	case a.Subject == nil:
		return -1
	case b.Subject == nil:
		return 1
	}
	if c := strings.Compare(a.Subject.Filename, b.Subject.Filename); c != 0 {
		return c
	}
	return a.Subject.Start.Byte - b.Subject.Start.Byte
}

func SameProblem(a, b *problem.Problem) bool {
	if a.Subject != nil && b.Subject != nil && *a.Subject != *b.Subject {
		return false
	}
	return (a.Subject == nil) == (b.Subject == nil) && a.Severity == b.Severity &&
		a.Summary == b.Summary && a.Detail == b.Detail
}
