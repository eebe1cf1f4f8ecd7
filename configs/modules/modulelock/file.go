package modulelock

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/depsfile"
)

// FileName is the lock file's name in the directory of the root module.
const FileName = ".tfdeps.modules.lock.hcl"

// Load reads the file; a missing file is an empty Locks. Like Decode, it
// returns what could be read even if there are errors.
func Load(path string) (*Locks, hcl.Diagnostics) {
	src, err := depsfile.ReadText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Locks{}, nil
	}
	if err != nil {
		return &Locks{}, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Failed to read file",
			Detail:   fmt.Sprintf("The lock file for modules can't be read: %s.", err),
		}}
	}
	return Decode(src, path)
}

// Save writes the file, by one rename, if it differs from what is there. The
// file's mode is 0644.
func (l *Locks) Save(path string) error {
	if err := depsfile.SaveText(path, l.Encode()); err != nil {
		return fmt.Errorf("can't save the lock file for modules: %w", err)
	}
	return nil
}
