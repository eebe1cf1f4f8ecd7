package explain

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/must"
)

// broken is a configuration with mistakes.
const broken = `terraform {
  required_providers {
    aaa = { bogus = 1 }
  }
}
`

func TestSnippet(t *testing.T) {
	const src = "a = 1\nterraform {\n  x = {\n    y = 1\n  }\n}\n"
	span := func(from, to string) hcl.Range {
		r := hcl.Range{Filename: "main.tf"}
		pos := func(at int) hcl.Pos {
			before := src[:at]
			return hcl.Pos{Line: 1 + strings.Count(before, "\n"), Column: at - strings.LastIndex(before, "\n"), Byte: at}
		}
		r.Start = pos(strings.Index(src, from))
		r.End = pos(strings.Index(src, to) + len(to))
		return r
	}
	whole := span("x", "  }")
	tests := []struct {
		name             string
		subject          hcl.Range
		context          *hcl.Range
		code, marked, in string
		line             int
	}{
		{"outside of blocks", span("a", "a"), nil, "a = 1", "a", "", 1},
		{"inside a block", span("y", "y"), nil, "    y = 1", "y", "terraform", 4},
		{"over several lines", whole, nil, "  x = {\n    y = 1\n  }", "x = {\n    y = 1\n  }", "terraform", 3},
		{"with more lines than are at fault", span("y", "y"), &whole, "  x = {\n    y = 1\n  }", "y", "terraform", 3},
		{"nothing is marked as one character", hcl.Range{Filename: "main.tf", Start: whole.Start, End: whole.Start}, nil, "  x = {", "x", "terraform", 3},
	}
	for _, tt := range tests {
		got := newSource("main.tf", []byte(src)).cut(&problem.Problem{Subject: &tt.subject, Context: tt.context})
		if !got.Found || got.Code != tt.code || got.StartLine != tt.line || got.Context != tt.in {
			t.Errorf("%s: got %+v, want line %d %q in %q", tt.name, got, tt.line, tt.code, tt.in)
		}
		must.Equal(t, got.Code[got.From:got.To], tt.marked, tt.name)
	}
}

// Of a line of megabytes only the part around the problem is shown, and so large a file isn't parsed again.
func TestSnippet_OfALongLine(t *testing.T) {
	long := "x = {\n" + strings.Repeat("\u00e4", 1<<20) + "!" + strings.Repeat("\u00f6", 1<<20) + "\n}\n"
	at := strings.Index(long, "!")
	source := newSource("main.tf", []byte(long))
	got := source.cut(&problem.Problem{Subject: &hcl.Range{
		Filename: "main.tf", Start: hcl.Pos{Line: 2, Column: 1 << 20, Byte: at}, End: hcl.Pos{Line: 2, Column: 1<<20 + 1, Byte: at + 1},
	}})
	if source.file != nil || !got.Found || len(got.Code) > maxCode || got.StartLine != 2 || got.Code[got.From:got.To] != "!" || !utf8.ValidString(got.Code) {
		t.Errorf("%d bytes, line %d, %q is marked", len(got.Code), got.StartLine, got.Code[got.From:got.To])
	}
	all := hcl.Range{Filename: "main.tf", Start: hcl.InitialPos, End: hcl.Pos{Line: 3, Column: 2, Byte: len(long) - 1}}
	if got := source.cut(&problem.Problem{Subject: &all}); len(got.Code) > maxCode || got.To > len(got.Code) || !strings.HasPrefix(got.Code, "x = {") || got.StartLine != 1 {
		t.Errorf("all of it: %d bytes, line %d, to %d", len(got.Code), got.StartLine, got.To)
	}
}

func TestSnippet_ChangedFile(t *testing.T) {
	got := newSource("main.tf", []byte("short\n")).cut(&problem.Problem{Subject: &hcl.Range{
		Filename: "main.tf", Start: hcl.Pos{Line: 9, Column: 1, Byte: 90}, End: hcl.Pos{Line: 9, Column: 3, Byte: 92},
	}})
	if got.Found {
		t.Errorf("found %+v where there is nothing any more", got)
	}
}

// The time of the JSON parser grows with the square of the depth, and HCL's parser recurses as deep.
func TestSnippet_DeepFilesGoWithoutHeaders(t *testing.T) {
	for opens, closes := range map[string]string{`{"a":`: "}", "[": "]", "!": "", `"${`: `}"`} {
		for levels, parsed := range map[int]bool{10: true, 1001: false} {
			name, text := "main.tf.json", strings.Repeat(opens, levels)+"1"+strings.Repeat(closes, levels)
			if closes != "}" {
				name, text = "main.tf", "a = "+text+"\n"
			}
			must.Equal(t, newSource(name, []byte(text)).file != nil, parsed, opens, levels)
		}
	}
}

