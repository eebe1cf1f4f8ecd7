package vendorcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
)

// exists reports whether a record was read: every record has a platform.
func exists(r vendored.Record) bool { return len(r.Platforms) > 0 }

// recorded are the providers that the record is to name: vendor's own, and those of
// earlier runs whose packages stay.
func recorded(r request, was vendored.Record, own []getproviders.Provider) []getproviders.Provider {
	all := slices.Clone(own)
	if there, _ := providersThere(r.meta.Context); !r.opts.prune && r.here() {
		for _, p := range was.Providers {
			if slices.Contains(there, p) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// announce writes down, before any package is there, which providers are
// vendor's own. Else a run after one that was killed would take them for placed
// ones, and ask no source for what is missing of them.
func announce(r request, was vendored.Record, own []getproviders.Provider) bool {
	announced := slices.Concat(was.Providers, own)
	missing := func(p getproviders.Provider) bool { return !slices.Contains(was.Providers, p) }
	if !r.here() || !slices.ContainsFunc(announced, missing) {
		return true
	}
	was.Providers = announced
	return saveRecord(r, was)
}

// recall takes back what was announced, but for what came of it.
func recall(r request, was vendored.Record, placed []getproviders.Provider) {
	if !r.here() {
		return
	}
	there, err := providersThere(context.WithoutCancel(r.meta.Context))
	if err != nil {
		return // it stays announced, which does no harm
	}
	there = slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(placed, p) })
	if len(there) > 0 || exists(was) {
		was.Providers = there
		saveRecord(r, was)
		return
	}
	err = os.Remove(filepath.FromSlash(vendored.RecordName))
	_ = os.Remove(filepath.Dir(filepath.FromSlash(vendored.RecordName))) // unless something else is in it
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		unrecorded(r, err)
	}
}

// saveRecord writes down what is vendored.
func saveRecord(r request, record vendored.Record) bool {
	if err := record.Save(r.base); err != nil {
		return unrecorded(r, err)
	}
	return true
}

func unrecorded(r request, err error) bool {
	return r.log.Unsaved("unwritable", "Failed to record what is vendored", err)
}

// saveLockFiles writes what is locked: modules, if there is anything to lock, and
// providers.
func saveLockFiles(r request, p project, toLock *modulelock.Locks, locks *depsfile.Locks) bool {
	if toLock != nil {
		if err := toLock.Save(r.in(modulelock.FileName)); err != nil {
			return r.log.Unsaved("module_record", "Failed to update the lock file for modules", err)
		}
	}
	if r.here() && locks.Equal(p.dir.Locks) {
		return true
	}
	if r.here() {
		r.view.Changed(depsfile.FileName)
	}
	if err := locks.Save(r.in(depsfile.FileName), r.product); err != nil {
		return r.log.Unsaved("lock_file", "Failed to update dependency lock file", err)
	}
	return true
}
