package staging

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

// ErrTaken says that there is another package, which has to stay.
var ErrTaken = errors.New("there is another package in its place")

// Publish moves the package to its final path. What is there already is kept
// if it is the same, and else replaced as a whole.
func (s *Stage) Publish(ctx context.Context, final string, h1 getproviders.Hash) error {
	_, err := s.Offer(ctx, final, h1, func(getproviders.Hash) bool { return true })
	return err
}

// Offer is Publish where the package at the final path may have to stay: it is
// replaced if yields, given its hash ("" if it can't be read), returns true. Else the
// error is ErrTaken. adopted: the package there is the same. Parent directories that
// were made are removed if publishing fails.
func (s *Stage) Offer(ctx context.Context, final string, h1 getproviders.Hash, yields func(there getproviders.Hash) bool) (adopted bool, err error) {
	var made []string
	defer func() {
		if err != nil {
			scratch.RemoveEmpty(made)
		}
	}()
	for range Attempts {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		_, err = os.Lstat(final)
		switch {
		case err == nil:
			adopted, err = s.replaceUnlessSame(ctx, final, h1, yields)
		case errors.Is(err, fs.ErrNotExist):
			var more []string
			if more, err = scratch.MakeDirs(filepath.Dir(final)); err == nil {
				err = os.Rename(s.PackagePath(), final)
			}
			made = append(made, more...)
		}
		if _, linked := errors.AsType[*scratch.LinkError](err); linked || err == nil || errors.Is(err, ErrTaken) {
			return adopted, err
		}
	}
	return false, err
}

func (s *Stage) replaceUnlessSame(ctx context.Context, final string, h1 getproviders.Hash, yields func(there getproviders.Hash) bool) (same bool, err error) {
	there, same := s.compare(ctx, final, h1)
	switch {
	case same:
		return true, nil
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case !yields(there):
		return false, ErrTaken
	}
	if err := scratch.CheckLinks(filepath.Dir(s.dir), final); err != nil {
		return false, err
	}
	return false, s.replace(final)
}

// compare reports whether what is at the final path is the same package: a
// directory with the same files, or a link to the same place. A link where a
// directory belongs is not followed. The hash is that of the directory, if it
// could be read.
func (s *Stage) compare(ctx context.Context, final string, h1 getproviders.Hash) (there getproviders.Hash, same bool) {
	if target, err := os.Readlink(s.PackagePath()); err == nil {
		existing, err := os.Readlink(final)
		return "", err == nil && existing == target
	}
	info, err := os.Lstat(final)
	if err != nil || !info.IsDir() {
		return "", false
	}
	there, err = getproviders.HashDir(ctx, final)
	if err != nil {
		return "", false
	}
	return there, there == h1
}

// replace puts the package where another one is, which goes to the stage and
// is removed with it.
func (s *Stage) replace(final string) error {
	if exchange(s.PackagePath(), final) == nil {
		return nil
	}
	return s.replaceByRenames(final)
}

// replaceByRenames is for systems that can't exchange two at once: there is
// nothing at the path for a moment, and never a mixture.
func (s *Stage) replaceByRenames(final string) error {
	if err := os.Rename(final, s.replacedPath()); err != nil {
		return err
	}
	err := os.Rename(s.PackagePath(), final)
	if err != nil {
		_ = os.Rename(s.replacedPath(), final)
	}
	return err
}
