package view

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/command/problem"
)

// jsonProblem is a problem in JSON; the order of the keys is Terraform's.
type jsonProblem struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	Range    object `json:"range,omitempty"`
	Snippet  object `json:"snippet,omitempty"`
	Code     string `json:"code,omitempty"` // which Terraform doesn't have
}

func newJSONProblem(p *problem.Problem, source *snippet) jsonProblem {
	out := jsonProblem{Severity: strings.ToLower(severityName(p.Severity)), Summary: p.Summary, Detail: detail(p), Code: codeOf(p)}
	if p.Subject != nil {
		r := visible(*p.Subject)
		out.Range = object{"filename", r.Filename, "start", position(r.Start), "end", position(r.End)}
	}
	if source != nil && source.found {
		out.Snippet = object{
			"context", orNull(source.context), "code", source.code, "start_line", source.startLine,
			"highlight_start_offset", source.from, "highlight_end_offset", source.to, "values", []any{}, // of expressions; nothing here evaluates any
		}
	}
	return out
}

func position(at hcl.Pos) object {
	return object{"line", at.Line, "column", at.Column, "byte", at.Byte}
}
