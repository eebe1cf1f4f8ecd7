// Package roots finds the root modules of a repository, for commands that work in more than one directory, and enters them one after the other.
//
//	found, ok := options.Find(m, product, operands, log)
//	code := roots.Each(m, found.Roots, func(m *cli.Meta, r roots.Root) int { ... }, func(r roots.Root, err error) { ... })
//
// Each enters a directory as -chdir does, so that a command works as if it were called there.
package roots

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Command returns the command "roots", which lists root modules.
func Command() cli.Command {
	return sources.Command[listOptions](cli.Command{Name: "roots", Synopsis: "List the root modules of a repository",
		Usage: "roots [options] [DIR...]",
		About: `  Lists the root modules below the directories, or below the current one, and
  why each is one: it has a backend, a cloud block or a lock file; or a provider
  block, and no other directory calls it as a module. The current directory is
  one if it has a configuration. Commands with the option -recursive work in
  these directories.

  Other directories that have resources, and that no other one calls, are named
  on standard error: a new root module may be among them.

  Directories whose names begin with a dot, node_modules, vendor, terraform.d
  and what git ignores are left out. Symbolic links aren't followed.`,
		Examples: [][2]string{
			{"$TFDEPS roots", "List the root modules below the current directory."},
			{"$TFDEPS roots -changed-since=origin/main -json", "For a CI matrix: list those that this branch changes."},
		},
	}, cli.Flags.Mixed)
}

type listOptions struct {
	sources.Reporter
	Options
}

func (o *listOptions) Flags() cli.Flags {
	flags := append(o.Options.Flags("List this directory instead", "May be given more than once, and be a pattern such as envs/*, for directories with a configuration."),
		o.JSONFlag("Print a JSON object: roots, each with directory and because; not_counted, directories that may be root modules, too"), cli.NoColor())
	return flags[1:] // without -recursive, which is the default here
}

// Report lists the root modules.
func (o *listOptions) Report() (*result.Result, error) {
	o.Choose()
	if o.Refuse(o.Meta, o.Log); !o.Log.Add() {
		return nil, nil
	}
	found, ok := o.Find(o.Meta, o.Product, o.Operands, o.Log)
	if !ok {
		found = Found{} // an incomplete list would be taken for a complete one
	}
	return &result.Result{
		People: result.Table(result.Each(found.Roots, func(r Root) []string { return []string{r.Dir, strings.Join(r.Why, "; ")} })),
		Programs: result.Object{
			"roots", result.Each(found.Roots, func(r Root) result.Object { return result.Object{"directory", r.Dir, "because", r.Why} }),
			"not_counted", append([]string{}, found.NotCounted...),
		},
	}, nil
}

// Options say in which directories a command works; the zero value means the current one.
type Options struct {
	Recursive bool
	Dirs      []string // of -dir, also patterns
	From      string   // of -dirs-from: a file with a directory a line, or "-"
	Since     string   // of -changed-since
	Also      []string // of -also
}

// Flags returns the flags; dirHelp and more are the command's help of -dir.
func (o *Options) Flags(dirHelp string, more ...string) cli.Flags {
	return cli.Flags{
		cli.Switch("recursive", &o.Recursive, "Work in all root modules below the given directories, or the current one, as \"$TFDEPS roots\" lists them"),
		cli.Option("dir=GLOB", cli.Strings(&o.Dirs), dirHelp, more...),
		cli.Text("dirs-from=FILE", &o.From, "Work in the directories that this file lists, one per line; \"-\" means standard input"),
		cli.Text("changed-since=REF", &o.Since,
			"Of these directories, or of all root modules, take those that have changed since the merge base with this commit, branch or tag, including uncommitted and untracked files", "These count: configuration, .tfvars, lock files, tfdeps.hcl and tests of the directory and of local modules that it uses."),
		cli.Option("also=GLOB", cli.Strings(&o.Also),
			"With -changed-since: a change of such a file counts for every directory, or, if the pattern has {dir}, for the one that {dir} names", "The pattern is relative to the current directory; ** matches any number of directories. May be given more than once."),
	}
}

// Given reports whether the options name directories.
func (o *Options) Given() bool {
	return o.Recursive || len(o.Dirs) > 0 || o.From != "" || o.Since != ""
}

// Refuse finds options that need others.
func (o *Options) Refuse(m *cli.Meta, log *problem.Log) {
	m.Refuse(log, len(o.Also) > 0 && o.Since == "", "The -also flag needs -changed-since.", "It names more files whose changes count.", "-also")
}

// Root is a working directory.
type Root struct {
	Dir string   // relative to the current directory, or as it was given
	Why []string // reasons why it is a root module; nil if an option names it
}

// Found is what Find returns.
type Found struct {
	Roots []Root // sorted by name

	// NotCounted are directories with resources that no other directory calls, and that nothing makes root modules. A new
	// root module may be among them, or a module for others.
	NotCounted []string
}

