package command

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
)

// stateFile is the name of a local state, and of a backend's record.
const stateFile = "terraform.tfstate"

// collectRequirements finds out what has to be installed: what the
// configuration says, and what is needed to deal with objects of the state
// that the configuration doesn't mention any more.
func (r *initRun) collectRequirements() view.Problems {
	fromConfig, problems := r.tree.Requirements(r.engine)
	fromState, err := r.stateRequirements()
	if err != nil {
		problems = append(problems, view.NewError("Error loading state", err.Error()))
	}
	r.req = fromConfig.Merge(fromState)
	for _, p := range r.req.Providers() {
		if p.IsLegacy() {
			problems = append(problems, legacyProblem(r.req, p))
		}
	}
	return problems
}

// stateRequirements reads the local state of the current workspace. A state
// that some backend keeps can't be read yet; whoever is warned about the backend
// is sent to the real tool, which then adds what is missing.
func (r *initRun) stateRequirements() (getproviders.Requirements, error) {
	if r.hasBackend() {
		return nil, nil
	}
	workspace, err := r.workspace()
	if err != nil {
		return nil, err
	}
	if url.PathEscape(workspace) != workspace {
		return nil, fmt.Errorf("%q is not the name of a workspace: it has to be usable in a URL without escapes", workspace)
	}
	path := stateFile
	if workspace != "default" {
		path = filepath.Join(stateFile+".d", workspace, stateFile)
	}
	return configs.StateRequirements(path, r.engine)
}

// hasBackend reports whether the state is in the care of a backend that the
// configuration names or that was initialized before.
func (r *initRun) hasBackend() bool {
	return r.opts.backend && r.module.Backend != nil || r.backendRecorded()
}

// backendRecorded reports whether a backend was initialized before.
func (r *initRun) backendRecorded() bool {
	_, err := os.Stat(filepath.Join(r.dataDir(), stateFile))
	return err == nil
}

func legacyProblem(req getproviders.Requirements, p getproviders.Provider) *view.Problem {
	return view.NewError("Invalid legacy provider address", fmt.Sprintf(
		"This configuration or its associated state refers to the unqualified provider %q, an address from "+
			"before Terraform 0.13 that says nothing of where the provider comes from.%s\n\n"+
			"You must complete the Terraform 0.13 upgrade process before upgrading to later versions.",
		p.Type, view.RequiredBy(req, p)))
}
