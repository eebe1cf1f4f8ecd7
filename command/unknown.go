package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
)

// productCommands are the commands of Terraform and OpenTofu that aren't here.
var productCommands = []string{"apply", "console", "destroy", "env", "fmt", "force-unlock", "graph", "import", "login", "logout", "metadata", "modules",
	"output", "plan", "providers schema", "query", "refresh", "show", "stacks", "state", "taint", "test", "untaint", "validate", "workspace"}

// unknown explains that there is no such command, and what may have been meant.
// Rest is what follows the name.
func unknown(w io.Writer, product getproviders.Product, name string, rest []string) {
	fmt.Fprintf(w, "tfdeps has no command named %q.\n\n", name)
	meant := name
	if !slices.Contains(productCommands, name) {
		longer := endingIn(name)
		if meant = ""; longer == nil {
			meant = cli.Closest(name, slices.Concat(names(), productCommands))
		}
		if meant == "" && longer == nil {
			longer = endingIn(cli.Closest(name, lastWords()))
		}
		if longer != nil {
			fmt.Fprintf(w, "Did you mean %s?\n", strings.Join(longer, " or "))
			return
		}
	}
	ofProduct := slices.Contains(productCommands, meant)
	line := strings.Join(append([]string{meant}, rest...), " ")
	switch {
	case ofProduct && meant == name:
		fmt.Fprintf(w, "It is a command of %s. Run one of these:\n  %s %s\n  tfdeps -passthrough %s\n", product.Name, product.Program, line, line)
	case ofProduct:
		fmt.Fprintf(w, "Did you mean %q? It is a command of %s. Run one of these:\n  %s %s\n  tfdeps -passthrough %s\n",
			meant, product.Name, product.Program, line, line)
	case meant != "":
		fmt.Fprintf(w, "Did you mean %q?\n", meant)
	default:
		fmt.Fprint(w, "To see its commands, run:\n  tfdeps -help\n")
	}
}

// endingIn returns the names of several words whose last word is the given one, in quotes: who types "lock" means "providers lock".
func endingIn(last string) (quoted []string) {
	for _, name := range names() {
		if last != "" && strings.HasSuffix(name, " "+last) {
			quoted = append(quoted, strconv.Quote(name))
		}
	}
	slices.Sort(quoted)
	return quoted
}

// lastWords are those of names of several words.
func lastWords() (last []string) {
	for _, name := range names() {
		if i := strings.LastIndexByte(name, ' '); i >= 0 {
			last = append(last, name[i+1:])
		}
	}
	return last
}

// misspelt returns the name of a command of several words whose last word isn't
// that of any, and what may have been meant: "providers lck", "providers lock". It may be a
// command of the product. meant is "" if nothing is alike.
func misspelt(name string, rest []string) (given, meant string) {
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return "", ""
	}
	var below []string
	for _, other := range slices.Concat(names(), productCommands) {
		if strings.HasPrefix(other, name+" ") {
			below = append(below, other)
		}
	}
	given = name + " " + rest[0]
	return given, cli.Closest(given, below)
}
