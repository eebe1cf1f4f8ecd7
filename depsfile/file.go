package depsfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// Load reads the file; a missing file is an empty Locks. Like Decode, it
// returns what could be read even if there are errors. What is no regular file,
// nor a link to one, isn't opened: a pipe would never end.
func Load(path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	src, err := ReadText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Locks{}, nil
	}
	if err != nil {
		return &Locks{}, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Failed to read file",
			Detail:   fmt.Sprintf("The dependency lock file can't be read: %s.", err),
		}}
	}
	return Decode(src, path, product)
}

// Save writes the file, atomically, if it differs from what is there: after a
// crash there is the old file or the new one. A symlink is followed or
// replaced, as the package's documentation says. The file's mode is 0644.
func (l *Locks) Save(path string, product getproviders.Product) error {
	content := l.Encode(product)
	if wholefile.Has(path, content) {
		return nil
	}
	if err := wholefile.WriteDurably(writableTarget(path, product), content, 0o644); err != nil {
		return fmt.Errorf("can't save the dependency lock file: %w", err)
	}
	return nil
}

// writableTarget returns what path points to if that may be written in its
// place, else path itself. A symlink in a directory that somebody else
// prepared must not make us overwrite any file of the user's but a lock file.
func writableTarget(path string, product getproviders.Product) string {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return path
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	info, err := os.Lstat(target)
	if err != nil || !info.Mode().IsRegular() || !ownedByUser(info) {
		return path
	}
	if _, diags := Load(target, product); diags.HasErrors() {
		return path
	}
	return target
}
