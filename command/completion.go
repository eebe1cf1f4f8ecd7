package command

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cachecmd"
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// completionOptions are the parsed arguments of completion.
type completionOptions struct{ line string }

func (o *completionOptions) flags() cli.Flags {
	return cli.Flags{cli.Text("line=TEXT", &o.line, "Print completions of this command line, one per line", "The scripts call this.")}
}

// shells are the shells that have a script.
var shells = []string{"bash", "fish", "powershell", "zsh"}

// completionCommand prints scripts by which shells complete commands, options, their values, providers and platforms.
func completionCommand() cli.Command {
	return cli.Command{Name: "completion", Synopsis: "Print a completion script for a shell", Run: runCompletion, Lines: true,
		Usage: "completion [options] bash|fish|powershell|zsh", Flags: new(completionOptions).flags,
		About: `  Prints a script for a shell. With it, the Tab key completes commands, options
  and their values, and the providers and platforms of the lock file and the
  shared cache. No request is sent.`,
		Examples: [][2]string{
			{"source <(tfdeps completion bash)", "In ~/.bashrc: complete commands in bash."},
			{"tfdeps completion powershell | Out-String | Invoke-Expression", "In $$PROFILE: complete commands in PowerShell."},
			{`tfdeps completion zsh > "$${fpath[1]}/_tfdeps"`, "Install the completion for zsh."},
			{"tfdeps completion fish > ~/.config/fish/completions/tfdeps.fish", "Install the completion for fish."},
		},
	}
}

func runCompletion(m *cli.Meta, args []string) (int, error) {
	var o completionOptions
	given, err := o.flags().Mixed(args, m.Env)
	if err != nil {
		return 0, err
	}
	if len(given.Operands) != 1 || !slices.Contains(shells, given.Operands[0]) {
		return 0, cli.Misusedf("completion needs the name of a shell: %s", strings.Join(shells, ", "))
	}
	if o.line == "" {
		fmt.Fprint(m.Stdout, completionScripts[given.Operands[0]])
	} else {
		writeCandidates(m.Stdout, given.Operands[0], candidates(m, o.line))
	}
	return 0, nil
}

// candidate is a possible completion of a word.
type candidate struct{ word, what string }

// writeCandidates writes a candidate in each line, with its description behind it for shells that show one.
func writeCandidates(w io.Writer, shell string, all []candidate) {
	for _, c := range all {
		switch {
		case shell == "fish" && c.what != "":
			fmt.Fprintf(w, "%s\t%s\n", c.word, c.what)
		case shell == "zsh" && c.what != "":
			fmt.Fprintf(w, "%s:%s\n", strings.ReplaceAll(c.word, ":", `\:`), c.what)
		default:
			fmt.Fprintln(w, c.word)
		}
	}
}

// candidates returns the possible completions of a command line's last word.
func candidates(m *cli.Meta, line string) []candidate {
	words := strings.Fields(line)
	last := ""
	if len(words) > 1 && !strings.HasSuffix(line, " ") {
		last = words[len(words)-1]
		words = words[:len(words)-1]
	}
	var all []candidate
	name, rest, _ := choose(words[min(1, len(words)):])
	if name == "help" {
		name, rest, _ = choose(rest)
	}
	below := commandsBelow(name)
	option, _, valued := strings.Cut(last, "=")
	switch {
	case valued:
		all = valuesOf(m, name, option)
	case strings.HasPrefix(last, "-"):
		all = optionsOf(name)
	case name == "", len(below) > 0 && !slices.ContainsFunc(rest, isOperand):
		all = below
	default:
		all = operandsOf(m, name)
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.word, last) })
}

