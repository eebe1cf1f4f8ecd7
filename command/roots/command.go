package roots

import (
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
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
