package fetch

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/chunks"
)

// ignoresCase reports whether the file system of a directory takes two names for one that differ in
// case only, as those of macOS and Windows do. What can't be found out is false.
func ignoresCase(dir string) bool {
	probe, err := os.CreateTemp(dir, ".tfdeps-case-")
	if err != nil {
		return false
	}
	defer os.Remove(probe.Name())
	defer probe.Close()
	here, err := probe.Stat()
	if err != nil {
		return false
	}
	other, err := os.Lstat(filepath.Join(dir, strings.ToUpper(filepath.Base(probe.Name()))))
	return err == nil && os.SameFile(here, other)
}

// checkSpellings refuses an archive with two names that differ in case only, where that is one
// file: the second one would be written over the first, and the module would be another one than
// elsewhere. Archives in zst, which a server alone can name, aren't read for it.
func checkSpellings(ctx context.Context, kind, file string, b bounds) error {
	seen := map[string]string{}
	err := eachName(ctx, kind, file, b.tarBytes(), func(name string) error {
		if len(seen) > b.files {
			return nil // which unpacking refuses
		}
		for at := path.Clean(strings.ReplaceAll(name, "\\", "/")); at != "." && at != "/"; at = path.Dir(at) { // directories have spellings, too
			folded := strings.ToLower(at)
			if other, ok := seen[folded]; ok && other != at {
				return fmt.Errorf("%q and %q differ in case only, and the file system here takes both for one", other, at)
			}
			seen[folded] = at
		}
		return nil
	})
	return cmp.Or(context.Cause(ctx), err)
}

// eachName calls f for the name of each entry, until it returns an error. What can't be read ends
// the names, and so do more than maxBytes: unpacking says why.
func eachName(ctx context.Context, kind, file string, maxBytes int64, f func(string) error) error {
	if kind == "zip" {
		r, err := zip.OpenReader(file)
		if err != nil {
			return nil
		}
		defer r.Close()
		for _, entry := range r.File {
			if err := f(entry.Name); err != nil {
				return err
			}
		}
		return nil
	}
	r, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer r.Close()
	var content io.Reader = bufio.NewReader(r)
	switch kind {
	case "tar.gz", "tgz":
		if content, err = gzip.NewReader(content); err != nil {
			return nil
		}
	case "tar.bz2", "tar.tbz2", "tbz2":
		content = bzip2.NewReader(content)
	case "tar":
	default:
		return nil
	}
	for entries := tar.NewReader(io.LimitReader(chunks.NewReader(ctx, content), maxBytes)); ; {
		entry, err := entries.Next()
		if err != nil {
			return nil
		}
		if err := f(entry.Name); err != nil {
			return err
		}
	}
}
