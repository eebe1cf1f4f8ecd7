package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// units returns the units to publish, in order.
func (m Manifest) units(opts Options) (units []string) {
	seen := map[string]bool{}
	for _, e := range m.Files {
		unit, _ := opts.Unit(e.Path)
		if !seen[unit] && !slices.Contains(opts.Last, unit) {
			units = append(units, unit)
		}
		seen[unit] = true
	}
	for _, unit := range opts.Last {
		if seen[unit] {
			units = append(units, unit)
		}
	}
	return units
}

// publish renames units into place. If that fails, it restores what was there before.
func publish(ctx context.Context, units []string, stage, dir string) (err error) {
	var done []func() error // each undoes one step
	defer func() {
		if err == nil {
			return
		}
		for _, undo := range slices.Backward(done) {
			err = errors.Join(err, undo())
		}
	}()
	for i, unit := range units {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from, to := filepath.Join(stage, contentDir, filepath.FromSlash(unit)), filepath.Join(dir, filepath.FromSlash(unit))
		if err := noLinkAbove(dir, unit); err != nil {
			return err
		}
		made, err := scratch.MakeDirs(filepath.Dir(to))
		done = append(done, func() error { scratch.RemoveEmpty(made); return nil })
		if err != nil {
			return err
		}
		steps, err := replace(from, to, filepath.Join(stage, "replaced-"+strconv.Itoa(i)))
		if done = append(done, steps...); err != nil {
			return err
		}
	}
	return nil
}

// noLinkAbove returns an error if a directory above the unit is a symlink, which may lead out of
// dir, or a file.
func noLinkAbove(dir, unit string) error {
	for up := path.Dir(unit); up != "."; up = path.Dir(up) {
		at := filepath.Join(dir, filepath.FromSlash(up))
		if info, err := os.Lstat(at); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a directory, but a link or a file", at)
		}
	}
	return nil
}

// replace moves a unit to its place, and what is there to aside. If hard links work, a file is
// replaced atomically: to always exists.
func replace(from, to, aside string) (done []func() error, err error) {
	info, err := os.Lstat(to)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && err != nil {
		return nil, err
	}
	back := func() error { return patient.Rename(aside, to) }
	linked := there && info.Mode().IsRegular() && os.Link(to, aside) == nil
	if there && !linked {
		if err := patient.Rename(to, aside); err != nil {
			return nil, err
		}
		done = append(done, back)
	}
	if err := patient.Rename(from, to); err != nil {
		return done, err
	}
	if linked {
		return append(done, back), nil
	}
	return append(done, func() error { return patient.Rename(to, from) }), nil
}
