// Package staging makes packages in private directories and publishes them by
// rename, so that no other process ever sees an incomplete package.
//
//	stage, err := staging.New(dir) // on the file system of the final path
//	defer stage.Remove()
//	// make the package at stage.PackagePath()
//	adopted, err := stage.Publish(ctx, final, h1)
//
// A [Batch] is one such directory for many packages.
//
// A package at the final path stays if it has the same hash, and is
// replaced as a whole if not. [Stage.Offer] lets the caller keep it.
package staging

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// Attempts bounds how often a step is tried while other processes
// remove its directory or take its path.
const Attempts = 4

// Stage is a private directory, or a part of one, in which one package is made.
type Stage struct {
	dir, part string
	scratch   *scratch.Dir // nil: it is a Batch's
}

// ArchivePath returns the path for the package's archive.
func (s *Stage) ArchivePath() string { return filepath.Join(s.dir, "archive.zip"+s.part) }

// PackagePath returns the path for the package, a directory or a link.
func (s *Stage) PackagePath() string { return filepath.Join(s.dir, "package"+s.part) }

// replacedPath returns the path for a package that is replaced.
func (s *Stage) replacedPath() string { return filepath.Join(s.dir, "replaced"+s.part) }

// Batch is a private directory in which many packages are made, each in a stage of its
// own.
type Batch struct {
	scratch *scratch.Dir
	stages  atomic.Int64
}

// NewBatch is New for many packages.
func NewBatch(dir string) (*Batch, error) {
	made, err := makeScratch(dir)
	if err != nil {
		return nil, err
	}
	return &Batch{scratch: made}, nil
}

// Stage returns a new stage. Its files are removed with the batch.
func (b *Batch) Stage() *Stage {
	return &Stage{dir: b.scratch.Path, part: "-" + strconv.FormatInt(b.stages.Add(1), 10)}
}

// Remove removes the directory with its content.
func (b *Batch) Remove() { b.scratch.Remove() }

// New makes a staging directory in a directory, which is made if it doesn't exist.
func New(dir string) (*Stage, error) {
	made, err := makeScratch(dir)
	if err != nil {
		return nil, err
	}
	return &Stage{dir: made.Path, scratch: made}, nil
}

func makeScratch(dir string) (*scratch.Dir, error) {
	var made *scratch.Dir
	var err error
	for range Attempts {
		if _, err = scratch.MakeDirs(dir); err != nil {
			return nil, err
		}
		made, err = scratch.Make(dir)
		if !errors.Is(err, fs.ErrNotExist) { // else another process removed dir, which was empty
			break
		}
	}
	return made, err
}

// Remove removes the directory with its content; the stage of a Batch is removed with that.
func (s *Stage) Remove() {
	if s.scratch != nil {
		s.scratch.Remove()
	}
}

// unpackedBefore is how far the mtimes of a new package are put
// back: longer than the resolution of any file system's times.
const unpackedBefore = 3 * time.Second

// PutTimesBack gives all files and directories of the package an mtime
// shortly before now. Every later change then has another mtime, so a
// receipt can be made at once. Links and their targets aren't changed.
func (s *Stage) PutTimesBack(now time.Time) {
	var paths []string
	_ = filepath.WalkDir(s.PackagePath(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink == 0 {
			paths = append(paths, path)
		}
		return err
	})
	for _, path := range slices.Backward(paths) { // a directory after what is in it
		_ = os.Chtimes(path, time.Time{}, now.Add(-unpackedBefore))
	}
}

// ErrTaken says that the final path has another package, which has to stay.
var ErrTaken = errors.New("there is another package in its place")

// Publish moves the package to its final path. A package that is
// there stays if it is the same, which adopted says, and else is replaced as a whole.
func (s *Stage) Publish(ctx context.Context, final string, h1 getproviders.Hash) (adopted bool, err error) {
	return s.Offer(ctx, final, h1, func(getproviders.Hash) bool { return true })
}

// Offer is Publish if the package at the final path may have to stay: it is
// replaced if yields, given its hash ("" if it can't be read), returns true;
// otherwise the error is ErrTaken. adopted says that the package there is the
// same. Parent directories that were made are removed if publishing fails.
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
				err = patient.Rename(s.PackagePath(), final)
			}
			made = append(made, more...)
		}
		if _, linked := errors.AsType[*scratch.LinkError](err); linked || err == nil || errors.Is(err, ErrTaken) || errors.Is(err, patient.ErrHeld) {
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

// compare reports whether the same package is at the final path: a directory with the
// same files, or a link with the same target. A link where a directory belongs isn't
// followed. there is the directory's hash, or "" if it couldn't be read.
func (s *Stage) compare(ctx context.Context, final string, h1 getproviders.Hash) (there getproviders.Hash, same bool) {
	if target, err := os.Readlink(s.PackagePath()); err == nil {
		existing, err := os.Readlink(final)
		return "", err == nil && existing == target
	}
	info, err := os.Lstat(final)
	if err != nil || !info.IsDir() {
		return "", false
	}
	there, err = treehash.Dir(ctx, final)
	if err != nil {
		return "", false
	}
	return there, there == h1
}

// replace swaps the package with the one at the final path, which is removed with the stage.
func (s *Stage) replace(final string) error {
	if exchange(s.PackagePath(), final) == nil {
		return nil
	}
	return s.replaceByRenames(final)
}

// replaceByRenames is for systems that can't swap two paths: the
// path doesn't exist for a moment, but never has a mixture.
func (s *Stage) replaceByRenames(final string) error {
	if err := patient.Rename(final, s.replacedPath()); err != nil {
		return err
	}
	err := patient.Rename(s.PackagePath(), final)
	if err != nil {
		_ = patient.Rename(s.replacedPath(), final)
	}
	return err
}
