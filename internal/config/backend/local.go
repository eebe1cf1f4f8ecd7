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

// Local is the type of the backend that keeps state in files. A directory
// without a backend has it, with the usual names.
const Local = "local"

// DefaultWorkspace is the workspace that always exists.
const DefaultWorkspace = "default"

// Local names of files and directories, where nothing else is said.
const (
	defaultStateFile    = "terraform.tfstate"
	defaultWorkspaceDir = "terraform.tfstate.d"
)

// Files says where a local backend keeps its state.
type Files struct {
	Path         string // of the default workspace
	WorkspaceDir string // of the others
}

// LocalFiles returns where a local backend keeps its state; path and
// workspaceDir are its arguments, "" for one that isn't set.
func LocalFiles(path, workspaceDir string) Files {
	return Files{cmp.Or(path, defaultStateFile), cmp.Or(workspaceDir, defaultWorkspaceDir)}
}

// State is the path of a workspace's state, which need not exist.
func (f Files) State(workspace string) string {
	if workspace == DefaultWorkspace {
		return f.Path
	}
	return filepath.Join(f.WorkspaceDir, workspace, defaultStateFile)
}

// HasWorkspace reports whether a workspace was made.
func (f Files) HasWorkspace(name string) bool {
	if name == DefaultWorkspace {
		return true
	}
	info, err := os.Stat(filepath.Join(f.WorkspaceDir, name))
	return err == nil && info.IsDir()
}

// HasOthers reports whether there is a workspace besides the default one.
func (f Files) HasOthers() (bool, error) {
	entries, err := os.ReadDir(f.WorkspaceDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, os.DirEntry.IsDir), nil
}

// State is what a local backend has of a workspace.
type State struct {
	Workspace string
	Path      string // of the file, which need not exist
	Full      bool   // it has resources or outputs
	Stays     bool   // another backend has the same file or, where there is none, the same directory in its place
}

// States returns the default workspace and all others that were made. next is where another backend keeps state; nil:
// not in local files.
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

// isSameFile asks the file system: links, letters of either case and ".." behind a link decide what a path means.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// holdsState reports whether anything is in a state file, whatever version of
// its format it has. One that is too large to look into has something.
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
		Encrypted string `json:"encryption_version"` // with content that nothing here can read
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

// StateFile returns where the state of a workspace is, if the recorded backend
// keeps it in local files, as it does for a nil Record. The file need not exist.
// For all other backends ok is false.
func (r *Record) StateFile(workspace string) (path string, ok bool) {
	if !r.IsLocal() {
		return "", false
	}
	return r.LocalFiles().State(workspace), true
}

// IsLocal reports whether state is in local files; it is for a nil Record.
func (r *Record) IsLocal() bool { return r == nil || r.Type == "" || r.Type == Local }

// LocalFiles is where a local backend keeps state, and where it would be without
// any other backend.
func (r *Record) LocalFiles() Files {
	if r == nil {
		return LocalFiles("", "")
	}
	return LocalFiles(r.Text("path"), r.Text("workspace_dir"))
}

// maxWorkspaceName bounds the file with the name of the current workspace.
const maxWorkspaceName = 4096

// ReadWorkspace returns the name of the current workspace, which a file in the
// data directory in fsys has, or in the file system of the process if that is nil. Without that, or where it
// can't be read, it is [DefaultWorkspace].
func ReadWorkspace(fsys fs.FS, dataDir string) string {
	name, _ := wholefile.ReadFS(fsys, filepath.Join(dataDir, "environment"), maxWorkspaceName)
	return cmp.Or(string(bytes.TrimSpace(name)), DefaultWorkspace)
}
