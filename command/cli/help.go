package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
)

const (
	helpWidth  = 80 // of a line, in columns
	helpIndent = 23 // of the text beside an option
)

// help is a help text that is being written.
type help struct {
	strings.Builder
	explain.Names
}

// usage returns the lines that say how to call the command.
func (c Command) usage(called string) string {
	var b strings.Builder
	head := "Usage:"
	for usage := range strings.SplitSeq(c.Usage, "\n") {
		fmt.Fprintf(&b, "%s %s\n", head, strings.ReplaceAll(terminal.Wrap(called+" [global options] "+usage, helpWidth-len("Usage: ")), "\n", "\n           "))
		head = "      "
	}
	return b.String()
}

// Help returns the help with all options, or, if whole is false and the command has Daily, with these alone, each with its first sentence.
// Its texts have the names, and first is printed below the usage.
func (c Command) Help(names explain.Names, first string, whole bool) string {
	h, flags := &help{Names: names}, c.Flags()
	h.WriteString(c.usage(h.Called) + "\n" + first + h.Expand(c.About) + "\n")
	if c.Daily != nil && !whole {
		h.WriteString("\nOptions:\n\n")
		for _, row := range flags {
			if slices.Contains(c.Daily, row.Name) {
				h.entry("  "+row.usage(row.Name), row.Help+".")
			}
		}
		fmt.Fprintf(h, "\nTo see all options, with examples, run:\n  %s %s -help=all", h.Called, c.Name)
		return h.String()
	}
	if c.Details != "" {
		h.WriteString("\n" + h.Expand(c.Details) + "\n")
	}
	if len(flags) > 0 {
		h.WriteString("\nOptions:\n")
		flags.write(h)
	}
	if c.More != "" {
		h.WriteString("\n" + h.Expand(c.More) + "\n")
	}
	for i, e := range c.Examples {
		if i == 0 {
			h.WriteString("\nExamples:\n")
		}
		fmt.Fprintf(h, "\n  %s\n    %s\n", indented(h.Expand(e[1]), 2), h.Expand(e[0]))
	}
	return strings.TrimSuffix(h.String(), "\n")
}

// Text returns the help of the options.
func (f Flags) Text(names explain.Names) string {
	h := &help{Names: names}
	f.write(h)
	return strings.Trim(h.String(), "\n")
}

// write writes a paragraph for each option, and for each Note one that names its
// options.
func (f Flags) write(h *help) {
	var notes []string
	noted := map[string][]string{}
	group := ""
	for _, row := range f {
		if row.Note == "" {
			if row.group != group {
				group = row.group
				h.WriteString("\n" + group + ":\n")
			}
			row.write(h)
			continue
		}
		if noted[row.Note] == nil {
			notes = append(notes, row.Note)
		}
		noted[row.Note] = append(noted[row.Note], "-"+row.Name)
	}
	for _, note := range notes {
		text := note + ": " + strings.Join(noted[note], ", ") + "."
		h.WriteString("\n  " + indented(text, 2) + "\n")
	}
}

// usage returns what is typed, with one of the option's names.
func (f Flag) usage(name string) string { return "-" + name + f.Sep + f.Arg }

func (f Flag) write(h *help) {
	label, more := "  "+cmp.Or(f.Label, f.usage(f.Name)), f.More
	h.WriteByte('\n')
	switch {
	case f.Choices != nil:
		h.entry(label, f.Help+":")
	case more != "":
		h.entry(label, f.Help+". "+more)
		more = ""
	default:
		h.entry(label, f.Help+".")
	}
	for _, c := range f.Choices {
		h.entry("    "+c[0], c[1])
	}
	if more != "" {
		h.entry("", more)
	}
	if f.Alias != "" {
		h.entry("", "Alias: "+f.usage(f.Alias))
	}
}

// entry writes a label and a text, beside the label or below a long one.
func (h *help) entry(label, text string) {
	if len(label) >= helpIndent-1 {
		h.WriteString(label + "\n")
		label = ""
	}
	fmt.Fprintf(h, "%-*s%s\n", helpIndent, label, indented(h.Expand(text), helpIndent))
}

// indented wraps a text into lines, and indents all but the first. Line breaks
// in the text stay, and lines that begin with a space aren't wrapped.
func indented(text string, indent int) string {
	return strings.ReplaceAll(terminal.Wrap(text, helpWidth-indent), "\n", "\n"+strings.Repeat(" ", indent))
}
