package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		name, in string
		width    int
		want     string
	}{
		{"nothing", "", 10, ""},
		{"what fits", "one two", 7, "one two"},
		{"at the last space that fits", "one two three", 7, "one two\nthree"},
		{"several times", "a b c d e", 3, "a b\nc d\ne"},
		{"not inside a word", "abcdefghij k", 4, "abcdefghij\nk"},
		{"each line for itself", "one two\nthree four", 8, "one two\nthree\nfour"},
		{"not a line that begins with a space", "see:\n  - a very long item", 6, "see:\n  - a very long item"},
		{"empty lines stay", "one\n\ntwo", 5, "one\n\ntwo"},
		{"characters count, not bytes", "äöü äöü", 7, "äöü äöü"},
	}
	for _, tt := range tests {
		must.Equal(t, Wrap(tt.in, tt.width), tt.want, tt.name)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two three", 5)
	f.Add("  item\n\nnext  two", 3)
	f.Add("\xff\xfe x", 1)
	f.Fuzz(func(t *testing.T, text string, width int) {
		got := Wrap(text, width)
		must.Equal(t, strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(text), " "), text, got)
		for _, l := range strings.Split(got, "\n") {
			if utf8.RuneCountInString(l) > width && strings.Contains(l, " ") && !strings.HasPrefix(l, " ") {
				t.Errorf("%q is wider than %d", l, width)
			}
		}
	})
}

func TestPrintable_ReplacesControlCharacters(t *testing.T) {
	for given, want := range map[string]string{
		"plain\ttext\nof two lines": "plain\ttext\nof two lines",
		"\x1b[2Jgone":               "\ufffd[2Jgone",
		"a\u202Ebat.exe":            "a\ufffdbat.exe",
		"größe, גודל":               "größe, גודל",
	} {
		must.Equal(t, Printable(given), want, given)
	}
}
