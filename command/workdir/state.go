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

// Requirements returns what has to be installed: what the configuration says,
// and what objects of the state need that the configuration doesn't mention any
// more. stateFile is that of -state, "" the current workspace's; record is the
// backend's. Where the state can't be read, known is false, and what is locked
// counts instead: the run that wrote the lock file may have seen the state.
func (d *Dir) Requirements(m *cli.Meta, stateFile string, record *backend.Record) (required getproviders.Requirements, known bool, problems problem.List) {
	fromState, known, err := ReadState(m, d.Product, stateFile, record)
	required, problems = d.Combine(m.Env, fromState, known)
	if err != nil {
		problems = append(problems, StateProblem(err))
	}
	return required, known, problems
}

// Combine returns the requirements of the configuration and of the state; of the
// lock file in its place if the state is unknown.
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

// translationVariable turns off, with 0, that addresses in states are translated.
const translationVariable = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION"

// InheritState takes providers in a state that another product wrote for those of
// this one's registry, unless the configuration requires them as they are.
func InheritState(env cli.Environment, product getproviders.Product, fromState, fromConfig getproviders.Requirements) getproviders.Requirements {
	if env.Get(translationVariable) == "0" {
		return fromState
	}
	return load.InheritState(fromState, fromConfig, product)
}

// ReadState returns the providers in the state: in the given one, of the option
// -state, else in that of the current workspace, if that is in a local file. If
// it isn't, or is encrypted, they are unknown, and known is false. The record is the backend's;
// nil: there is none.
func ReadState(m *cli.Meta, product getproviders.Product, given string, record *backend.Record) (req getproviders.Requirements, known bool, err error) {
	asked := given
	switch {
	case given == "-":
		req, err = stateFromStdin(m, product)
		return req, true, err
	case given != "":
		if _, err := os.Stat(given); err != nil {
			return nil, true, fmt.Errorf("reading state: %w", err) // what is asked for has to be there
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
	if asked == "" && errors.Is(err, load.ErrStateEncrypted) {
		return nil, false, nil
	}
	return req, true, err
}

// SupportedWorkspace is Workspace for a backend; nil: there is none. The error says, too, that the backend has no such workspace.
func SupportedWorkspace(env cli.Environment, product getproviders.Product, record *backend.Record) (string, error) {
	workspace, err := Workspace(env, product)
	if err == nil && !record.IsLocal() && record.Type == "http" && workspace != backend.DefaultWorkspace {
		err = fmt.Errorf("workspaces not supported: the backend http has only the default one, and %q is selected", workspace)
	}
	return workspace, err
}

// stateFromStdin reads what the user may be about to type: an interrupt doesn't
// wait for it.
func stateFromStdin(m *cli.Meta, product getproviders.Product) (getproviders.Requirements, error) {
	var reading par.Memo[struct{}, getproviders.Requirements]
	return reading.Do(m.Context, struct{}{}, func(context.Context) (getproviders.Requirements, error) {
		return load.ReadStateRequirements(m.Stdin, "standard input", product)
	})
}

// RecordPath is where the backend is recorded.
func RecordPath(env cli.Environment) string { return filepath.Join(DataDir(env), backend.FileName) }

// ReadRecord reads the record of the backend; nil: there is none.
func ReadRecord(env cli.Environment, product getproviders.Product) (*backend.Record, problem.List) {
	record, err := backend.Read(nil, RecordPath(env), product)
	if err != nil {
		return nil, problem.Fail("state", "Failed to load state", "The record of the backend can't be used: %v.\n\nSee who wrote it, and which backend it names. If that is the one of the configuration, the next init records it again where the file is moved away; state stays where it is.", err)
	}
	return record, nil
}

// WorkspacePath is the file with the name of the selected workspace.
func WorkspacePath(env cli.Environment) string { return filepath.Join(DataDir(env), "environment") }

// Workspace is the name of the current workspace. What a file says may be anything up to Terraform 1.15.
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

// StateProblem says that the state couldn't be read, and what can be done.
func StateProblem(err error) *problem.Problem {
	text := problem.Sentence(err)
	switch _, syntax := errors.AsType[*json.SyntaxError](err); {
	case syntax || errors.Is(err, io.ErrUnexpectedEOF):
		text += "\n\nThe state is damaged. Take it from a backup, such as terraform.tfstate.backup beside it."
	case errors.Is(err, fs.ErrNotExist):
		text += "\n\nCorrect the name of the file."
	case errors.Is(err, load.ErrStateVersion):
		text += "\n\nA newer version of Terraform or OpenTofu has written the state, or it isn't one. Use a newer tfdeps, or name another file."
	}
	return problem.Error("state", "Error loading state", text)
}
