package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
)

const (
	helpWidth  = 80 // of a line, in columns
	helpIndent = 23 // of the text beside an option
)

// usage returns the lines that say how to call the command.
func (c Command) usage() string {
	var b strings.Builder
	for i, usage := range strings.Split(c.Usage, "\n") {
		head := "Usage:"
		if i > 0 {
			head = "      "
		}
		fmt.Fprintf(&b, "%s %s\n", head, strings.ReplaceAll(terminal.Wrap("tfdeps [global options] "+usage, helpWidth-len("Usage: ")), "\n", "\n           "))
	}
	return b.String()
}

// ShortHelp returns the help with the daily options, each with its first sentence, and with the command for the whole help.
// first is printed below the usage.
func (c Command) ShortHelp(first string) string {
	if c.Daily == nil {
		return c.WholeHelp(first)
	}
	var b strings.Builder
	b.WriteString(c.usage() + "\n" + first + c.About + "\n\nOptions:\n\n")
	for _, row := range c.Flags() {
		if slices.Contains(c.Daily, row.Name) {
			entry(&b, "  "+row.usage(row.Name), row.Sentence()+".")
		}
	}
	fmt.Fprintf(&b, "\nTo see all options, with examples, run:\n  tfdeps %s -help=all", c.Name)
	return b.String()
}

// WholeHelp returns what "tfdeps COMMAND -help=all" prints; first is printed below the usage.
func (c Command) WholeHelp(first string) string {
	var b strings.Builder
	b.WriteString(c.usage() + "\n" + first + c.About + "\n")
	if c.Details != "" {
		b.WriteString("\n" + c.Details + "\n")
	}
	if flags := c.Flags(); len(flags) > 0 {
		b.WriteString("\nOptions:\n")
		flags.write(&b)
	}
	if c.More != "" {
		b.WriteString("\n" + c.More + "\n")
	}
	for i, e := range c.Examples() {
		if i == 0 {
			b.WriteString("\nExamples:\n")
		}
		fmt.Fprintf(&b, "\n  %s\n    %s\n", indented(e[1], 2), e[0])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Text returns the help of the options.
func (f Flags) Text() string {
	var b strings.Builder
	f.write(&b)
	return strings.Trim(b.String(), "\n")
}

// write writes a paragraph for each option, and for each Note one that names its
// options.
func (f Flags) write(b *strings.Builder) {
	var notes []string
	noted := map[string][]string{}
	group := ""
	for _, row := range f {
		if row.Note == "" {
			if row.group != group {
				group = row.group
				b.WriteString("\n" + group + ":\n")
			}
			row.write(b)
			continue
		}
		if noted[row.Note] == nil {
			notes = append(notes, row.Note)
		}
		noted[row.Note] = append(noted[row.Note], "-"+row.Name)
	}
	for _, note := range notes {
		text := note + ": " + strings.Join(noted[note], ", ") + "."
		b.WriteString("\n  " + indented(text, 2) + "\n")
	}
}

// Sentence returns the first sentence of the Help, without its full stop.
func (f Flag) Sentence() string {
	first, _, _ := strings.Cut(f.Help, ". ")
	return strings.TrimSuffix(first, ".")
}

// usage returns what is typed, with one of the option's names.
func (f Flag) usage(name string) string { return "-" + name + f.Sep + f.Arg }

func (f Flag) write(b *strings.Builder) {
	label := f.Label
	if label == "" {
		label = f.usage(f.Name)
	}
	b.WriteByte('\n')
	entry(b, "  "+label, f.Help)
	for _, c := range f.Choices {
		entry(b, "    "+c[0], c[1])
	}
	if f.More != "" {
		entry(b, "", f.More)
	}
	if f.Alias != "" {
		entry(b, "", "Alias: "+f.usage(f.Alias))
	}
}

// entry writes a label and a text, beside the label or below a long one.
func entry(b *strings.Builder, label, text string) {
	if len(label) >= helpIndent-1 {
		b.WriteString(label + "\n")
		label = ""
	}
	fmt.Fprintf(b, "%-*s%s\n", helpIndent, label, indented(text, helpIndent))
}

// indented wraps a text into lines, and indents all but the first. Line breaks
// in the text stay, and lines that begin with a space aren't wrapped.
func indented(text string, indent int) string {
	return strings.ReplaceAll(terminal.Wrap(text, helpWidth-indent), "\n", "\n"+strings.Repeat(" ", indent))
}