// commandsBelow returns the words that can follow a command's name, or the first words of all commands for "". Some, such as "policy", are no command by themselves.
func commandsBelow(name string) (all []candidate) {
	begin := ""
	if name != "" {
		begin = name + " "
	}
	for _, c := range commands() {
		rest, ok := strings.CutPrefix(c.Name, begin)
		word, _, longer := strings.Cut(rest, " ")
		if ok && word != "" && (!longer || commandOf(begin+word) == nil) {
			all = append(all, candidate{word, c.Synopsis})
		}
	}
	if name == "" {
		all = append(all, candidate{"help", "Show help"})
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return all
}

func flagsOf(name string) cli.Flags {
	if c := commandOf(name); c != nil {
		return c.Flags()
	}
	return nil
}

func optionsOf(name string) (all []candidate) {
	if name == "" {
		return []candidate{{"-chdir=", "Switch to a directory first"}, {"-help", "Show help"}, {"-passthrough", "Pass other commands on to the real program"}, {"-version", "Show versions"}}
	}
	for _, row := range flagsOf(name) {
		word := "-" + row.Name
		if row.Sep == "=" && row.Arg != "false" {
			word += "="
		}
		all = append(all, candidate{word, defaultNames().Expand(row.Help)})
	}
	return append(all, candidate{"-help", "Show help"}, candidate{"-help=all", "Show help with all options"})
}

// valuesOf returns the values of an option, each after the option.
func valuesOf(m *cli.Meta, name, option string) []candidate {
	var values []string
	for _, row := range flagsOf(name) {
		if "-"+row.Name != option {
			continue
		}
		for _, choice := range row.Choices {
			values = append(values, choice[0])
		}
		if row.Literal && row.Arg != "" {
			values = append(values, row.Arg)
		}
		switch row.Name {
		case "platform":
			values = append(values, knownPlatforms(m)...)
		case "with":
			values = append(values, slices.Sorted(maps.Keys(products.Followed()))...)
		}
	}
	return words(option+"=", values...)
}

// operandsOf returns the possible operands of commands that take providers or a shell's name.
func operandsOf(m *cli.Meta, name string) []candidate {
	switch name {
	case "completion":
		return words("", shells...)
	case "cache add", "cache clean", "providers lock":
		product := products.Unversioned(m)
		return words("", result.Each(knownProviders(m, product), product.Short)...)
	}
	return nil
}

// words makes candidates without descriptions.
func words(before string, words ...string) []candidate {
	return result.Each(words, func(word string) candidate { return candidate{before + word, ""} })
}

// knownProviders returns the providers of the lock file and the shared cache.
func knownProviders(m *cli.Meta, product getproviders.Product) (all []getproviders.Provider) {
	locks, _ := depsfile.Load(depsfile.FileName, product)
	for _, lock := range locks.All() {
		all = append(all, lock.Provider)
	}
	cached, _ := cachecmd.Known(m)
	all = append(all, cached...)
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// knownPlatforms returns the current platform, those of the shared cache, and those for which most providers are published.
func knownPlatforms(m *cli.Meta) []string {
	all := []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", getproviders.CurrentPlatform().String()}
	_, cached := cachecmd.Known(m)
	all = append(all, result.Each(cached, getproviders.Platform.String)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// completionScripts are the scripts by shell.
var completionScripts = map[string]string{
	"bash": `# bash completion for tfdeps. In ~/.bashrc: source <(tfdeps completion bash)
_tfdeps() {
    local line="${COMP_LINE:0:COMP_POINT}" IFS=$'\n' word prefix
    word="${line##*[[:space:]]}"
    prefix="${word%"${word##*[=:]}"}" # bash splits words at "=" and ":"
    COMPREPLY=($(tfdeps completion -line="$line" bash 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -F _tfdeps tfdeps
`,
	"fish": `# fish completion for tfdeps. Save it as ~/.config/fish/completions/tfdeps.fish
complete -c tfdeps -f -a '(tfdeps completion -line=(commandline -cp) fish 2>/dev/null)'
`,
	"powershell": `# PowerShell completion for tfdeps. In $PROFILE: tfdeps completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName tfdeps, tfdeps.exe -ScriptBlock {
    param($word, $ast, $position)
    $line = $ast.ToString().PadRight($position - $ast.Extent.StartOffset).Substring(0, $position - $ast.Extent.StartOffset)
    tfdeps completion "-line=$line" powershell 2>$null | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
`,
	"zsh": `#compdef tfdeps
# zsh completion for tfdeps. Save it as _tfdeps in a directory of $fpath
_tfdeps() {
    local -a found valued # these end in "=": a value follows, no space
    found=("${(@f)$(tfdeps completion -line="${(j: :)words[1,CURRENT]}" zsh 2>/dev/null)}")
    [[ -n ${found[1]} ]] || { _files; return; }
    valued=("${(@M)found:#*=(|:*)}")
    found=("${(@)found:#*=(|:*)}")
    _describe tfdeps found -- valued -S ''
}
if [[ $funcstack[1] == _tfdeps ]]; then _tfdeps "$@"; else compdef _tfdeps tfdeps; fi
`,
}
