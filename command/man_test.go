package command

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestManPages_SayWhatTheHelpSays(t *testing.T) {
	t.Parallel()
	pages := ManPages()
	must.Equal(t, len(pages), len(commands())+1, len(commands()))
	unescape := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "")
	for _, c := range commands() {
		page := unescape.Replace(pages["tfdeps-"+strings.ReplaceAll(c.Name, " ", "-")+".1"])
		parts := []string{strings.Split(c.Usage, "\n")[0], defaultNames().Expand(c.About), defaultNames().Expand(c.Examples[0][0])}
		for _, below := range commandsBelow(c.Name) {
			parts = append(parts, below.what)
		}
		for _, part := range parts {
			must.Contain(t, page, strings.TrimSpace(part), c.Name, part)
		}
		for _, row := range c.Flags() {
			must.Contain(t, page, "-"+row.Name, c.Name, row.Name)
		}
	}
	for name, page := range pages {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, ".") && !strings.HasPrefix(line, ".TH ") && !strings.HasPrefix(line, ".SH ") && !strings.HasPrefix(line, ".BR ") &&
				line != ".nf\n" && line != ".fi\n" && line != ".TP\n" {
				t.Errorf("%s: %q is taken for a request", name, line)
			}
		}
	}
}

// A formatter, if one is installed, reports no problem with the pages.
func TestManPages_CanBeFormatted(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	if err != nil {
		return // the other test has looked at each line
	}
	for name, page := range ManPages() {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		must.Len(t, must.Get(cmd.CombinedOutput())(t), 0, name)
	}
}
