package command

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	mitchellh "github.com/mitchellh/cli"

	"github.com/tfdeps/tfdeps/command/cachecmd"
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/doctorcmd"
	"github.com/tfdeps/tfdeps/command/getcmd"
	"github.com/tfdeps/tfdeps/command/initcmd"
	"github.com/tfdeps/tfdeps/command/policycmd"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/providerscmd"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/servecmd"
	"github.com/tfdeps/tfdeps/command/vendorcmd"
	"github.com/tfdeps/tfdeps/internal/spelling"
)

// dispatch runs the command that the arguments name, or shows help.
//
// Commands implement the interface of the library mitchellh/cli, but dispatch doesn't use its type CLI, because
// that writes help by package text/template, which calls methods by names that are only known at run time.
// The linker of such a program has to keep every exported method of every type: here 9 MB, most of
// which are unused requests of the AWS SDK.
func dispatch(meta *cli.Meta, args []string) int {
	name, rest, help := choose(args)
	for name == "help" {
		name, rest, _ = choose(rest)
		help = true
	}
	found := commandOf(name)
	if found == nil && help && commandsBelow(name) != nil { // a group such as "policy"
		found = &cli.Command{Name: name, Usage: name + " <command>", About: "  A group of commands.", Flags: func() cli.Flags { return nil }}
	}
	switch {
	case name == "" && help:
		fmt.Fprintln(meta.Stdout, usage)
		return 0
	case name == "":
		fmt.Fprintln(meta.Stderr, usage)
		return 1
	case found == nil:
		unknown(meta, name, rest)
		return 1
	}
	given, meant := misspelt(name, rest)
	if slices.Contains(productCommands, meant) {
		unknown(meta, given, rest[1:])
		return 1
	}
	if meant != "" {
		fmt.Fprintf(meta.Stderr, "tfdeps has no command named %q. Did you mean %q?\n", given, meant)
		return 1
	}
	var command mitchellh.Command = adapter{*found, meta, slices.ContainsFunc(args, isWholeHelp)}
	if help {
		fmt.Fprintln(meta.Stdout, command.Help())
		return 0
	}
	return command.Run(rest)
}

// choose returns the command that the arguments name, or "", and the arguments after its name. help says
// whether they have an option for help anywhere before "--".
func choose(args []string) (name string, rest []string, help bool) {
	options, _ := untilDashes(args)
	help = slices.ContainsFunc(options, isHelp)
	at := slices.IndexFunc(options, func(arg string) bool { return arg != "" && isOperand(arg) })
	if at < 0 || strings.Contains(args[at], " ") { // a name of two words is two arguments
		return "", nil, help
	}
	end := at + wordsOf(args[at:])
	return strings.Join(args[at:end], " "), args[end:], help
}

// isOperand reports whether an argument is no option.
func isOperand(arg string) bool { return !strings.HasPrefix(arg, "-") }

// untilDashes splits arguments at "--", because what follows may be for another program.
func untilDashes(args []string) (before, from []string) {
	at := slices.Index(args, "--")
	if at < 0 {
		return args, nil
	}
	return args[:at:at], args[at:]
}

// isHelp reports whether an argument asks for help.
func isHelp(arg string) bool {
	return arg == "-h" || arg == "-help" || arg == "--help" || isWholeHelp(arg)
}

// isWholeHelp reports whether an argument asks for the help with all options.
func isWholeHelp(arg string) bool { return arg == "-help=all" || arg == "--help=all" }

// wordsOf returns how many of the words name a command: the length of the longest name that they begin with, or 1 without any.
func wordsOf(words []string) int {
	count := 1
	for _, name := range names() {
		parts := strings.Fields(name)
		if len(parts) > count && len(parts) <= len(words) && slices.Equal(parts, words[:len(parts)]) {
			count = len(parts)
		}
	}
	return count
}

// commands returns the table of commands. Every run makes it several times, so it has functions that make flags, and not the flags.
func commands() []cli.Command {
	return slices.Concat(
		[]cli.Command{initcmd.Command(), getcmd.Command(), vendorcmd.Command(), doctorcmd.Command(), roots.Command(), policycmd.Command(), versionCommand(), completionCommand()},
		providerscmd.Commands(), cachecmd.Commands(), servecmd.Commands(),
	)
}

