package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

const belowSource = `package a

func (l *list) below(limit int, name string) bool {
	if name == "" || // a comment
		limit <   1 {
		return false
	}
	return limit < 1
}

func below(limit int) bool { return limit < 2 }
`

func TestMutation_FindsCodeInItsFunction(t *testing.T) {
	for _, c := range []struct {
		entry string // as in list.txt, without "- "
		rule  string
		want  string // a part of the changed source, or of the error
	}{
		{`(*list).below: name == ""`, "never", `if false && (name == "") ||`},
		{`(*list).below: name == "" || limit < 1`, "always", "if true || (name == \"\" || // a comment\n\t\tlimit <   1) {"},
		{`(*list).below: return limit < 1`, "replace: return limit < 7", "return limit < 7\n"},
		{`below: limit < 2`, "never", "{ return false && (limit < 2) }"},
		{`below: return limit`, "replace:", "{  < 2 }"},
		{`(*list).below: limit < 1`, "never", "2 times"},
		{`below: limit < 1`, "never", "0 times"},
		{`above: limit < 1`, "never", "0 times"},
		{`below: limit < 2`, "sometimes", `no rule "sometimes"`},
	} {
		name := filepath.Join(t.TempDir(), "list.txt")
		text := "# A part\ntest ./a Below\nfile a/a.go\n- " + c.entry + "\n+ " + c.rule + "\n= nothing\n"
		must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
		list := must.Get(readList(name))(t)
		must.Len(t, list, 1)

		changed, err := list[0].apply([]byte(belowSource))

		got := string(changed)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: got %s, want %s in it", c.entry, c.rule, got, c.want)
		}
		if list[0].pkg != "./a" || list[0].tests != "Below" || list[0].reason != "nothing" {
			t.Errorf("read %+v", list[0])
		}
	}
}
