package command

import (
	"slices"

	mitchellh "github.com/mitchellh/cli"

	"github.com/tfdeps/tfdeps/command/cachecmd"
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/getcmd"
	"github.com/tfdeps/tfdeps/command/initcmd"
	"github.com/tfdeps/tfdeps/command/providerscmd"
	"github.com/tfdeps/tfdeps/command/vendorcmd"
)

// commands is the table of commands.
func commands() []cli.Command {
	return slices.Concat(
		[]cli.Command{initcmd.Command(), getcmd.Command(), vendorcmd.Command(), versionCommand()},
		providerscmd.Commands(), cachecmd.Commands(),
	)
}

// names are the words of all commands: "providers lock".
func names() (all []string) {
	for _, c := range commands() {
		all = append(all, c.Name)
	}
	return all
}

// factories is the table in the form that the library for subcommands takes.
func factories(m *cli.Meta) map[string]mitchellh.CommandFactory {
	all := map[string]mitchellh.CommandFactory{}
	for _, c := range commands() {
		all[c.Name] = func() (mitchellh.Command, error) { return adapter{c, m}, nil }
	}
	return all
}

// adapter is a command as the library for subcommands calls it.
type adapter struct {
	command cli.Command
	meta    *cli.Meta
}

func (a adapter) Run(args []string) int { return a.command.Execute(a.meta, args) }

func (a adapter) Help() string { return a.command.Help.Text() }

func (a adapter) Synopsis() string { return a.command.Synopsis }
