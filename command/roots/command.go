package roots

import (
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/result"
)

// Command is the command "roots", which lists root modules.
func Command() cli.Command {
	return cli.Command{Name: "roots", Synopsis: "List the root modules of a repository",
		Usage: "roots [options] [DIR...]", Flags: new(listOptions).flags,
		About: `  Lists the root modules below the directories, or below the current one, and
  why each is one: it has a backend, a cloud block or a lock file; or a provider
  block, and no other directory calls it as a module. These are the directories
  in which the commands with the option -recursive work.

  Directories whose names begin with a dot, node_modules, vendor and terraform.d
  are left out, and so is what git ignores. Links aren't followed.`, Run: run}
}

type listOptions struct {
	Options
	json bool
}

func (o *listOptions) flags() cli.Flags {
	flags := append(o.Options.Flags("List this directory instead. May be given more than once, and be a pattern such as envs/*, of which the directories with a configuration count."),
		cli.Switch("json", &o.json, "Print a JSON object: roots, each with directory and because."), cli.NoColor())
	return flags[1:] // -recursive goes without saying
}

func run(m *cli.Meta, args []string) (int, error) {
	var o listOptions
	below, err := o.flags().Mixed(args, m.Env)
	if err != nil {
		return 0, err
	}
	product, problems := products.Choose(m)
	log := problem.Log{All: problems}
	if o.Refuse(&log); !log.Add() {
		return m.Finish(nil, log.All, cli.Output{JSON: o.json}), nil
	}
	found, ok := o.Find(m, product, below, &log)
	if !ok {
		found = nil // part of a list would be taken for all of it
	}
	return m.Finish(list(found), log.All, cli.Output{JSON: o.json}), nil
}

// list is what the command found.
type list []Root

// Text implements result.Result.
func (l list) Text() string {
	return result.Table(result.Each(l, func(r Root) []string { return []string{r.Dir, strings.Join(r.Why, "; ")} }))
}

// JSON implements result.Result.
func (l list) JSON() any {
	return result.Object{"roots", result.Each(l, func(r Root) result.Object { return result.Object{"directory", r.Dir, "because", r.Why} })}
}
