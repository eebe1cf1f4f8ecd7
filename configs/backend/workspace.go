package backend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

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
// data directory has; without that it is [DefaultWorkspace].
func ReadWorkspace(dataDir string) (string, error) {
	name, err := wholefile.Read(filepath.Join(dataDir, "environment"), maxWorkspaceName)
	switch name = bytes.TrimSpace(name); {
	case os.IsNotExist(err), err == nil && len(name) == 0:
		return DefaultWorkspace, nil
	case err != nil:
		return "", fmt.Errorf("the name of the current workspace can't be read: %w", err)
	}
	return string(name), nil
}
