package explain

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestShowing_ShowsTheFirstProblems(t *testing.T) {
	problems := func(files, each int, make func(code, summary, format string, args ...any) *problem.Problem, detail string) (all problem.List) {
		for file := range files {
			for line := range each {
				at := hcl.Range{Filename: fmt.Sprintf("f%d.tf", file), Start: hcl.Pos{Line: line + 1, Column: 1, Byte: line}}
				all = append(all, problem.At(at, make("", "Wrong", detail)))
			}
		}
		return all
	}
	few := strings.Repeat("few words ", 10)
	for name, c := range map[string]struct {
		all   problem.List
		shown int
		rest  string
	}{
		"as many as there may be":  {problems(4, 50, problem.Errorf, few), 200, ""},
		"one more in a file":       {problems(2, 51, problem.Errorf, few), 100, "Error: And 2 more"},
		"one more in the run":      {append(problems(4, 50, problem.Errorf, few), problem.Error("", "Wrong", few)), 200, "Error: And 1 more"},
		"warnings":                 {problems(1, 60, problem.Warningf, few), 50, "Warning: And 10 more"},
		"a warning and many words": {problems(4, 50, problem.Errorf, strings.Repeat(few, 150)), 35, "Error: And 165 more"},
	} {
		shown, rest := 0, ""
		new(Showing).Show(c.all, func(p *problem.Problem, _ *Snippet) int {
			if strings.HasPrefix(p.Summary, "And ") {
				rest = SeverityName(p.Severity) + ": " + p.Summary
				return 0
			}
			shown++
			return len(p.Detail)
		})
		must.Equal(t, shown, c.shown, name)
		must.Equal(t, rest, c.rest, name)
	}
	var q Showing
	count := 0
	for range 5 {
		q.Show(problems(1, 45, problem.Errorf, few), func(*problem.Problem, *Snippet) int { count++; return 0 })
	}
	if count != 50+4 { // and the summary of the rest, four times
		t.Errorf("several calls of one run show %d", count)
	}
}

// TestShowing_TextsHaveAnEnd tests messages that quote names of megabytes.
func TestShowing_TextsHaveAnEnd(t *testing.T) {
	name := strings.Repeat("\u00e4", 1<<20)
	p := told(problem.Error("", "No "+name, "The name "+name+" is wrong.\n\nIt has "+strings.Repeat("a b ", 1<<18)))
	if want := "The name " + strings.Repeat("\u00e4", mostQuoted) + "... is wrong.\n\nIt has a b a b"; !strings.HasPrefix(p.Detail, want) ||
		len(p.Detail) > mostDetail+mostQuoted || !strings.HasSuffix(p.Detail, "...") || len(p.Summary) > 3*mostQuoted {
		t.Errorf("%d and %d bytes: %.600q", len(p.Summary), len(p.Detail), p.Detail)
	}
	url := "https://example.com/?signature=" + strings.Repeat("0", 900)
	long := problem.Error("", "No answer", strings.Repeat("a ", 200)+url+" said no.")
	must.Equal(t, told(long).Detail, long.Detail)
}

func TestSnippet_LeavesWhatIsAtFault(t *testing.T) {
	long := strings.Repeat("\u00e4\xff", 300)
	for name, c := range map[string]struct {
		code  string
		lines int
	}{
		"the begin of a line": {"!" + long, 1},
		"its middle":          {"a\n" + long + "!" + long + "\r\nb", 3},
		"its end":             {long + "!", 1},
		"a short line":        {"a ! b\n" + long, 2},
	} {
		at := strings.Index(c.code, "!")
		subject := hcl.Range{Start: hcl.Pos{Line: 1, Byte: at}, End: hcl.Pos{Line: 9, Column: 2, Byte: at + 1}}
		got := newSource("main.tf", []byte(c.code)).cut(&problem.Problem{Subject: &subject})
		must.Equal(t, got.Code[got.From:got.To], "!", name, got.Code)
		must.Equal(t, strings.Count(got.Code, "\n"), c.lines-1, name, got.Code)
		for line := range strings.Lines(got.Code) {
			if utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) > mostQuoted {
				t.Errorf("%s: a line has %d letters", name, utf8.RuneCountInString(line))
			}
		}
	}
	whole := hcl.Range{Start: hcl.InitialPos, End: hcl.Pos{Line: 1, Column: 9, Byte: len(long)}}
	if got := newSource("main.tf", []byte(long)).cut(&problem.Problem{Subject: &whole}); got.From != 0 || got.To != len(got.Code) {
		t.Errorf("all of it: %d to %d of %d", got.From, got.To, len(got.Code))
	}
}

// TestSnippet_HasAnEnd tests a problem about many lines of a file.
func TestSnippet_HasAnEnd(t *testing.T) {
	text := strings.Repeat("a line\n", 10_000)
	whole := hcl.Range{Start: hcl.InitialPos, End: hcl.Pos{Line: 10_000, Column: 2, Byte: len(text) - 1}}
	at := hcl.Range{Start: hcl.Pos{Line: 5_000, Byte: 4_999 * 7}, End: hcl.Pos{Line: 5_000, Column: 7, Byte: 4_999*7 + 6}}
	got := newSource("main.tf", []byte(text)).cut(&problem.Problem{Subject: &at, Context: &whole})
	if got.Code[got.From:got.To] != "a line" || strings.Count(got.Code[:got.From], "\n")+got.StartLine != 5_000 || len(got.Code) > 2*maxCode {
		t.Errorf("line %d, %d bytes, from %d", got.StartLine, len(got.Code), got.From)
	}
	at.Start.Byte, at.End.Byte, whole.End.Line = 8_000, 8_001, 5_000 // of another file, which was there before
	if got = newSource("main.tf", []byte(text)).cut(&problem.Problem{Subject: &at, Context: &whole}); got.To > len(got.Code) {
		t.Errorf("%d to %d of %d bytes are at fault", got.From, got.To, len(got.Code))
	}
}
