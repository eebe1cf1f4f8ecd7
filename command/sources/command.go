package sources

import (
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/view/result"
)

// Reporter is what a command works with that makes one report at its end. The command's options embed it.
type Reporter struct {
	*Session
	cli.Given
	Out cli.Output // how the report is shown
}

// Base is the part of a command's options that [Command] fills.
func (r *Reporter) Base() *Reporter { return r }

// Command returns a command whose options are a T.
func Command[T any, Options interface {
	*T
	Flags() cli.Flags
	// Report does what the command is for. The report may be nil, and problems are in the Log; the error is about arguments.
	Report() (*result.Result, error)
	Base() *Reporter
}](c cli.Command, read func(cli.Flags, []string, cli.Environment) (cli.Given, error)) cli.Command {
	c.Flags = func() cli.Flags { return Options(new(T)).Flags() }
	c.Run = func(m *cli.Meta, args []string) (_ int, err error) {
		o := Options(new(T))
		r := o.Base()
		if r.Given, err = read(o.Flags(), args, m.Env); err != nil {
			return 0, err
		}
		r.Session = New(m, products.Unversioned(m), false)
		defer r.Close() // after the problems are shown, which may be about modules that were fetched
		report, err := o.Report()
		if err != nil {
			return 0, err
		}
		return r.Meta.Finish(report, r.Log.All, r.Out), nil
	}
	return c
}

// Choose finds out for which product the command works, whose options have these problems. It reports whether there is no error.
func (s *Session) Choose(found ...*problem.Problem) (ok bool) {
	s.Log.Add(found...)
	s.Product, found = products.Choose(s.Meta)
	return s.Log.Add(found...)
}
