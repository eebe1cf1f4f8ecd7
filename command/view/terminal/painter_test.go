package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/view/screentest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// A terminal that becomes narrower wraps its lines.
func TestPainter_FollowsTheWidth(t *testing.T) {
	columns := 40
	var written strings.Builder
	p := painter{out: Stream{Writer: &written, resized: func() (int, int) { return columns, 10 }}}
	p.draw([]string{strings.Repeat("a", 30), "b"})
	columns = 20
	written.Reset()
	p.draw([]string{"c"})
	must.Equal(t, written.String(), "\r\x1b[3Ac\x1b[K\n\x1b[J")
}

func TestPainter_CutsLinesToTheWidth(t *testing.T) {
	screen := screentest.New(20, 10)
	p := painter{out: Stream{Writer: screen, Width: 20}}
	p.draw([]string{strings.Repeat("世", 12), strings.Repeat("x", 25)})
	_, _ = p.print([]byte("above\n"), p.drawn)
	fmt.Fprint(screen, "^C") // the terminal's echo of a key
	p.draw([]string{"one"})
	must.Equal(t, screen.Text(), "above\none")
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
		must.Equal(t, tt.got, tt.want)
	}
}

func TestBars_ShortNamesSayWhatDiffers(t *testing.T) {
	const name = "tf.example.com/acme/small v1.0.0 for linux_amd64"
	for columns, want := range map[int]string{48: name, 47: "small v1.0.0 for linux_amd64", 27: "small linux_amd64", 12: "small linux…"} {
		must.Equal(t, cutName(row{name: name, short: []string{"small v1.0.0 for linux_amd64", "small linux_amd64"}}, columns), want, columns)
	}
	must.Equal(t, cutName(row{name: "tf.example.com/acme/small v1.0.0"}, 12), "…mall v1.0.0")
}
