package result

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
)

// Problem is a problem in JSON; the order of the keys is Terraform's.
type Problem struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	Range    Object `json:"range,omitempty"`
	Snippet  Object `json:"snippet,omitempty"`
	Code     string `json:"code,omitempty"` // which Terraform doesn't have
}

// NewProblem describes a problem for programs; source may be nil. Called is as in [explain.Named].
func NewProblem(p *problem.Problem, source *explain.Snippet, called string) Problem {
	out := Problem{Severity: strings.ToLower(explain.SeverityName(p.Severity)), Summary: p.Summary, Detail: explain.Detail(p, called), Code: explain.CodeOf(p)}
	if p.Subject != nil {
		r := explain.Visible(*p.Subject)
		out.Range = Object{"filename", r.Filename, "start", position(r.Start), "end", position(r.End)}
	}
	if source != nil && source.Found {
		out.Snippet = Object{
			"context|null", source.Context, "code", source.Code, "start_line", source.StartLine,
			"highlight_start_offset", source.From, "highlight_end_offset", source.To, "values", []any{}, // of expressions; nothing here evaluates any
		}
	}
	return out
}

func position(at hcl.Pos) Object {
	return Object{"line", at.Line, "column", at.Column, "byte", at.Byte}
}
