package explain

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestSimilar_ShowsOneOfEachKind(t *testing.T) {
	t.Parallel()
	at := func(line int, p *problem.Problem) *problem.Problem {
		return problem.At(hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line}}, p)
	}
	all := problem.List{
		problem.Warning("Old", "of no file"),
		problem.Warning("Old", "of no file, either"),
		at(1, problem.Warning("Old", "first")),
		at(2, problem.Error("", "Bad", "")),
		at(3, problem.Warning("Old", "second")),
		at(4, problem.Error("", "Bad", "")),
		at(5, problem.Warning("Other", "alone")),
		at(6, problem.Warning("Old", "third")),
		at(7, problem.Error("", "Old", "is an error")),
	}
	const noFile = "Old: of no file|Old: of no file, either|"
	for _, c := range []struct {
		name    string
		similar Similar
		want    string
	}{
		{"by default", Similar{}, noFile + "Old: first (and 2 more similar warnings elsewhere)|Bad: |Bad: |Other: alone|Old: is an error"},
		{"errors, too", Similar{JoinErrors: true}, noFile + "Old: first (and 2 more similar warnings elsewhere)|" +
			"Bad: (and one more similar error elsewhere)|Other: alone|Old: is an error"},
		{"neither", Similar{KeepWarnings: true}, noFile + "Old: first|Bad: |Old: second|Bad: |Other: alone|Old: third|Old: is an error"},
	} {
		var got []string
		for _, p := range c.similar.consolidate(all) {
			got = append(got, p.Summary+": "+strings.Join(strings.Fields(p.Detail), " "))
		}
		must.EqualSlices(t, got, strings.Split(c.want, "|"), c.name)
	}
	must.Equal(t, all[2].Detail, "first")
}