// Find returns the directories without duplicates, sorted by name: those that options name, and with -recursive or operands, or if
// no option names any, the root modules below the operands or the current directory. It skips directories that match a pattern but have no
// configuration. After errors, which it logs, it returns those that it found. None isn't an error where a program may have made the list, and is said on stderr.
// So is what isn't counted.
func (o *Options) Find(m *cli.Meta, product getproviders.Product, operands []string, log *problem.Log) (Found, bool) {
	s := scan{m: m, product: product, log: log, known: map[string]*module{}}
	defer s.close()

	var found, doubtful []Root
	if len(o.Dirs) > 0 {
		given, invalid := workdir.Expand(o.Dirs)
		log.Add(invalid...)
		for _, g := range given {
			if !g.Pattern || !s.module(g.Path).Empty {
				found = append(found, Root{Dir: g.Path})
			}
		}
	}
	if o.From != "" {
		listed, err := readList(m, o.From)
		if found = append(found, listed...); err != nil {
			log.Failed("invalid_option", "Can't read the list of -dirs-from", err)
		}
	}
	if o.Recursive || len(operands) > 0 || len(o.Dirs) == 0 && o.From == "" {
		var below []Root
		below, doubtful = s.below(slices.Concat(operands, []string{"."})[:max(len(operands), 1)])
		found = append(found, below...)
	}
	found = unique(m.Dir, found)
	doubtful = without(doubtful, found)
	if !log.Add() {
		return Found{Roots: found}, false
	}

	if o.Since != "" {
		changed := s.changedSince(o, slices.Concat(found, doubtful))
		found = without(changed, doubtful)
		doubtful = without(changed, found)
	}
	all := Found{Roots: found, NotCounted: result.Each(doubtful, func(r Root) string { return r.Dir })}

	switch {
	case len(found) > 0 || !log.Add():
		if len(doubtful) > 0 {
			fmt.Fprintln(m.Stderr, all.notCounted())
		}
	case o.Since != "", !o.Recursive && len(operands)+len(o.Dirs) == 0 && o.From != "":
		fmt.Fprintln(m.Stderr, "0 directories: none is listed, or none has changed")
	case !o.Recursive && len(operands) == 0 && len(o.Dirs) > 0:
		log.Fail("configuration_not_found", "No configuration files", "None of the directories that -dir names has a configuration.")
	default:
		text := "None of the directories is a root module: such a directory has a backend, a cloud block or a lock file, or a provider block without another module that calls it. The current directory is one if it has a configuration. To name others, use -dir."
		if len(doubtful) > 0 {
			text += "\n\n" + all.notCounted()
		}
		log.Fail("configuration_not_found", "No root modules", "%s", text)
	}
	return all, log.Add()
}

// maxNamed is how many directories that aren't counted are named.
const maxNamed = 10

// notCounted says which directories aren't counted.
func (f Found) notCounted() string {
	names := strings.Join(f.NotCounted, ", ")
	if more := len(f.NotCounted) - maxNamed; more > 0 {
		names = fmt.Sprintf("%s and %d more", strings.Join(f.NotCounted[:maxNamed], ", "), more)
	}

	return fmt.Sprintf("Not counted: %s (resources, but no provider block, backend or lock file). For a root module, add -dir=%s.", names, f.NotCounted[0])
}

// without returns the directories that aren't among others.
func without(all, others []Root) []Root {
	known := map[string]bool{}
	for _, r := range others {
		known[resolved(r.Dir)] = true
	}

	return slices.DeleteFunc(slices.Clone(all), func(r Root) bool { return known[resolved(r.Dir)] })
}

// maxList is the maximum size of the file of -dirs-from, in bytes.
const maxList = 4 << 20

func readList(m *cli.Meta, from string) (found []Root, err error) {
	var list []byte
	if from == "-" {
		list, err = wholefile.ReadFrom(m.Context, m.Stdin, "standard input", maxList)
	} else {
		list, err = wholefile.ReadAny(m.Context, from, maxList)
	}
	if errors.Is(err, wholefile.ErrTooLarge) {
		err = fmt.Errorf("it has more than %d bytes", maxList)
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(list)) {
		if dir := strings.TrimSpace(line); dir != "" {
			found = append(found, Root{Dir: filepath.Clean(dir)})
		}
	}
	return found, nil
}

// unique sorts directories, and removes duplicates, also by symlinks.
func unique(start string, all []Root) []Root {
	names := map[string]Root{}
	for _, r := range all {
		at := resolved(r.Dir)
		if _, known := names[at]; !known || filepath.Join(start, r.Dir) == at { // prefers the name without symlinks
			names[at] = r
		}
	}
	return slices.SortedFunc(maps.Values(names), func(a, b Root) int { return strings.Compare(a.Dir, b.Dir) })
}

// resolved returns the absolute path of a directory, without symlinks if these can be resolved.
func resolved(dir string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		return real
	}
	return full
}

// Paths resolves paths, but not URLs, against the directory in.
func Paths(given []string, in string) []string {
	return result.Each(given, func(path string) string {
		if strings.Contains(path, "://") {
			return path
		}
		return workdir.In(in, path)
	})
}

// Inputs returns the values of -var and -var-file for a directory: paths are resolved against start, and {dir} in them is replaced by dir.
func Inputs(given []load.InputArgument, start, dir string) []load.InputArgument {
	return result.Each(given, func(input load.InputArgument) load.InputArgument {
		if input.File != "" {
			input.File = workdir.In(start, In(input.File, dir))
		}
		return input
	})
}

// garbage is GOGC for a run over directories: garbage in percent of live memory.
const garbage = 400

// Each enters the directories in their order, calls do in each, and returns the worst exit code: 1, else 2, else 0. The Meta for
// do resolves the path of the CLI configuration against the directory in which the program was called. Each calls failed for a directory
// that can't be entered. After an interrupt it enters no further one.
func Each(m *cli.Meta, all []Root, do func(m *cli.Meta, r Root) (code int), failed func(r Root, err error)) (code int) {
	if m.Env.Get("GOGC") == "" { // a directory leaves little but garbage, and at the default GOGC its collection takes half of the time
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	}
	for _, r := range all {
		if m.Context.Err() != nil {
			return 1
		}
		of := 1
		if inside, err := m.Enter(r.Dir); err != nil {
			failed(r, err)
		} else {
			of = do(inside, r)
		}
		if err := m.Chdir(m.Dir); err != nil {
			failed(r, err)
			return 1
		}
		if code != 1 {
			code = cmp.Or(of, code)
		}
	}
	return code
}
