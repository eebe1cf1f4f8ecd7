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
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Load reads the lock file at path; a missing file is an empty Locks. Like Decode,
// it returns what could be read even if there are errors. It opens only regular
// files and links to them, because reading a pipe might never end.
func Load(path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	return LoadFS(nil, path, product)
}

// LoadFS is Load for a file in fsys; nil means the file system of the process.
func LoadFS(fsys fs.FS, path string, product getproviders.Product) (*Locks, hcl.Diagnostics) {
	src, err := wholefile.ReadFS(fsys, path, locktext.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &Locks{}, nil
	}
	if err != nil {
		return &Locks{}, unreadable(err)
	}
	return Decode(src, path, product)
}

func unreadable(err error) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Failed to read file",
		Detail:   fmt.Sprintf("The dependency lock file can't be read: %s.", err),
	}}
}

// CheckLimits returns the problem of a lock file that [Load] refuses without parsing it, because it is too large or nested too
// deeply. It is nil for every other file, and if there is none.
func CheckLimits(path string) hcl.Diagnostics {
	src, err := wholefile.Read(path, locktext.MaxBytes)
	if errors.Is(err, wholefile.ErrTooLarge) {
		return unreadable(err)
	}
	if diag := locktext.CheckLimits(src, path, locktext.MaxTokens); err == nil && diag != nil {
		return hcl.Diagnostics{diag}
	}
	return nil
}

// Save writes the file if its content differs. The write is atomic: after a crash
// the file has the old or the new content. A symlink is followed, replaced or an
// error, as the package's documentation says. The file's mode is 0644. An address or a version
// that Load would refuse is an error.
func (l *Locks) Save(path string, product getproviders.Product) error {
	for _, lock := range l.All() {
		if err := errors.Join(lock.Provider.Validate(), lock.Version.Validate()); err != nil {
			return fmt.Errorf("can't save the dependency lock file: %w", err)
		}
	}
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

// writableTarget returns the file that path links to if Save may write that file, else
// path. A symlink in a directory from elsewhere must not overwrite another file of the
// user, nor the lock file of another repository, which decides what is installed there.
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
	if owner.Repository(filepath.Dir(target)) != owner.Repository(dir) {
		return "", fmt.Errorf("%s is a symbolic link to %s, which is in another repository or directory: replace the link by a copy of the file, or run the command where the file is",
			path, target)
	}
	info, err := os.Lstat(target)
	if err != nil || !info.Mode().IsRegular() || !owner.IsUsers(info, false) {
		return path, nil
	}
	if _, diags := Load(target, product); diags.HasErrors() {
		return path, nil
	}
	return target, nil
}

// Encode returns the exact bytes that Terraform writes: a header that names the product's program,
// then one block for each provider, sorted by address. Hashes are sorted, without duplicates, one per
// line. Blocks for modules that were in the decoded file come last, unchanged.
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

// encodeLock writes a block. The equals signs of adjacent lines are
// aligned, but not that of a value with several lines.
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
