package backend

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Local is the type of the backend that keeps state in files. A directory without a backend uses
// it, with the default names.
const Local = "local"

// DefaultWorkspace is the workspace that always exists.
const DefaultWorkspace = "default"

// Default names of files and directories.
const (
	defaultStateFile    = "terraform.tfstate"
	defaultWorkspaceDir = "terraform.tfstate.d"
)

// Files are the paths of a local backend's state.
type Files struct {
	Path         string // of the default workspace
	WorkspaceDir string // of the other workspaces
}

// LocalFiles returns the paths of a local backend's state; path and workspaceDir are its arguments,
// or "".
func LocalFiles(path, workspaceDir string) Files {
	return Files{cmp.Or(path, defaultStateFile), cmp.Or(workspaceDir, defaultWorkspaceDir)}
}

// State returns the path of a workspace's state, which needn't exist.
func (f Files) State(workspace string) string {
	if workspace == DefaultWorkspace {
		return f.Path
	}
	return filepath.Join(f.WorkspaceDir, workspace, defaultStateFile)
}

// HasWorkspace reports whether a workspace exists.
func (f Files) HasWorkspace(name string) bool {
	if name == DefaultWorkspace {
		return true
	}
	info, err := os.Stat(filepath.Join(f.WorkspaceDir, name))
	return err == nil && info.IsDir()
}

// HasOthers reports whether a workspace other than the default exists.
func (f Files) HasOthers() (bool, error) {
	entries, err := os.ReadDir(f.WorkspaceDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, os.DirEntry.IsDir), nil
}

// State is a workspace of a local backend.
type State struct {
	Workspace string
	Path      string // of the file, which needn't exist
	Full      bool   // it has resources or outputs
	Stays     bool   // another backend uses the same file or, if it doesn't exist, the same directory
}

// States returns the default workspace and all others that exist. next has the paths of another backend; nil if that
// isn't local.
func (f Files) States(next *Files) (states []State, err error) {
	entries, err := os.ReadDir(f.WorkspaceDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	names := []string{DefaultWorkspace}
	for _, entry := range entries {
		if entry.Name() != DefaultWorkspace && f.HasWorkspace(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		state := State{Workspace: name, Path: f.State(name)}
		if state.Full, err = holdsState(state.Path); err != nil {
			return nil, fmt.Errorf("reading state %s: %w", state.Path, err)
		}
		state.Stays = next != nil && (isSameFile(state.Path, next.State(name)) ||
			!state.Full && name != DefaultWorkspace && isSameFile(filepath.Join(f.WorkspaceDir, name), filepath.Join(next.WorkspaceDir, name)))
		states = append(states, state)
	}
	return states, nil
}

// isSameFile compares two paths by the file system, because symlinks, case and ".." after a symlink change the
// meaning of a path.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// holdsState reports whether a state file has resources or outputs, in any format version. It
// returns true for a file that is too large to read.
func holdsState(path string) (bool, error) {
	src, err := wholefile.Read(path, maxSize)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(src) == 0:
		return false, nil
	case errors.Is(err, wholefile.ErrTooLarge):
		return true, nil
	case err != nil:
		return false, err
	}
	var state struct {
		Encrypted string `json:"encryption_version"` // OpenTofu has encrypted the content
		Resources []json.RawMessage
		Outputs   map[string]json.RawMessage
		Modules   []struct{ Resources, Outputs map[string]json.RawMessage }
	}
	if err := json.Unmarshal(src, &state); err != nil {
		return false, err
	}
	full := state.Encrypted != "" || len(state.Resources)+len(state.Outputs) > 0
	for _, m := range state.Modules {
		full = full || len(m.Resources)+len(m.Outputs) > 0
	}
	return full, nil
}

// StateFile returns the path of a workspace's state, if the recorded backend is local; a nil Record
// is. The file needn't exist. ok is false for other backends.
func (r *Record) StateFile(workspace string) (path string, ok bool) {
	if !r.IsLocal() {
		return "", false
	}
	return r.LocalFiles().State(workspace), true
}

// IsLocal reports whether state is in local files, as for a nil Record.
func (r *Record) IsLocal() bool { return r == nil || r.Type == "" || r.Type == Local }

// LocalFiles returns the paths of a local backend's state, or the default paths for other backends.
func (r *Record) LocalFiles() Files {
	if r == nil {
		return LocalFiles("", "")
	}
	return LocalFiles(r.Text("path"), r.Text("workspace_dir"))
}

// maxWorkspaceName is the largest size of the file with the name of the current workspace.
const maxWorkspaceName = 4096

// ReadWorkspace returns the name of the current workspace from a file in the data directory in fsys; a nil
// fsys means the file system of the process. If the file is missing or unreadable, it returns
// [DefaultWorkspace].
func ReadWorkspace(fsys fs.FS, dataDir string) string {
	name, _ := wholefile.ReadFS(fsys, filepath.Join(dataDir, "environment"), maxWorkspaceName)
	return cmp.Or(string(bytes.TrimSpace(name)), DefaultWorkspace)
}
