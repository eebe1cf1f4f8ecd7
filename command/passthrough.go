package command

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/internal/subprocess"
)

// passthroughVariable passes other commands on to the real program, as -passthrough does.
const passthroughVariable = "TFDEPS_PASSTHROUGH"

// takeStandIn finds out whether tfdeps was called as another program: by argv[0],
// which may be the name of a symlink, by -passthrough before the
// command, which it removes from the arguments, or by TFDEPS_PASSTHROUGH. It
// returns the arguments without argv[0]. The StandIn is nil if tfdeps was called as itself.
func takeStandIn(argv []string, env cli.Environment) (*cli.StandIn, []string) {
	name, args := "", []string{}
	if len(argv) > 0 {
		name, args = filepath.Base(argv[0]), argv[1:]
	}
	asked, _ := cli.ParseSwitch(passthroughVariable, env.Get(passthroughVariable)) // parseCommandLine reports others
	if given, rest := takeGlobal(args, "passthrough"); given != "" && !strings.Contains(given, "=") {
		asked, args = true, rest
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

// handles reports whether a command line is for a command of tfdeps,
// such as "init" or "providers lock". Some subcommands of
// "providers" are only Terraform's.
func handles(args []string) bool {
	line, err := parseCommandLine(args, nil)
	if err != nil {
		return true // so that the error is reported
	}
	if len(line.args) == 0 || strings.HasPrefix(line.args[0], "-") {
		return false
	}
	name, rest, _ := choose(line.args)
	return commandOf(name) != nil && (name != "providers" || len(rest) == 0 || strings.HasPrefix(rest[0], "-"))
}

// streams are those of the process. They are passed on unwrapped, because programs
// check whether they are terminals.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// passThrough runs the real program, with the same arguments, environment, streams,
// signals and exit code. On Unix it replaces this process by exec,
// and returns only if that fails.
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

// passesVariable has, for child processes, the commands that their ancestors passed
// on: a list of pass in JSON.
const passesVariable = "TFDEPS_PASSES"

// maxPasses bounds that list. Only a script that calls tfdeps with other arguments each time reaches it.
const maxPasses = 32

// pass is a command that was passed on to the real program.
type pass struct {
	By   string `json:"by"`   // the file of tfdeps
	To   string `json:"to"`   // the program that it started
	Call string `json:"call"` // the digest of the arguments, the directory and the variables
}

// passes has the commands that ancestors of this process passed on, and the one that it
// passes on itself.
//
// It prevents endless loops. A child of the real program may call tfdeps again, as a provisioner does
// with "terraform output", and that call is passed on to the same program. So a program is
// refused only if it was started for the very same call before: then it is a script that calls tfdeps,
// and would do it again. A file of tfdeps that has passed on a
// command is never the real program, even if it is another version of tfdeps.
type passes struct {
	env     cli.Environment
	name    string // of the program that tfdeps was called as
	above   []pass
	own     pass   // without To
	refused string // the last program that has led back to tfdeps, or ""
}

func newPasses(m *cli.Meta, args []string) *passes {
	p := &passes{env: m.Env, name: m.StandIn.Name, own: pass{By: m.Executable, Call: digestOfCall(m.Env, args)}}
	if json.Unmarshal([]byte(m.Env.Get(passesVariable)), &p.above) != nil {
		p.above = nil
	}
	return p
}

// digestOfCall returns the same digest for calls with the same arguments, directory
// and variables for Terraform.
func digestOfCall(env cli.Environment, args []string) string {
	dir, _ := filepath.Abs(".") // "" if the directory was removed
	variables := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return !strings.HasPrefix(entry, "TF_") })
	slices.Sort(variables)
	content, err := json.Marshal([]any{dir, args, variables})
	if err != nil {
		return "" // strings always encode
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

// refuses reports whether a program is tfdeps, or has led back to it.
func (p *passes) refuses(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	isFile := func(of string) bool {
		other, err := os.Stat(of)
		return err == nil && os.SameFile(info, other)
	}
	for _, earlier := range p.above {
		if isFile(earlier.By) {
			return true
		}
		if earlier.Call == p.own.Call && isFile(earlier.To) {
			p.refused = path
			return true
		}
	}
	return false
}

// with returns the environment for a program. It replaces the variable instead of adding it again, because
// a program may read the first of several.
func (p *passes) with(path string) (cli.Environment, error) {
	if len(p.above) >= maxPasses {
		return nil, p.loop(path)
	}
	now := p.own
	now.To = path
	content, err := json.Marshal(append(slices.Clone(p.above), now))
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(p.env), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return subprocess.SameName(key, passesVariable)
	})
	return others.With(passesVariable + "=" + string(content)), nil
}

// loop is the error for a program that starts tfdeps instead of being the real program.
func (p *passes) loop(path string) error {
	return fmt.Errorf("%s leads back to tfdeps: it is a script or a launcher that calls it. Set %s to where the real %s is",
		path, products.PathVariable(p.name), p.name)
}
