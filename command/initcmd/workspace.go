package initcmd

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// selectExisting sees to it that the selected workspace exists, for a backend that
// can be asked without a network. If it doesn't, and there is only one, that is
// selected.
func selectExisting(r request, record *backend.Record) problem.List {
	missing, others, problems := missingWorkspace(r, record)
	if missing == "" || problems.HasErrors() {
		return problems
	}
	if others {
		return problem.List{doesNotExist(r, missing)}
	}
	return selectWorkspace(r, backend.DefaultWorkspace)
}

// missingWorkspace returns the name of the selected workspace if it doesn't exist,
// and whether there are any but the default one. One that TF_WORKSPACE names is
// made when it is needed.
func missingWorkspace(r request, record *backend.Record) (name string, others bool, problems problem.List) {
	if !record.IsLocal() || r.meta.Env.Get("TF_WORKSPACE") != "" {
		return "", false, nil
	}
	name, err := workdir.Workspace(r.meta.Env)
	if err != nil {
		return "", false, problem.Fail("workspace", "Failed to select a workspace", "%v", err)
	}
	files := record.LocalFiles()
	if files.HasWorkspace(name) {
		return "", false, nil
	}
	others, err = files.HasOthers()
	if err != nil {
		return "", false, problem.Fail("workspace", "Failed to select a workspace", "%v", err)
	}
	return name, others, nil
}

func doesNotExist(r request, name string) *problem.Problem {
	return problem.Errorf("workspace", fmt.Sprintf("Currently selected workspace %q does not exist", name),
		"It is selected in %s. Remove that file to use the default workspace, or set TF_WORKSPACE to the name of one that exists or is to be made.",
		workdir.WorkspacePath(r.meta.Env))
}

// selectWorkspace records which workspace is selected.
func selectWorkspace(r request, name string) problem.List {
	if err := wholefile.Save(workdir.WorkspacePath(r.meta.Env), []byte(name), 0o644); err != nil {
		return problem.Fail("workspace", "Failed to select a workspace", "%v", err)
	}
	return nil
}
