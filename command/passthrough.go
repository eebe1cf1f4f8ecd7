package command

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// StandIn is the program that we were called as. Commands that aren't ours are
// left to the real one.
type StandIn struct {
	Name    string // "terraform1.15.9": the name of its file, without ".exe"
	Version string // "1.15.9"; "" if the name has none
}

// TakeStandIn finds out whether we stand in for another program: by our name,
// the first of the arguments, which may be a link's; by -passthrough before the
// command, which is taken out of the arguments; or by TFDEPS_PASSTHROUGH. It
// returns the arguments without the name; the StandIn is nil if we go by our own.
func TakeStandIn(argv []string, env Environment) (*StandIn, []string) {
	name, args := "", []string{}
	if len(argv) > 0 {
		name, args = filepath.Base(argv[0]), argv[1:]
	}
	asked, _ := parseSwitch(passthroughVariable, env.Get(passthroughVariable)) // ParseCommandLine tells of others
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			break
		}
		if arg == "-passthrough" || arg == "--passthrough" {
			asked = true
			args = append(append([]string{}, args[:i]...), args[i+1:]...)
			break
		}
	}
	if s := standInFor(name); s != nil {
		return s, args
	}
	if asked {
		product, _ := productByVariable(env) // ParseCommandLine tells of other values
		return &StandIn{Name: product.Program}, args
	}
	return nil, args
}

// standInFor reads a program's name, with or without a version behind it.
func standInFor(name string) *StandIn {
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") {
		name = strings.TrimSuffix(name, ext)
	}
	product, ok := productOfProgram(name)
	if !ok {
		return nil
	}
	version := strings.TrimPrefix(name, product.Program)
	if version == "" {
		return &StandIn{Name: name}
	}
	v, err := getproviders.ParseVersion(version)
	if err != nil {
		return nil
	}
	return &StandIn{Name: name, Version: v.String()}
}

// Handles reports whether a command line is for one of our commands, which are
// named by their words: "init", "providers lock". What there is below
// "providers" need not be ours.
func Handles(commands []string, args []string) bool {
	line, err := ParseCommandLine(args, nil)
	if err != nil {
		return true // the error is ours to tell
	}
	var words []string
	for _, arg := range line.Args {
		if strings.HasPrefix(arg, "-") || len(words) == 2 {
			break
		}
		words = append(words, arg)
	}
	if len(words) == 0 {
		return false
	}
	if slices.Contains(commands, strings.Join(words, " ")) {
		return true
	}
	return slices.Contains(commands, words[0]) && (len(words) == 1 || words[0] != "providers")
}

// Streams are those of the process. They are handed on as they are: a program
// finds out whether they are terminals.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// PassThrough runs the real program, with arguments, environment, streams,
// signals and exit code untouched. Where the system allows it this process
// becomes that program, and the function returns only if that fails.
func (m *Meta) PassThrough(args []string, streams Streams) int {
	path, err := m.realProgram(m.StandIn.Name)
	if err == nil {
		var env Environment
		if env, err = m.countPass(path); err == nil {
			var code int
			if code, err = become(path, args, env, streams); err == nil {
				return code
			}
		}
	}
	fmt.Fprintf(streams.Err, "Error: %v\n", err)
	return 1
}

// passesVariable tells our descendants how often a command was passed on, and
// maxPasses is how often it may be. A command that the real program runs may
// well come to us again, but not without an end.
const (
	passesVariable = "TFDEPS_PASSES"
	maxPasses      = 8
)

// countPass returns the environment for a program, unless that seems to be a
// copy of ours, or a script that calls us. The variable is replaced, as a program
// need not look for the last of several.
func (m *Meta) countPass(path string) (Environment, error) {
	passes, err := strconv.Atoi(m.Env.Get(passesVariable))
	if err != nil {
		passes = 0
	}
	if passes >= maxPasses {
		return nil, fmt.Errorf("%s leads back to tfdeps: it is a copy, or a script that calls it. Set %s to where the real %s is",
			path, pathVariable(m.StandIn.Name), m.StandIn.Name)
	}
	others := slices.DeleteFunc(slices.Clone(m.Env), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return sameName(key, passesVariable)
	})
	return others.With(fmt.Sprintf("%s=%d", passesVariable, passes+1)), nil
}

// pathVariable says where the program of a name is, with or without a version.
func pathVariable(name string) string {
	product, _ := productOfProgram(name)
	return settingsOf[product.Program].path
}

// realProgram finds the program that another name of ours stands for.
func (m *Meta) realProgram(name string) (string, error) {
	variable := pathVariable(name)
	given := m.Env.Get(variable)
	if given == "" {
		if found, ok := m.findProgram(name); ok {
			return found.Path, nil
		}
		return "", fmt.Errorf("there is no %s on PATH, besides tfdeps itself. Install it, or set %s to where it is", name, variable)
	}
	path, err := exec.LookPath(given)
	if err != nil {
		return "", fmt.Errorf("the variable %s: %w", variable, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("the variable %s: %w", variable, err)
	}
	if self, err := os.Stat(m.Executable); err == nil && os.SameFile(self, info) {
		return "", fmt.Errorf("the variable %s leads to tfdeps itself. Set it to where the real %s is", variable, name)
	}
	return path, nil
}
