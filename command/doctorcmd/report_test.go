package doctorcmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestText_HasNothingThatIsObeyed puts escape sequences and commands of CI services into names of programs and paths.
func TestText_HasNothingThatIsObeyed(t *testing.T) {
	t.Parallel()
	const words = "x\x1b]0;title\x07y\u009d8;;https://z\u009c \u202eabc\u2066 \u0085\u2028 ##vso[task.setvariable]\n::set-output name=x::y"
	x := &examination{Session: sources.New(&cli.Meta{}, getproviders.Terraform(""), false), because: words,
		programs: []shownProgram{{Program: "terraform", Path: "/x", Version: words}}, policies: []policyFile{{Path: words}}}
	text := x.text()
	for _, obeyed := range []string{"\x1b", "\x07", "\u009d", "\u202e", "\u2066", "\u0085", "\u2028", "##vso[", "\n::"} {
		must.NotContain(t, text, obeyed)
	}
	must.Equal(t, strings.Count(text, "\n"), 27, text)
}
