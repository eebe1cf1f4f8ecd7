package command

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/backend"
)

// home is where state is kept.
type home struct {
	record   *backend.Record // as plan will find it; nil: none
	homeless view.Problems   // why the backend isn't in charge
}

// initBackend puts the backend that the configuration names in charge, as far
// as that is a matter of writing it down. What is wrong is kept for
// checkConfig, because it may not matter for this version.
func (r *initRun) initBackend() view.Problems {
	r.homeless = r.readRecord()
	if !r.opts.backend || r.opts.state.with != "" {
		return nil
	}
	r.view.BackendBegin(r.module.Backend != nil && r.module.Backend.Type == backend.Cloud)
	if r.homeless.HasErrors() || r.module.Backend != nil && r.module.Backend.Body == nil {
		return nil
	}
	r.homeless = r.keepErrors(r.configureBackend())
	return nil
}

func (r *initRun) readRecord() view.Problems {
	var err error
	if r.record, err = backend.Read(r.recordPath()); err != nil {
		return view.Problems{view.NewError("Failed to load state", "The record of the backend can't be used: "+err.Error()+
			".\n\nIf the file is damaged, remove it, and initialize again.")}
	}
	return nil
}

func (r *initRun) recordPath() string { return filepath.Join(r.dataDir(), backend.FileName) }

// configureBackend compares the block with the record.
func (r *initRun) configureBackend() view.Problems {
	if name := r.Env.Get("TF_WORKSPACE"); url.PathEscape(name) != name {
		return view.Problems{view.NewError("Invalid workspace name set using TF_WORKSPACE",
			fmt.Sprintf("%q is not the name of a workspace: it has to be usable in a URL without escapes.", name))}
	}
	isOverridden := len(r.opts.state.config) > 0
	switch block := r.module.Backend; {
	case block == nil && isOverridden:
		r.warnings = append(r.warnings, view.NewWarning("Missing backend configuration",
			"There is -backend-config, and no \"backend\" block in the configuration that it could be about. "+
				"If state is to stay in local files, nothing needs to be done; this block silences the warning:\n\n"+
				"terraform {\n  backend \"local\" {}\n}"))
	case block != nil && block.Type == backend.Cloud && isOverridden:
		return view.Problems{view.At(block.Range, view.NewError("Invalid command-line option",
			"The option -backend-config is for backends that keep state, and there is a cloud block. Change that block instead."))}
	}
	known := r.record
	if r.opts.state.reconfigure {
		known = nil
	}
	config, change, problems := r.compareBackend(known)
	switch {
	case !problems.HasErrors():
		return append(problems, r.settle(config, change)...)
	case !isOverridden && (change == backend.Changed || change == backend.Replaced):
		return append(view.Problems{r.backendChanged()}, problems...)
	default:
		return problems
	}
}

// compareBackend decodes the block, and says what has become of it since a
// record was written. Whatever is wrong with the block alone doesn't matter as
// long as it is the recorded one: the rest came with -backend-config.
func (r *initRun) compareBackend(known *backend.Record) (*backend.Config, backend.Change, view.Problems) {
	overrides := r.opts.state.config
	if r.module.Backend == nil {
		return nil, known.Compare(nil, len(overrides) > 0), nil
	}
	config, problems := r.decodeBackend()
	if config == nil {
		return nil, backend.None, problems
	}
	change := known.Compare(config, len(overrides) > 0)
	switch {
	case !problems.HasErrors():
		problems = append(problems, r.checkCloud(config)...)
	case change == backend.Unchanged:
		problems = slices.DeleteFunc(problems, func(p *view.Problem) bool { return !view.IsWarning(p) })
	}
	return config, change, problems
}

// decodeBackend reads the block, and what -backend-config says beside it.
func (r *initRun) decodeBackend() (*backend.Config, view.Problems) {
	block := r.module.Backend
	return backend.Decode(backend.Block{Type: block.Type, Range: block.Range, Body: block.Body, Context: block.Context},
		backend.Options{Product: r.product, Overrides: r.opts.state.config, Getenv: r.Env.Get})
}

// settle makes the record what it should be, unless that takes moving state.
func (r *initRun) settle(config *backend.Config, change backend.Change) view.Problems {
	switch change {
	case backend.None:
		return r.forgetRecord()
	case backend.Unchanged:
		return r.checkWorkspace(r.record)
	case backend.Changed, backend.Replaced, backend.Removed:
		return view.Problems{r.backendChanged()}
	}
	next, err := backend.NewRecord(config, r.product)
	if err != nil {
		return view.Problems{view.NewError("Failed to record the backend", err.Error())}
	}
	if change == backend.Added {
		return r.addBackend(config, next)
	}
	if problems := r.checkWorkspace(next); problems.HasErrors() {
		return problems
	}
	return r.keepRecord(next)
}

// addBackend records a backend that wasn't there before.
func (r *initRun) addBackend(config *backend.Config, next *backend.Record) view.Problems {
	if problems := append(r.checkLeftBehind(config), r.checkWorkspace(next)...); problems.HasErrors() {
		return problems
	}
	if problems := r.keepRecord(next); problems.HasErrors() {
		return problems
	}
	if config.Type == backend.Cloud {
		return r.selectWorkspace(config.Workspace())
	}
	r.view.BackendConfigured(config.Type)
	return nil
}

func (r *initRun) keepRecord(next *backend.Record) view.Problems {
	if err := next.Save(r.recordPath()); err != nil {
		return view.Problems{view.NewError("Failed to record the backend", err.Error())}
	}
	r.record = next
	return nil
}

// forgetRecord is for -reconfigure when the block is gone. An empty record
// stays: it may be the real tool's.
func (r *initRun) forgetRecord() view.Problems {
	if r.record == nil || r.record.Type == "" {
		return nil
	}
	if err := os.Remove(r.recordPath()); err != nil {
		return view.Problems{view.NewError("Failed to remove the record of the backend", err.Error())}
	}
	r.record = nil
	return nil
}

func (r *initRun) backendChanged() *view.Problem {
	return view.NewError("Backend configuration changed", strings.Join([]string{
		"The backend isn't the one that this directory was initialized with, so that there may be state to move.",
		"To move it, run:\n  " + r.product.Program + migration,
		"To take the backend as it is now, and leave state where it is, run:\n  tfdeps init -reconfigure",
	}, "\n\n"))
}
