package explain

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
)

// Similar says which problems people are shown as one: those with the same summary, of which each is
// about a place in a file. The zero value is what Terraform and OpenTofu do.
type Similar struct {
	KeepWarnings bool // warnings aren't shown as one
	JoinErrors   bool // errors are, too
}

// consolidate returns the problems that are left, in order: the first of each group, which says how
// many there are elsewhere.
func (s Similar) consolidate(all problem.List) (left problem.List) {
	type group struct {
		severity hcl.DiagnosticSeverity
		summary  string
	}
	groups := map[group]int{}
	for _, p := range all {
		if s.joins(p) {
			groups[group{p.Severity, p.Summary}]++
		}
	}
	for _, p := range all {
		at := group{p.Severity, p.Summary}
		switch count := groups[at]; {
		case !s.joins(p) || count == 1:
			left = append(left, p)
		case count > 1:
			first := *p
			first.Detail = withMore(p.Detail, strings.ToLower(SeverityName(p.Severity)), count-1)
			left = append(left, &first)
			groups[at] = 0 // the others are told of
		}
	}
	return left
}

func (s Similar) joins(p *problem.Problem) bool {
	switch {
	case p.Subject == nil:
		return false
	case problem.IsWarning(p):
		return !s.KeepWarnings
	}
	return s.JoinErrors && p.Severity == hcl.DiagError
}

// withMore adds to an explanation that there are more problems of a kind.
func withMore(detail, kind string, more int) string {
	text := fmt.Sprintf("(and %d more similar %ss elsewhere)", more, kind)
	if more == 1 {
		text = fmt.Sprintf("(and one more similar %s elsewhere)", kind)
	}
	if detail == "" {
		return text
	}
	return detail + "\n\n" + text
}
