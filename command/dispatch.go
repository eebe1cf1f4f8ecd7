package command

import (
	"fmt"
	"io"
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
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/spelling"
)

// dispatch runs the command that the arguments name, or shows help.
//
// Commands are those of the library for subcommands, but it isn't the library that chooses among them: its type CLI,
// with whichever method, writes help by package text/template, which calls methods by names that are known only when it
// runs. A program that can do that has to keep every exported method of every type that it has: here 9 MB, most of
// which are requests of AWS that are never made.
func dispatch(meta *cli.Meta, args []string) int {
	name, rest, help := choose(args)
	if name == "help" {
		name, rest, _ = choose(rest)
		help = true
	}
	found := commandOf(name)
	switch {
	case name == "" && help:
		fmt.Fprintln(meta.Stdout, usage)
		return 0
	case name == "":
		fmt.Fprintln(meta.Stderr, usage)
		return 1
	case found == nil:
		unknown(meta.Stderr, products.Unversioned(meta), name, rest)
		return 1
	}
	given, meant := misspelt(name, rest)
	if slices.Contains(productCommands, meant) {
		unknown(meta.Stderr, products.Unversioned(meta), given, rest[1:])
		return 1
	}
	if meant != "" {
		fmt.Fprintf(meta.Stderr, "tfdeps has no command named %q. Did you mean %q?\n", given, meant)
		return 1
	}
	var command mitchellh.Command = adapter{*found, meta}
	if help {
		showHelp(meta, *found, slices.ContainsFunc(args, isWholeHelp))
		return 0
	}
	return command.Run(rest)
}

// choose finds the command that the arguments name, "" if there is none, and what is left for it; and
// whether help is asked for, which may be done anywhere before "--".
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

// untilDashes splits arguments at "--": what follows may be for another program.
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

// isWholeHelp reports whether an argument asks for the whole help.
func isWholeHelp(arg string) bool { return arg == "-help=all" || arg == "--help=all" }

// wordsOf returns how many of the words name a command: those of the longest name that they begin with, or 1 if they begin with none.
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

// showHelp shows the help of a command, and the commands below it if it has any.
// It names the product, and the program as it was called.
func showHelp(m *cli.Meta, c cli.Command, whole bool) {
	w, product, help, first := m.Stdout, products.Unversioned(m), c.ShortHelp, ""
	manner := products.Of(product)
	if m.StandIn != nil || manner.Help != nil {
		first = "  It does the work of " + product.Name + " here.\n\n"
	}
	if whole {
		help = c.WholeHelp
	}
	fmt.Fprint(w, explain.Named(strings.NewReplacer(manner.Help...).Replace(help(first)), m.Called()))
	below, longest := commandsBelow(c.Name), 0
	for _, c := range below {
		longest = max(longest, len(c.word))
	}
	if len(below) > 0 {
		fmt.Fprint(w, "\n\nSubcommands:")
	}
	for _, c := range below {
		fmt.Fprintf(w, "\n    %-*s    %s", longest, c.word, c.what)
	}
	fmt.Fprintln(w)
}

// commands is the table of commands. It is made several times in every run of the program, so it has the functions that make options, and no options.
func commands() []cli.Command {
	return slices.Concat(
		[]cli.Command{initcmd.Command(), getcmd.Command(), vendorcmd.Command(), doctorcmd.Command(), roots.Command(), policycmd.Command(), versionCommand(), completionCommand()},
		providerscmd.Commands(), cachecmd.Commands(), servecmd.Commands(),
	)
}

// names are the words of all commands: "providers lock".
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

// adapter is a command as the library for subcommands calls it.
type adapter struct {
	command cli.Command
	meta    *cli.Meta
}

func (a adapter) Run(args []string) int { return a.command.Execute(a.meta, args) }

func (a adapter) Help() string { return a.command.ShortHelp("") }

func (a adapter) Synopsis() string { return a.command.Synopsis }

// productCommands are the commands of Terraform and OpenTofu that aren't here.
var productCommands = []string{"apply", "console", "destroy", "env", "fmt", "force-unlock", "graph", "import", "login", "logout", "metadata", "modules",
	"output", "plan", "providers schema", "query", "refresh", "show", "stacks", "state", "taint", "test", "untaint", "validate", "workspace"}

// unknown says that the command doesn't exist, and which one may be meant.
// Rest is what follows the name.
func unknown(w io.Writer, product getproviders.Product, name string, rest []string) {
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
	ofProduct := slices.Contains(productCommands, meant)
	line := strings.Join(append([]string{meant}, rest...), " ")
	switch {
	case ofProduct:
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

// namesByWord has the names of several words, in quotes, by each of them: who types "lock" means "providers lock", and "policy" is no command.
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

// misspelt returns the name of a command of several words whose last word isn't
// that of any, and what may have been meant: "providers lck", "providers lock". It may be a
// command of the product. meant is "" if nothing is alike.
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
