// Package roots finds the root modules of a repository, for commands that work in more than one directory, and enters them one after the other.
//
//	found, ok := options.Find(m, product, operands, log)
//	code := roots.Each(m, found, func(m *cli.Meta, r roots.Root) int { ... }, func(r roots.Root, err error) { ... })
//
// A directory is entered, as with -chdir: whatever a command does there is what it does when it is called there.
package roots

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
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
)

// Command is the command "roots", which lists root modules.
func Command() cli.Command {
	return sources.Command[listOptions](cli.Command{Name: "roots", Synopsis: "List the root modules of a repository",
		Usage: "roots [options] [DIR...]",
		About: `  Lists the root modules below the directories, or below the current one, and
  why each is one: it has a backend, a cloud block or a lock file; or a provider
  block, and no other directory calls it as a module. These are the directories
  in which the commands with the option -recursive work.

  Directories whose names begin with a dot, node_modules, vendor and terraform.d
  are left out, and so is what git ignores. Links aren't followed.`}, cli.Flags.Mixed)
}

type listOptions struct {
	sources.Reporter
	Options
}

func (o *listOptions) Flags() cli.Flags {
	flags := append(o.Options.Flags("List this directory instead. May be given more than once, and be a pattern such as envs/*, of which the directories with a configuration count."),
		cli.Switch("json", &o.Out.JSON, "Print a JSON object: roots, each with directory and because."), cli.NoColor())
	return flags[1:] // -recursive goes without saying
}

// Report tells which root modules there are.
func (o *listOptions) Report() (*result.Result, error) {
	o.Choose()
	if o.Refuse(o.Log); !o.Log.Add() {
		return nil, nil
	}
	found, ok := o.Find(o.Meta, o.Product, o.Operands, o.Log)
	if !ok {
		found = nil // part of a list would be taken for all of it
	}
	return &result.Result{
		People:   result.Table(result.Each(found, func(r Root) []string { return []string{r.Dir, strings.Join(r.Why, "; ")} })),
		Programs: result.Object{"roots", result.Each(found, func(r Root) result.Object { return result.Object{"directory", r.Dir, "because", r.Why} })},
	}, nil
}

// Options say in which directories a command works; the zero value: in the current one.
type Options struct {
	Recursive bool
	Dirs      []string // of -dir, patterns among them
	From      string   // of -dirs-from: a file with a directory a line, or "-"
	Since     string   // of -changed-since
	Also      []string // of -also
}

// Flags are the options. The help of -dir is the command's own.
func (o *Options) Flags(dirHelp string) cli.Flags {
	return cli.Flags{
		cli.Switch("recursive", &o.Recursive, "Work in all root modules below the directories that are named, or the current one: those that \"tfdeps roots\" lists."),
		cli.Option("dir=GLOB", cli.Strings(&o.Dirs), dirHelp),
		cli.Text("dirs-from=FILE", &o.From, "Work in the directories that this file names, one a line; with \"-\" standard input does."),
		cli.Text("changed-since=REF", &o.Since,
			"Of these directories, or of all root modules, take those that have changed since the merge base with this commit, branch or tag, uncommitted and untracked files included: configuration, values, lock files, tfdeps.hcl and tests of the directory and of local modules that it reaches."),
		cli.Option("also=GLOB", cli.Strings(&o.Also),
			"With -changed-since: a change of such a file counts for every directory, or with {dir} in the pattern for the one that it names. It is relative to the current directory; ** stands for any number of directories. May be given more than once."),
	}
}

// Given reports whether the options name directories.
func (o *Options) Given() bool {
	return o.Recursive || len(o.Dirs) > 0 || o.From != "" || o.Since != ""
}

// Refuse finds options that need others.
func (o *Options) Refuse(log *problem.Log) {
	log.Refuse(len(o.Also) > 0 && o.Since == "", "The -also flag needs -changed-since.", "It says whose changes count, too.")
}

// Root is a working directory.
type Root struct {
	Dir string   // relative to the current directory, or as it was given
	Why []string // it is a root module; none: it was named
}

// Find returns the directories, each once and in the order of their names: those that are named, and with -recursive or operands, or if
// none is named, the root modules below the operands or the current directory. Directories that a pattern matches count only with a configuration. If there
// are errors, they are those that were found.
func (o *Options) Find(m *cli.Meta, product getproviders.Product, operands []string, log *problem.Log) (found []Root, ok bool) {
	s := scan{m: m, product: product, log: log, known: map[string]*module{}}
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
		found = append(found, s.below(slices.Concat(operands, []string{"."})[:max(len(operands), 1)])...)
	}
	if found = unique(m.Dir, found); !log.Add() {
		return found, false
	}
	if o.Since != "" {
		found = s.changedSince(o, found)
		return found, log.Add()
	}
	switch {
	case len(found) > 0:
	case !o.Recursive && len(operands) == 0 && len(o.Dirs) > 0:
		log.Fail("configuration_not_found", "No configuration files", "None of the directories that -dir names has a configuration.")
	default:
		log.Fail("configuration_not_found", "No root modules",
			"There is none among the directories. A root module has a backend, a cloud block or a lock file, or a provider block without another module that calls it. To name others, use -dir.")
	}
	return found, log.Add()
}

// maxList bounds what -dirs-from reads, in bytes.
const maxList = 4 << 20

func readList(m *cli.Meta, from string) (found []Root, err error) {
	in := m.Stdin
	if from != "-" {
		file, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	list, err := io.ReadAll(io.LimitReader(in, maxList+1))
	if err == nil && len(list) > maxList {
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

// unique sorts directories, and leaves out those that are there by another name already.
func unique(start string, all []Root) []Root {
	names := map[string]Root{}
	for _, r := range all {
		at := resolved(r.Dir)
		if _, known := names[at]; !known || filepath.Join(start, r.Dir) == at { // which is its name without links
			names[at] = r
		}
	}
	return slices.SortedFunc(maps.Values(names), func(a, b Root) int { return strings.Compare(a.Dir, b.Dir) })
}

// resolved is the full name of a directory without links, as far as it can be known.
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

// Paths returns paths and URLs as they are found from another directory than the one that they were given in.
func Paths(given []string, in string) []string {
	return result.Each(given, func(path string) string {
		if strings.Contains(path, "://") {
			return path
		}
		return workdir.In(in, path)
	})
}

// Inputs returns the values of -var and -var-file for a directory: files are found from where the program was called, and {dir} in their names stands for the directory.
func Inputs(given []load.InputArgument, start, dir string) []load.InputArgument {
	return result.Each(given, func(input load.InputArgument) load.InputArgument {
		if input.File != "" {
			input.File = workdir.In(start, In(input.File, dir))
		}
		return input
	})
}

// garbage is how much of it may lie about in a run over directories, in percent of what is used.
const garbage = 400

// Each enters the directories in their order, has do work there, and returns the worst exit code: 1, else 2, else 0. What
// do gets knows the CLI configuration of the directory that the program was called in. failed is told of a directory
// that can't be entered. After an interrupt no further one is entered.
func Each(m *cli.Meta, all []Root, do func(m *cli.Meta, r Root) (code int), failed func(r Root, err error)) (code int) {
	if m.Env.Get("GOGC") == "" { // a directory leaves little but garbage: to collect it at the usual pace takes half of the time
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
