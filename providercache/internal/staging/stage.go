// Package staging makes packages in private directories and publishes them by rename,
// so that no other process ever sees a package that is incomplete.
//
//	stage, err := staging.New(dir) // on the file system of the final path
//	defer stage.Remove()
//	// make the package at stage.PackagePath()
//	err = stage.Publish(ctx, final, h1)
//
// A [Batch] is one such directory for many packages.
//
// A package that is at the final path already stays if it has the same hash, and is
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

// Attempts is how often a step is tried whose directory another process may remove,
// or whose path it may take, in the meantime.
const Attempts = 4

// Stage is a private directory, or a part of one, in which one package is made.
type Stage struct {
	dir, part string
	scratch   *scratch.Dir // nil: it is a Batch's
}

// ArchivePath is where the package's archive is downloaded.
func (s *Stage) ArchivePath() string { return filepath.Join(s.dir, "archive.zip"+s.part) }

// PackagePath is where the package is made, a directory or a link.
func (s *Stage) PackagePath() string { return filepath.Join(s.dir, "package"+s.part) }

// replacedPath is where a package is put that is about to be replaced.
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

// Stage returns another stage. What is left in it is removed with the batch.
func (b *Batch) Stage() *Stage {
	return &Stage{dir: b.scratch.Path, part: "-" + strconv.FormatInt(b.stages.Add(1), 10)}
}

// Remove removes the directory with all that is still in it.
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
		if !errors.Is(err, fs.ErrNotExist) { // else another process removed dir, because it was empty
			break
		}
	}
	return made, err
}

// Remove removes the directory with all that is still in it; of a batch, the batch does.
func (s *Stage) Remove() {
	if s.scratch != nil {
		s.scratch.Remove()
	}
}

// unpackedBefore is how far the mtimes of a new package are put back: longer than
// the moment within which two changes may bear one time, on any file system.
const unpackedBefore = 3 * time.Second

// PutTimesBack gives all files and directories of the package an mtime shortly before
// now. Then every change that follows has another one, and a receipt can be made at once.
// Links are left alone, and so is what they lead to.
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
	there, err = treehash.Dir(ctx, final)
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
	if err := patient.Rename(final, s.replacedPath()); err != nil {
		return err
	}
	err := patient.Rename(s.PackagePath(), final)
	if err != nil {
		_ = patient.Rename(s.replacedPath(), final)
	}
	return err
}
