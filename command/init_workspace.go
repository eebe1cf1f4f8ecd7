package command

import (
	"fmt"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// checkWorkspace finds out whether the selected workspace exists, for a
// backend that can be asked without a network. One that TF_WORKSPACE names is
// made when it is needed.
func (r *initRun) checkWorkspace(record *backend.Record) view.Problems {
	if !record.IsLocal() || r.Env.Get("TF_WORKSPACE") != "" {
		return nil
	}
	name, err := r.workspace()
	switch {
	case err != nil:
		return view.Problems{view.NewError("Failed to select a workspace", err.Error())}
	case record.LocalFiles().HasWorkspace(name):
		return nil
	}
	return view.Problems{view.NewError(fmt.Sprintf("Currently selected workspace %q does not exist", name), fmt.Sprintf(
		"It is selected in %s. Remove that file to use the default workspace, or set TF_WORKSPACE to the name of one that exists or is to be made.",
		filepath.Join(r.dataDir(), "environment")))}
}

// selectWorkspace selects the one workspace that there is; "" is none.
func (r *initRun) selectWorkspace(name string) view.Problems {
	if name == "" {
		return nil
	}
	if err := wholefile.Save(filepath.Join(r.dataDir(), "environment"), []byte(name), 0o644); err != nil {
		return view.Problems{view.NewError("Failed to select a workspace", err.Error())}
	}
	return nil
}

// checkLeftBehind finds state in local files that a new backend wouldn't know of.
func (r *initRun) checkLeftBehind(config *backend.Config) view.Problems {
	files := backend.LocalFiles("", "")
	if config.Type == backend.Local && filepath.Clean(backend.LocalFiles(config.Text("path"), "").Path) == files.Path {
		return nil
	}
	path, err := files.Occupied()
	switch {
	case err != nil:
		return view.Problems{view.NewError("Failed to load state", err.Error())}
	case path == "":
		return nil
	}
	return view.Problems{view.NewError("Existing state has to be moved", fmt.Sprintf(
		"The backend %q is new here, and there is state in %s that it doesn't know. To move it, run:\n  %s\n\n"+
			"If that state isn't needed any more, move the file away, and initialize again.", config.Type, path, r.product.Program+migration))}
}

// checkCloud finds out whether organization and workspaces are given: without
// a network, nobody else would notice before plan.
func (r *initRun) checkCloud(config *backend.Config) (problems view.Problems) {
	if config.Type != backend.Cloud {
		return nil
	}
	block := r.module.Backend
	if config.Text("organization") == "" && r.Env.Get("TF_CLOUD_ORGANIZATION") == "" {
		problems = append(problems, view.At(block.Range, view.NewError("Invalid or missing required argument",
			"The cloud block needs an \"organization\", or the variable TF_CLOUD_ORGANIZATION has to be set.")))
	}
	if !config.Has("workspaces") && r.Env.Get("TF_WORKSPACE") == "" {
		problems = append(problems, view.At(block.Range, view.NewError("Invalid workspaces configuration",
			"The cloud block needs a \"workspaces\" block with \"name\" or \"tags\", or the variable TF_WORKSPACE has to be set.")))
	}
	return problems
}
