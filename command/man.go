package command

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
)

// ManPages returns the manual, made from the help of all commands: names of files in section 1, such as
// "tfdeps-init.1", and what is in them.
func ManPages() map[string]string {
	pages := map[string]string{}
	var b strings.Builder
	manHead(&b, "tfdeps", "install what a Terraform or OpenTofu configuration depends on")
	manText(&b, "SYNOPSIS", "tfdeps [global options] <command> [args]")
	_, about, _ := strings.Cut(usage, "\n\n")
	manText(&b, "DESCRIPTION", about)
	pages["tfdeps.1"] = b.String()
	for _, c := range commands() {
		name := "tfdeps-" + strings.ReplaceAll(c.Name, " ", "-")
		pages[name+".1"] = manPage(name, c)
	}
	return pages
}

func manPage(name string, c cli.Command) string {
	var b strings.Builder
	manHead(&b, name, strings.ToLower(c.Synopsis[:1])+c.Synopsis[1:])
	const call = "tfdeps [global options] "
	manText(&b, "SYNOPSIS", call+strings.ReplaceAll(c.Usage, "\n", "\n"+call))
	manText(&b, "DESCRIPTION", c.About)
	var below []string
	for _, command := range commandsBelow(c.Name) {
		below = append(below, fmt.Sprintf("  %-10s %s", command.word, command.what))
	}
	manText(&b, "COMMANDS", strings.Join(below, "\n"))
	manText(&b, "OPTIONS", c.Flags().Text())
	manText(&b, "MORE", c.More)
	for i, e := range c.Examples() {
		if i == 0 {
			b.WriteString(".SH EXAMPLES\n")
		}
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", roff(e[1]), roff(e[0]))
	}
	b.WriteString(".SH SEE ALSO\n.BR tfdeps (1)\n")
	return b.String()
}

func manHead(b *strings.Builder, name, what string) {
	fmt.Fprintf(b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), roff(name), roff(what))
}

// manText writes a section whose lines stay as they are, if it has any.
func manText(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n")
}

// roff escapes a line of text.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
