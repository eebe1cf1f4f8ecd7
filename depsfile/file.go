package depsfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/locktext"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Load reads the file; a missing file is an empty Locks. Like Decode, it
// returns what could be read even if there are errors. What is no regular file,
// nor a link to one, isn't opened: a pipe would never end.
func Load(path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	return LoadFS(nil, path, product)
}

// LoadFS is Load for a file in fsys; nil is the file system of the process.
func LoadFS(fsys fs.FS, path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	src, err := wholefile.ReadFS(fsys, path, locktext.MaxBytes)
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
// replaced, or is an error, as the package's documentation says. The file's mode is 0644.
func (l *Locks) Save(path string, product getproviders.Product) error {
	content := l.Encode(product)
	if wholefile.Has(path, content) {
		return nil
	}
	target, err := writableTarget(path, product)
	if err == nil {
		err = wholefile.WriteDurably(target, content, 0o644)
	}
	if err != nil {
		return fmt.Errorf("can't save the dependency lock file: %w", err)
	}
	return nil
}

// writableTarget returns what path points to if that may be written in its
// place, else path itself. A symlink in a directory from
// elsewhere must not lead to another file of the user's being overwritten, and the lock
// file of another repository decides what is installed there.
func writableTarget(path string, product getproviders.Product) (string, error) {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return path, nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) { // the link leads to nothing
		return path, nil
	}
	dir, dirErr := filepath.EvalSymlinks(filepath.Dir(full))
	if err := errors.Join(err, dirErr); err != nil {
		return "", err
	}
	if repository(filepath.Dir(target)) != repository(dir) {
		return "", fmt.Errorf("%s is a symbolic link to %s, which is in another repository or directory: replace the link by a copy of the file, or run the command where the file is",
			path, target)
	}
	info, err := os.Lstat(target)
	if err != nil || !info.Mode().IsRegular() || !ownedByUser(info) {
		return path, nil
	}
	if _, diags := Load(target, product); diags.HasErrors() {
		return path, nil
	}
	return target, nil
}

// repository is the nearest directory with an entry ".git" that a directory is in, or is itself; the directory
// where there is none.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// What a lock file for anything else has in common with the one for providers
// is exported here.

// Encode returns the exact bytes that Terraform writes: a header that
// names the product's program, then one block for each provider, in order. The
// hashes of each are sorted, without duplicates, one in a line. Blocks for modules that
// the locks were read with come last, as they were.
func (l *Locks) Encode(product getproviders.Product) []byte {
	product = product.OrDefault()
	var out bytes.Buffer
	fmt.Fprintf(&out, "# This file is maintained automatically by %q.\n", product.Program+" init")
	out.WriteString("# Manual edits may be lost in future updates.\n")
	for _, lock := range l.All() {
		encodeLock(&out, lock)
	}
	for _, block := range l.orEmpty().modules {
		fmt.Fprintf(&out, "\n%s\n", block)
	}
	return out.Bytes()
}

// encodeLock writes a block. Neighbouring lines have their equals signs one
// below the other; a value that takes several lines is no neighbour.
func encodeLock(out *bytes.Buffer, lock Lock) {
	fmt.Fprintf(out, "\nprovider %s {\n", locktext.Quote(lock.Provider.String()))
	if lock.Constraints.IsEmpty() {
		fmt.Fprintf(out, "  version = %s\n", locktext.Quote(lock.Version.String()))
	} else {
		fmt.Fprintf(out, "  version     = %s\n", locktext.Quote(lock.Version.String()))
		fmt.Fprintf(out, "  constraints = %s\n", locktext.Quote(lock.Constraints.String()))
	}
	if len(lock.Hashes) > 0 {
		out.WriteString("  hashes = [\n")
		for _, hash := range hashing.Sort(lock.Hashes) {
			fmt.Fprintf(out, "    %s,\n", locktext.Quote(string(hash)))
		}
		out.WriteString("  ]\n")
	}
	out.WriteString("}\n")
}
