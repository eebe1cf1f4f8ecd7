package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
)

// publish moves the package to its final path. What is there already is kept
// if it is the same, and else replaced as a whole. Parent directories are made
// now and not earlier, so that a failure leaves none behind.
func (s *staging) publish(ctx context.Context, final string, h1 getproviders.Hash) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var made []string
	defer func() {
		if err != nil {
			removeEmpty(made)
		}
	}()
	for range attempts {
		_, err = os.Lstat(final)
		switch {
		case err == nil && s.isSame(ctx, final, h1):
			return nil
		case err == nil:
			err = s.replace(final)
		case errors.Is(err, fs.ErrNotExist):
			var more []string
			if more, err = makeDirs(filepath.Dir(final)); err == nil {
				err = os.Rename(s.packagePath(), final)
			}
			made = append(made, more...)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// isSame reports whether what is published already is what would be: a
// directory with the same files, or a link to the same place. A link where a
// directory belongs is not followed.
func (s *staging) isSame(ctx context.Context, final string, h1 getproviders.Hash) bool {
	if target, err := os.Readlink(s.packagePath()); err == nil {
		existing, err := os.Readlink(final)
		return err == nil && existing == target
	}
	info, err := os.Lstat(final)
	if err != nil || !info.IsDir() {
		return false
	}
	existing, err := getproviders.HashDir(ctx, final)
	return err == nil && existing == h1
}

// replace puts the package where another one is, which goes to the stage and
// is removed with it.
func (s *staging) replace(final string) error {
	if exchange(s.packagePath(), final) == nil {
		return nil
	}
	return s.replaceByRenames(final)
}

// replaceByRenames is for systems that can't exchange two at once: there is
// nothing at the path for a moment, and never a mixture.
func (s *staging) replaceByRenames(final string) error {
	if err := os.Rename(final, s.replacedPath()); err != nil {
		return err
	}
	err := os.Rename(s.packagePath(), final)
	if err != nil {
		_ = os.Rename(s.replacedPath(), final)
	}
	return err
}
