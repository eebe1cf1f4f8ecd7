package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/view/screentest"
)

// A terminal that becomes narrower breaks lines that are on it already.
func TestPainter_FollowsTheWidth(t *testing.T) {
	columns := 40
	var written strings.Builder
	p := painter{out: Stream{Writer: &written, resized: func() (int, int) { return columns, 10 }}}
	p.draw([]string{strings.Repeat("a", 30), "b"})
	columns = 20
	written.Reset()
	p.draw([]string{"c"})
	if got, want := written.String(), "\r\x1b[3Ac\x1b[K\n\x1b[J"; got != want {
		t.Errorf("%q is written, want %q: the first line takes two now", got, want)
	}
}

func TestPainter_CutsLinesToTheWidth(t *testing.T) {
	screen := screentest.New(20, 10)
	p := painter{out: Stream{Writer: screen, Width: 20}}
	p.draw([]string{strings.Repeat("世", 12), strings.Repeat("x", 25)})
	_, _ = p.print([]byte("above\n"))
	fmt.Fprint(screen, "^C") // what a terminal shows of a key
	p.draw([]string{"one"})
	if got, want := screen.Text(), "above\none"; got != want {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
	p.draw(nil)
	for _, shown := range screen.History() {
		for line := range strings.Lines(shown) {
			if n := columnsOf(strings.TrimRight(line, "\n")); n > 19 {
				t.Errorf("%q has %d columns", line, n)
			}
		}
	}
	for _, tt := range []struct{ got, want string }{
		{cutFront("hashicorp/aws", 8), "…orp/aws"}, {cutFront("hashicorp/aws", 13), "hashicorp/aws"}, {cut("hashicorp/aws", 8), "hashico…"}, {pad("世", 4), "世  "},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestBars_ShortNamesSayWhatDiffers(t *testing.T) {
	const name = "tf.example.com/acme/small v1.0.0 for linux_amd64"
	for columns, want := range map[int]string{48: name, 47: "small v1.0.0 for linux_amd64", 27: "small linux_amd64", 12: "small linux…"} {
		if got := cutName(name, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	if got, want := cutName("tf.example.com/acme/small v1.0.0", 12), "…mall v1.0.0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
