package workdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/combine"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Requirements returns the requirements of the configuration and of
// objects in the state. stateFile is the value of -state; "" means the state of the current workspace. record is the
// backend's. If the state can't be read, known is false, and locked providers
// count as required, because the run that wrote the lock file may have read the state.
func (d *Dir) Requirements(m *cli.Meta, stateFile string, record *backend.Record) (required getproviders.Requirements, known bool, problems problem.List) {
	fromState, known, err := ReadState(m, d.Product, stateFile, record)
	required, problems = d.Combine(m.Env, fromState, known)
	if err != nil {
		problems = append(problems, StateProblem(err))
	}
	return required, known, problems
}

// Combine returns the requirements of the configuration and of the state, or of the
// lock file if the state is unknown.
func (d *Dir) Combine(env cli.Environment, fromState getproviders.Requirements, known bool) (getproviders.Requirements, problem.List) {
	required, problems := combine.Combine(combine.Parts{
		Product: d.Product, Tree: d.Tree, State: fromState, StateUnknown: !known, Locks: d.Locks,
		KeepStateAddresses: env.Get(translationVariable) == "0",
	})
	for i, p := range problems {
		if legacy, ok := p.Extra.(combine.LegacyProvider); ok {
			problems[i] = explain.LegacyProblem(required, legacy.Provider)
		}
	}
	return required, append(problems, d.Disinherit(required)...)
}

// translationVariable with the value 0 turns off the translation of addresses in states.
const translationVariable = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION"

// InheritState replaces providers in a state that another product wrote by those of
// this one's registry, unless the configuration requires the original addresses.
func InheritState(env cli.Environment, product getproviders.Product, fromState, fromConfig getproviders.Requirements) getproviders.Requirements {
	if env.Get(translationVariable) == "0" {
		return fromState
	}
	return load.InheritState(fromState, fromConfig, product)
}

// ReadState returns the providers in the given state, of the option
// -state, else in that of the current workspace, if it is in a local file. If
// it isn't, or is encrypted, known is false. The record is the backend's, and may be
// nil.
func ReadState(m *cli.Meta, product getproviders.Product, given string, record *backend.Record) (req getproviders.Requirements, known bool, err error) {
	asked := given
	switch {
	case given == "-":
		req, err = stateFromStdin(m, product)
		return req, true, err
	case given != "":
		if _, err := os.Stat(given); err != nil {
			return nil, true, fmt.Errorf("reading state: %w", err) // the file that -state names has to exist
		}
	default:
		workspace, err := SupportedWorkspace(m.Env, product, record)
		switch {
		case err != nil:
			return nil, true, err
		case !record.IsLocal():
			return nil, false, nil
		}
		given, _ = record.StateFile(workspace)
	}
	req, err = load.StateRequirements(nil, given, product)
	if asked == "" && errors.Is(err, load.ErrStateEncrypted) && dialect.Of(product).Understands("encryption") {
		return nil, false, nil
	}
	return req, true, err
}

// SupportedWorkspace is Workspace with an error if the backend doesn't support it; record may be nil.
func SupportedWorkspace(env cli.Environment, product getproviders.Product, record *backend.Record) (string, error) {
	workspace, err := Workspace(env, product)
	if err == nil && !record.IsLocal() && record.Type == "http" && workspace != backend.DefaultWorkspace {
		err = fmt.Errorf("workspaces not supported: the backend http has only the default one, and %q is selected", workspace)
	}
	return workspace, err
}

// stateFromStdin reads a state from stdin. An interrupt ends it while the read
// still blocks.
func stateFromStdin(m *cli.Meta, product getproviders.Product) (getproviders.Requirements, error) {
	var reading par.Memo[struct{}, getproviders.Requirements]
	return reading.Do(m.Context, struct{}{}, func(context.Context) (getproviders.Requirements, error) {
		return load.ReadStateRequirements(m.Stdin, "standard input", product)
	})
}

// RecordPath is the path of the backend's record.
func RecordPath(env cli.Environment) string { return filepath.Join(DataDir(env), backend.FileName) }

// ReadRecord reads the record of the backend, or returns nil if the file doesn't exist.
func ReadRecord(env cli.Environment, product getproviders.Product) (*backend.Record, problem.List) {
	record, err := backend.Read(nil, RecordPath(env), product)
	if err != nil {
		return nil, problem.Fail("state", "Failed to load state", "The record of the backend can't be used: %v.\n\nFind out who wrote it, and which backend it names. If the configuration has the same one, move the file away: the next init records it again, and state stays where it is.", err)
	}
	return record, nil
}

// WorkspacePath is the file with the name of the selected workspace.
func WorkspacePath(env cli.Environment) string { return filepath.Join(DataDir(env), "environment") }

// Workspace returns the name of the current workspace. Up to Terraform 1.15 the name in the file isn't checked.
func Workspace(env cli.Environment, product getproviders.Product) (string, error) {
	name, from := env.Get("TF_WORKSPACE"), "TF_WORKSPACE"
	if name == "" {
		name, from = backend.ReadWorkspace(nil, DataDir(env)), WorkspacePath(env)
	}
	if url.PathEscape(name) != name && (from == "TF_WORKSPACE" || dialect.Of(product).Understands("bad_workspaces")) {
		return "", fmt.Errorf("%q, which %s says, is not the name of a workspace: it has to be usable in a URL without escapes", name, from)
	}
	return name, nil
}

// StateProblem says why the state can't be read, and what to do.
func StateProblem(err error) *problem.Problem {
	text := problem.Sentence(err)
	switch _, syntax := errors.AsType[*json.SyntaxError](err); {
	case syntax || errors.Is(err, io.ErrUnexpectedEOF):
		text += "\n\nThe state is damaged. Take it from a backup: that of a file is beside it, and its name ends in .backup."
	case errors.Is(err, fs.ErrNotExist):
		text += "\n\nCorrect the name of the file."
	case errors.Is(err, load.ErrStateVersion):
		text += "\n\nA newer version of Terraform or OpenTofu has written the state, or it isn't a state. Use a newer tfdeps, or name another file."
	}
	return problem.Error("state", "Error loading state", text)
}
