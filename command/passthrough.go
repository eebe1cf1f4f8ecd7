package command

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
)

// passthroughVariable leaves other commands to the real program, as -passthrough.
const passthroughVariable = "TFDEPS_PASSTHROUGH"

// takeStandIn finds out whether tfdeps was called as another program: by its own name,
// the first of the arguments, which may be a link's; by -passthrough before the
// command, which is taken out of the arguments; or by TFDEPS_PASSTHROUGH. It
// returns the arguments without the name; the StandIn is nil if there is none.
func takeStandIn(argv []string, env cli.Environment) (*cli.StandIn, []string) {
	name, args := "", []string{}
	if len(argv) > 0 {
		name, args = filepath.Base(argv[0]), argv[1:]
	}
	asked, _ := cli.ParseSwitch(passthroughVariable, env.Get(passthroughVariable)) // parseCommandLine reports others
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			break
		}
		if arg == "-passthrough" || arg == "--passthrough" {
			asked = true
			args = slices.Delete(slices.Clone(args), i, i+1)
			break
		}
	}
	if s := products.StandInFor(name); s != nil {
		return s, args
	}
	if asked {
		product, _ := products.ByVariable(env) // parseCommandLine reports other values
		return &cli.StandIn{Name: product.Program, Asked: true}, args
	}
	return nil, args
}

// handles reports whether a command line is for one of the commands, which are
// named by their words: "init", "providers lock". What there is below
// "providers" need not be a command of tfdeps.
func handles(commands []string, args []string) bool {
	line, err := parseCommandLine(args, nil)
	if err != nil {
		return true // so that the error is reported
	}
	var words []string
	for _, arg := range line.args {
		if strings.HasPrefix(arg, "-") || len(words) == 2 {
			break
		}
		words = append(words, arg)
	}
	if len(words) == 0 {
		return false
	}
	return slices.Contains(commands, strings.Join(words, " ")) || slices.Contains(commands, words[0]) && (len(words) == 1 || words[0] != "providers")
}

// streams are those of the process. They are handed on as they are: a program
// finds out whether they are terminals.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// passThrough runs the real program, with arguments, environment, streams,
// signals and exit code untouched. Where the system allows it this process
// becomes that program, and the function returns only if that fails.
func passThrough(m *cli.Meta, args []string, to streams) int {
	passed := newPasses(m, args)
	path, err := products.Program(m, m.StandIn.Name, passed.refuses)
	if err == nil {
		var env cli.Environment
		if env, err = passed.with(path); err == nil {
			var code int
			if code, err = become(path, args, env, to); err == nil {
				return code
			}
		}
	} else if passed.refused != "" {
		err = passed.loop(passed.refused)
	}
	fmt.Fprintf(to.err, "Error: %v\n", err)
	return 1
}
