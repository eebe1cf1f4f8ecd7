package command

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/providercache"
)

// CacheCommand is "cache", or one of the commands below it, that Verb names.
type CacheCommand struct {
	Meta *Meta
	Verb string // "list"; "": none
}

// cacheVerb is a command below "cache". What it returns is the exit code if
// there are no errors among the problems. An error is about the arguments.
type cacheVerb struct {
	synopsis, usage string
	run             func(m *Meta, args []string) (code int, problems view.Problems, err error)
}

func (c *CacheCommand) verb() cacheVerb {
	switch c.Verb {
	case "add":
		return cacheVerb{"Put packages into the shared cache", cacheAddUsage, runCacheAdd}
	case "clean":
		return cacheVerb{"Remove packages from the shared cache", cacheCleanUsage, runCacheClean}
	case "dir":
		return cacheVerb{"Show where the shared cache is", cacheDirUsage, runCacheDir}
	case "gc", "prune":
		return cacheVerb{"Remove from the shared cache what isn't used any more", cacheGCUsage, runCacheGC}
	case "key":
		return cacheVerb{"Show a key for what lock files select", cacheKeyUsage, runCacheKey}
	case "list":
		return cacheVerb{"List the packages in the shared cache", cacheListUsage, runCacheList}
	case "verify":
		return cacheVerb{"Read and hash all packages of the shared cache", cacheVerifyUsage, runCacheVerify}
	default:
		return cacheVerb{"Look after the cache that working directories share", cacheUsage, runCache}
	}
}

// Synopsis says in a line what the command is for.
func (c *CacheCommand) Synopsis() string { return c.verb().synopsis }

// Help is what "tfdeps cache VERB -help" prints.
func (c *CacheCommand) Help() string { return c.verb().usage }

// Run carries the command out and returns the exit code.
func (c *CacheCommand) Run(args []string) int {
	code, problems, err := c.verb().run(c.Meta, args)
	if err != nil {
		return c.Meta.misused(err, c.Help())
	}
	view.NewInit(c.Meta.viewOptions(c.Meta.unversioned(), false)).Problems(problems)
	if problems.HasErrors() {
		return 1
	}
	return code
}

// runCache is for who names no command below "cache", or one that isn't there.
func runCache(_ *Meta, args []string) (int, view.Problems, error) {
	if len(args) == 0 {
		return 0, nil, &usageError{text: "Error: cache needs the name of one of its commands", help: true}
	}
	return 0, nil, &usageError{text: fmt.Sprintf("Error: cache has no command named %q", args[0]), help: true}
}

// cachePlace is where a command finds the cache.
type cachePlace struct{ dir string }

func (p *cachePlace) define(flags *flag.FlagSet) { flags.StringVar(&p.dir, "dir", "", "") }

// find returns the cache: in the directory that -dir names, else as init finds
// it. A cache that can't be used is an error here.
func (p cachePlace) find(m *Meta) (*providercache.Store, *cliconfig.Config, view.Problems) {
	cli, problems := m.cliConfig(m.unversioned())
	if problems.HasErrors() {
		return nil, cli, problems
	}
	dir, named := m.providerCacheDir(), false
	switch {
	case p.dir != "":
		dir = filepath.Join(p.dir, filepath.FromSlash(providerCacheLayout))
	case cli.PluginCacheDir != "":
		dir, named = cli.PluginCacheDir, true
	}
	cache, err := providercache.OpenCache(dir, named)
	if err != nil {
		problems = append(problems, view.NewError("There is no shared cache", fmt.Sprintf(
			"The directory %q can't be used: %v.\n\nAnother one can be named with the variable %s.", cmp.Or(p.dir, dir), err, cacheDirVariable)))
	}
	return cache, cli, problems
}

// upkeep is what looks after the cache.
func (m *Meta) upkeep(cache *providercache.Store) *providercache.Upkeep {
	return &providercache.Upkeep{Cache: cache, StateDir: m.StateDir, Now: m.Now}
}

// cacheReport is what a command below "cache" has to tell.
type cacheReport interface {
	Text(w io.Writer) error
	JSON(w io.Writer) error
}

// report tells it to people, or to programs.
func (m *Meta) report(r cacheReport, asJSON bool) view.Problems {
	write := r.Text
	if asJSON {
		write = r.JSON
	}
	if err := write(m.Stdout); err != nil {
		return cacheProblem("Failed to write the result", err)
	}
	return nil
}

// parseOperands reads options and other arguments, in any order.
func parseOperands(flags *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, &usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}
		}
		if flags.NArg() == 0 {
			return operands, nil
		}
		operands, args = append(operands, flags.Arg(0)), flags.Args()[1:]
	}
}

// parseOperandsOrVariables is parseOperands for a command that has options of
// ours.
func parseOperandsOrVariables(flags *flag.FlagSet, args []string, env Environment) (operands []string, by setBy, err error) {
	if operands, err = parseOperands(flags, args); err != nil {
		return nil, nil, err
	}
	if by, err = env.fill(flags); err != nil {
		return nil, nil, &usageError{text: "Error: " + err.Error()}
	}
	return operands, by, nil
}

// cacheProblem tells of what went wrong with the cache itself.
func cacheProblem(summary string, err error) view.Problems {
	return view.Problems{view.NewError(summary, err.Error())}
}