// For any range and any file, something is printed.
func FuzzSnippet(f *testing.F) {
	f.Add([]byte(broken), "main.tf", 3, 13, 47, 3, 18, 52)
	f.Add([]byte(`{"a": [}`), "main.tf.json", 1, 2, 1, 1, 3, 2)
	f.Add([]byte("\r\n\r\nx = \xff"), "main.tf", 2, 0, -3, 4, 0, 99)
	f.Add([]byte(""), "main.tf", 1, 1, 0, 1, 1, 0)
	f.Fuzz(func(t *testing.T, src []byte, name string, line, column, at, toLine, toColumn, to int) {
		var out bytes.Buffer
		shown := &Printer{Err: terminal.Stream{Writer: &out, Color: true}, Showing: Showing{ReadFile: func(string) ([]byte, error) { return src, nil }}}
		p := problem.At(hcl.Range{
			Filename: name,
			Start:    hcl.Pos{Line: line, Column: column, Byte: at},
			End:      hcl.Pos{Line: toLine, Column: toColumn, Byte: to},
		}, problem.Error("", "Summary", "Detail"))
		shown.Problems(problem.List{p})
		if out.Len() == 0 {
			t.Error("nothing was printed")
		}
	})
}

func TestSnippet_ProblemsOfOneFileReadItOnce(t *testing.T) {
	reads := 0
	src := Showing{ReadFile: func(string) ([]byte, error) {
		reads++
		return []byte("a = 1\n"), nil
	}}
	for range 3 {
		subject := hcl.Range{Filename: "main.tf", Start: hcl.InitialPos, End: hcl.InitialPos}
		must.Equal(t, src.snippet(&problem.Problem{Subject: &subject}).Code, "a = 1")
	}
	must.Equal(t, reads, 1)
}

func TestSnippet_OfFilesThatAreNotShown(t *testing.T) {
	dir := t.TempDir()
	for name, address := range map[string]string{"repo/.git": "", "repo/a/main.tf": "git::ssh://git@h/r", "repo/a/login.tf": "git::https://u:SEK/RET@h/r", "repo/common.tf": "", "environ": ""} {
		must.Write(t, filepath.Join(dir, name), `source = "`+address+`"`)
	}
	for name, target := range map[string]string{"none.tf": "", "main.tf": "", "login.tf": "", "near.tf": "../common.tf", "far.tf": "../../environ", "absolute.tf": filepath.Join(dir, "environ")} {
		at := filepath.Join(dir, "repo/a", name)
		if target != "" && must.Symlink(target, at) != nil {
			continue // no symlinks here
		}
		src := Showing{ReadFile: os.ReadFile, Dir: filepath.Join(dir, "repo/a")}
		got := src.snippet(&problem.Problem{Subject: &hcl.Range{Filename: at, Start: hcl.InitialPos, End: hcl.InitialPos}})
		must.Equal(t, got.Found, name == "main.tf" || name == "near.tf", name)
	}
}

// TestSnippet_OfFilesElsewhere has files, and whether their lines are shown to who works in repo/a, and in plain/a, which is in no
// repository.
func TestSnippet_OfFilesElsewhere(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Write(t, filepath.Join(dir, "repo/.git"), "")
	must.Write(t, filepath.Join(dir, "repo/sub/.git"), "")
	hidden := new(Hidden)
	hidden.Add(filepath.Join(dir, "private"))

	for name, shown := range map[string][2]bool{
		"repo/a/main.tf":  {true, true},
		"repo/b/main.tf":  {true, true},
		"repo/sub/x.tf":   {true, true}, // a submodule is in the repository
		"plain/a/main.tf": {false, true},
		"plain/b/main.tf": {false, true},
		"private/main.tf": {false, false},
		"repository/x.tf": {false, true},
	} {
		path := filepath.Join(dir, name)
		must.Write(t, path, "a = 1")
		for i, at := range []string{"repo/a", "plain/a"} {
			must.Succeed(t, os.MkdirAll(filepath.Join(dir, at), 0o755))
			src := Showing{ReadFile: os.ReadFile, Dir: filepath.Join(dir, at), Hidden: hidden}
			got := src.snippet(&problem.Problem{Subject: &hcl.Range{Filename: path, Start: hcl.InitialPos, End: hcl.InitialPos}})
			must.Equal(t, got.Found, shown[i], name, at)
		}
	}
}
