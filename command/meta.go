// Package command holds the subcommands: each turns its arguments into
// options, asks the engine for one thing, and has package view say what came
// of it. It makes no request, unpacks no archive and hashes nothing itself.
//
// What a command needs from outside comes with [Meta], and from nowhere else.
//
// Where the commands differ from the real tool: an error in the CLI
// configuration ends the run, and a credentials helper that isn't there is told
// of; -plugin-dir= with nothing removes what was recorded of that option, and
// changes no source; directories that are mirrors by default and relative are
// those of the directory that -chdir names; a provider with a development override
// keeps its lock entry (in 1.15 it loses it, from 1.16 it keeps it); an unknown value of -lockfile is an error, and
// -lockfile=readonly fails at once where plan would fail later; errors in the
// configuration and in the lock file are told once, with their source;
// backends are recorded and not asked for anything, so that what is wrong with
// them is found by plan; with a backend that can't be asked for its state, no
// provider is dropped from the lock file; -reconfigure removes the record of a
// backend that isn't configured any more; only the program that -with names moves
// state; warnings go to stderr, and so do the progress of downloads and the last line
// of init, which sums it up; providers tells what the configuration requires also
// where the state can't be read, or packages of the lock file aren't installed;
// the exit code is 1 for whatever went wrong, an interrupt included.
package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Meta is what the commands have in common: everything that they get from
// outside.
type Meta struct {
	// Context ends when the user interrupts the program. It is a field because
	// the interface of commands has no place for it.
	Context context.Context

	Stdin          io.Reader // a state, if one is to be read from there
	Stdout, Stderr io.Writer
	NoColor        bool // -no-color was given
	Env            Environment
	Now            func() time.Time
	Log            *slog.Logger // details for who looks for a fault; nil: nobody does

	// NewClient makes the program's one HTTP client, with a user agent. It is
	// called once at most, as not every command has to do with the network.
	NewClient func(userAgent string) (*http.Client, error)

	HomeDir    string   // the user's; "": not known
	CacheDir   string   // where our caches are; "": nowhere
	StateDir   string   // where we keep what we know of this machine; "": nowhere
	Executable string   // our own program file; "": not known
	StandIn    *StandIn // the program in whose place we are; nil: none
	Version    string   // our own

	with     string // the program that init hands over to; "": none
	readOnly bool   // nothing is written, not even what would be known sooner the next time
}

// product is the program whose work we do, at the version that we go by.
func (m *Meta) product() (getproviders.Product, error) {
	chosen, err := m.chooseProduct()
	if err != nil {
		return chosen, err
	}
	version, err := m.productVersion(chosen)
	return m.strict(settingsOf[chosen.Program].at(version)), err
}

// dataDir is where a working directory keeps what belongs to it.
func (m *Meta) dataDir() string {
	if dir := m.Env.Get("TF_DATA_DIR"); dir != "" {
		return dir
	}
	return ".terraform"
}

// workspace is the name of the current workspace.
func (m *Meta) workspace() (string, error) {
	if name := m.Env.Get("TF_WORKSPACE"); name != "" {
		if url.PathEscape(name) != name {
			return "", fmt.Errorf("%q is not the name of a workspace: it has to be usable in a URL without escapes", name)
		}
		return name, nil
	}
	return backend.ReadWorkspace(m.dataDir())
}

// viewOptions say how to speak to this user.
func (m *Meta) viewOptions(product getproviders.Product, json bool) view.Options {
	return view.Options{
		Product:  product,
		JSON:     json,
		Plain:    m.NoColor || m.Env.Get("NO_COLOR") != "",
		Stdout:   view.NewStream(m.Stdout),
		Stderr:   view.NewStream(m.Stderr),
		Now:      m.Now,
		ReadFile: os.ReadFile,
	}
}

// userAgent is what requests say of their sender: first, as the real tool
// would, which version's work it is.
func (m *Meta) userAgent(product getproviders.Product) string {
	agent := product.Name + "/" + product.Version + " tfdeps/" + m.Version
	if more := m.Env.Get("TF_APPEND_USER_AGENT"); more != "" {
		agent += " " + more
	}
	return agent
}