// names returns the names of all commands, such as "providers lock".
func names() (all []string) {
	for _, c := range commands() {
		all = append(all, c.Name)
	}
	return all
}

// commandOf returns the command with a name, or nil.
func commandOf(name string) *cli.Command {
	for _, c := range commands() {
		if c.Name == name {
			return &c
		}
	}
	return nil
}

// adapter implements the library's interface for a command.
type adapter struct {
	command cli.Command
	meta    *cli.Meta
	whole   bool // the help has all options
}

func (a adapter) Run(args []string) int { return a.command.Execute(a.meta, args) }

// Help returns the help of a command, and lists its subcommands. It names the product, and the program as it was called.
func (a adapter) Help() string {
	product, first := products.Unversioned(a.meta), ""
	if a.meta.StandIn != nil || products.Of(product).Said {
		first = "  tfdeps does the work of " + product.Name + " here.\n\n"
	}
	text := a.command.Help(a.meta.Names(product), first, a.whole)
	below, longest := commandsBelow(a.command.Name), 0
	for _, c := range below {
		longest = max(longest, len(c.word))
	}
	if len(below) > 0 {
		text += "\n\nSubcommands:"
	}
	for _, c := range below {
		text += fmt.Sprintf("\n    %-*s    %s", longest, c.word, c.what)
	}
	return text
}

func (a adapter) Synopsis() string { return a.command.Synopsis }

// productCommands are the commands of Terraform and OpenTofu that aren't here.
var productCommands = []string{"apply", "console", "destroy", "env", "fmt", "force-unlock", "graph", "import", "login", "logout", "metadata", "modules",
	"output", "plan", "providers schema", "query", "refresh", "show", "stacks", "state", "taint", "test", "untaint", "validate", "workspace"}

// unknown prints that the command doesn't exist, and which one may be meant.
// rest are the arguments after the name.
func unknown(m *cli.Meta, name string, rest []string) {
	w, product := m.Stderr, products.Unversioned(m)
	fmt.Fprintf(w, "tfdeps has no command named %q.\n\n", name)
	meant := name
	if !slices.Contains(productCommands, name) {
		having := namesByWord()
		longer := having[name]
		if meant = ""; longer == nil {
			meant = spelling.Closest(name, slices.Concat(names(), productCommands))
		}
		if meant == "" && longer == nil {
			longer = having[spelling.Closest(name, slices.Sorted(maps.Keys(having)))]
		}
		if longer != nil {
			fmt.Fprintf(w, "Did you mean %s?\n", strings.Join(longer, " or "))
			return
		}
	}
	line := strings.Join(append([]string{meant}, rest...), " ")
	switch {
	case slices.Contains(productCommands, meant):
		if meant != name {
			fmt.Fprintf(w, "Did you mean %q? ", meant)
		}
		fmt.Fprintf(w, "It is a command of %s. Run one of these:\n  %s %s\n  tfdeps -passthrough %s\n", product.Name, product.Program, line, line)
	case meant != "":
		fmt.Fprintf(w, "Did you mean %q?\n", meant)
	default:
		fmt.Fprint(w, "To see its commands, run:\n  tfdeps -help\n")
	}
}

// namesByWord returns the quoted names of several words, by each word: "lock" means "providers lock", and "policy" is no command.
func namesByWord() map[string][]string {
	all := map[string][]string{}
	for _, name := range slices.Sorted(slices.Values(names())) {
		words := strings.Fields(name)
		for _, word := range words {
			if len(words) > 1 {
				all[word] = append(all[word], strconv.Quote(name))
			}
		}
	}
	return all
}

// misspelt returns a name whose last word is misspelt, such as "providers lck", and the
// closest command of tfdeps or the product, such as "providers lock". meant is "" if no command is similar.
func misspelt(name string, rest []string) (given, meant string) {
	if len(rest) == 0 || !isOperand(rest[0]) {
		return "", ""
	}
	var below []string
	for _, other := range slices.Concat(names(), productCommands) {
		if strings.HasPrefix(other, name+" ") {
			below = append(below, other)
		}
	}
	given = name + " " + rest[0]
	return given, spelling.Closest(given, below)
}
