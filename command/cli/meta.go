// Package cli has what all commands share: the [Meta] that they get, the table of [Flags]
// from which options are parsed and help is made, and the one way to end.
//
//	func Command() cli.Command {
//		return cli.Command{Name: "get", Synopsis: "...", Usage: "...", Run: run}
//	}
//
//	func run(m *cli.Meta, args []string) (code int, err error) {
//		var opts options
//		if _, err := opts.flags().Alone(args, m.Env); err != nil {
//			return 0, err // a *UsageError; the caller shows it
//		}
//		...
//		return cli.End(v.Problems, problems, 0), nil
//	}
package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Meta is what all commands get from outside. It
// isn't changed after it was made.
type Meta struct {
	// Context ends when the user interrupts the program. It is a field because
	// the interface of commands has no parameter for it.
	Context context.Context

	Chdir func(dir string) error // changes the working directory of the process

	Stdin          io.Reader // a state, with -state=-
	Stdout, Stderr io.Writer
	NoColor        bool            // -no-color was given
	Similar        explain.Similar // which similar problems are merged
	Hidden         *explain.Hidden // files of which no lines are shown; may be nil
	Env            Environment
	Now            func() time.Time
	Begun          time.Time    // when the program was started
	Log            *slog.Logger // the debug log; nil without one

	// NewClient makes the program's HTTP client. The options may have a user agent, an observer of retries and a
	// dialer; the rest comes from the environment. It is called on demand, because not every command
	// needs the network.
	NewClient func(opts hosts.ClientOptions) (*http.Client, error)

	// Activity shows running tasks; nil means that nothing is shown. See Showing.
	Activity *view.Activity

	Dir        string   // the working directory, absolute
	ByChdir    string   // the directory of -chdir as it was given, which led to the one where the command began; or ""
	HomeDir    string   // the user's; "" if unknown
	CacheDir   string   // for caches of tfdeps, or ""
	StateDir   string   // for data about this machine, or ""
	Withheld   string   // why CacheDir and StateDir are "" although the user has a home, or ""
	Remembers  bool     // lists of versions are cached in StateDir
	Executable string   // the file of this program; "" if unknown
	StandIn    *StandIn // the program that tfdeps was called as, or nil
	Version    string   // of tfdeps

	AddedBy  map[string]string // options that come from a variable, without dashes, and its name
	Warnings problem.List      // about the environment; every command shows them when it ends
}

// StandIn is the program that tfdeps was called as. Commands that tfdeps doesn't
// have are passed on to the real program.
type StandIn struct {
	Name    string // "terraform1.15.9": the name of its file, without ".exe"
	Version string // "1.15.9"; "" if the name has no version
	Asked   bool   // by -passthrough or its variable, under the name tfdeps
}

// Called returns the name by which the program was called, for texts with commands of tfdeps.
func (m *Meta) Called() string {
	if m.StandIn == nil || m.StandIn.Asked {
		return "tfdeps"
	}
	return m.StandIn.Name
}

// Names returns the names for texts about a product.
func (m *Meta) Names(product getproviders.Product) explain.Names {
	return explain.Names{Product: product, Called: m.Called()}
}

// Enter changes the working directory, and returns the Meta for it, with a relative path of the CLI configuration made
// absolute.
func (m *Meta) Enter(dir string) (*Meta, error) {
	entered := *m
	for _, variable := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		file := m.Env.Get(variable)
		if file == "" || filepath.IsAbs(file) {
			continue
		}
		absolute, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		entered.Env = entered.Env.With(variable + "=" + absolute)
	}
	err := m.Chdir(dir)
	if err == nil {
		entered.Dir, err = filepath.Abs(".")
	}
	return &entered, err
}

// barRefresh is how often bars are drawn.
const barRefresh = 100 * time.Millisecond

// readSource reads the file that a problem is about once more. If that was a pipe, it would wait for ever.
func readSource(name string) ([]byte, error) { return wholefile.Read(name, 16<<20) }

// lines says which lines of files are shown.
func (m *Meta) lines() explain.Showing {
	return explain.Showing{ReadFile: readSource, Hidden: m.Hidden}
}

// ViewOptions returns the options of views for this user; progress is the value of -progress.
func (m *Meta) ViewOptions(product getproviders.Product, json bool, progress view.Progress) view.Options {
	// Bars aren't drawn on dumb terminals, between lines of the debug log, and in the terminal output that CI
	// records.
	ci := m.Env.Get("CI")
	return view.Options{
		Names:    m.Names(product),
		JSON:     json,
		Progress: progress,
		Plain:    m.NoColor,
		Similar:  m.Similar,
		NoColor:  m.Env.Get("NO_COLOR") != "",
		Stdout:   terminal.NewStream(m.Stdout),
		Stderr:   terminal.NewStream(m.Stderr),
		Now:      m.Now,
		Showing:  m.lines(),
		NoBars:   m.Env.Get("TERM") == "dumb" || m.Log != nil || ci != "" && ci != "false" && ci != "0",
		Refresh:  barRefresh,
	}
}

// Showing returns a copy of the Meta with an activity, which shows retries, the packages of modules,
// and an interrupt. An interrupt removes the bars at once, because a second one ends the process.
func (m *Meta) Showing(activity *view.Activity) *Meta {
	shown := *m
	activity.StopDrawingAfter(m.Context)
	shown.Activity = activity
	return &shown
}

// Blame returns lineBreak and a sentence about the variable with the first of the options that weren't typed, or "" if all were. Options begin with a dash.
func (m *Meta) Blame(lineBreak string, options ...string) string {
	for _, option := range options {
		name := OptionName(option)
		if variable := m.AddedBy[name]; variable != "" {
			return fmt.Sprintf("%sThe option -%s comes from the variable %s, not from the command line.", lineBreak, name, variable)
		}
	}
	return ""
}

// Refuse adds an error about these options if broken is true.
func (m *Meta) Refuse(log *problem.Log, broken bool, summary, detail string, options ...string) {
	if broken {
		log.Add(problem.Error("invalid_option", summary, detail+m.Blame("\n\n", options...)))
	}
}

// Conflict is Refuse for two options; why says why they contradict each other.
func (m *Meta) Conflict(log *problem.Log, broken bool, one, other, why string) {
	m.Refuse(log, broken, "The "+one+" flag conflicts with "+other+".", why+" Leave out one of the two.", other, one)
}

// UserAgent returns the User-Agent of requests, which begins with the product and its version,
// as in Terraform.
func (m *Meta) UserAgent(product getproviders.Product) string {
	agent := product.Name + "/" + product.Version + " tfdeps/" + m.Version
	if more := m.Env.Get("TF_APPEND_USER_AGENT"); more != "" {
		agent += " " + more
	}
	return agent
}

// Environment is a program's environment, as os.Environ returns it.
type Environment []string

// Get returns the value of a variable, "" if it isn't set.
func (e Environment) Get(name string) string { return subprocess.Variable(e, name) }

// With returns the environment with variables added or replaced.
func (e Environment) With(entries ...string) Environment {
	return slices.Concat(e, entries)
}

// ArgumentsVariable has further arguments for every command; with "_" and a
// command's name appended, for that command.
const ArgumentsVariable = "TFDEPS_CLI_ARGS"
