package vendorcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// exists reports whether a record was read: every record has a platform.
func exists(r vendored.Record) bool { return len(r.Platforms) > 0 }

// recorded returns the providers for the record: vendor's own, and those of
// earlier runs whose packages stay.
func recorded(r request, was vendored.Record, own []getproviders.Provider) []getproviders.Provider {
	all := slices.Clone(own)
	if there, _ := providersThere(r.Meta.Context); !r.opts.prune && r.here() {
		for _, p := range was.Providers {
			if slices.Contains(there, p) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, getproviders.Provider.Compare)
	return slices.Compact(all)
}

// announce records, before the first package is written, which providers are
// vendor's own. Otherwise the next run after a killed one would take them for placed
// ones, and fetch no missing packages of them.
func announce(r request, was vendored.Record, own []getproviders.Provider) bool {
	announced := slices.Concat(was.Providers, own)
	missing := func(p getproviders.Provider) bool { return !slices.Contains(was.Providers, p) }
	if !r.here() || !slices.ContainsFunc(announced, missing) {
		return true
	}
	was.Providers = announced
	return saveRecord(r, was)
}

// recall removes announced providers without packages from the record.
func recall(r request, was vendored.Record, placed []getproviders.Provider) {
	if !r.here() {
		return
	}
	there, err := providersThere(context.WithoutCancel(r.Meta.Context))
	if err != nil {
		return // the providers stay announced, which does no harm
	}
	there = slices.DeleteFunc(there, func(p getproviders.Provider) bool { return slices.Contains(placed, p) })
	if len(there) > 0 || exists(was) {
		was.Providers = there
		saveRecord(r, was)
		return
	}
	err = patient.Remove(filepath.FromSlash(vendored.RecordName))
	_ = patient.Remove(filepath.Dir(filepath.FromSlash(vendored.RecordName))) // fails if the directory isn't empty
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		unrecorded(r, err)
	}
}

// additions returns a function that removes those of vendor's directories and files that don't exist yet, and are made later. An
// archive needs none of this: it is made in a temporary directory.
func additions(r request) (takeBack func()) {
	if !r.here() {
		return func() {}
	}

	var absent []string
	for _, name := range []string{vendored.ModulesDir, vendored.PluginsDir, vendored.RecordName, ".terraform", "terraform.d", ".gitignore", ".gitattributes"} {
		_, err := os.Lstat(filepath.FromSlash(name))
		if errors.Is(err, os.ErrNotExist) {
			absent = append(absent, filepath.FromSlash(name))
		}
	}

	return func() {
		for _, path := range absent {
			remove := patient.Remove // of .terraform and terraform.d: others may put something there, too
			if path == filepath.FromSlash(vendored.ModulesDir) || path == filepath.FromSlash(vendored.PluginsDir) {
				remove = patient.RemoveAll
			}
			_ = remove(path) // the error of the run tells more
		}
	}
}

// saveRecord writes the record of what is vendored.
func saveRecord(r request, record vendored.Record) bool {
	if err := record.Save(r.base); err != nil {
		return unrecorded(r, err)
	}
	return true
}

func unrecorded(r request, err error) bool {
	return r.Log.Unsaved("unwritable", "Failed to record what is vendored", err)
}

// saveLockFiles writes the lock file of modules, unless toLock is nil, and that of
// providers.
func saveLockFiles(r request, p project, toLock modulelock.Locks, locks *depsfile.Locks) bool {
	if toLock != nil {
		if err := toLock.Save(r.in(modulelock.FileName)); err != nil {
			return r.Log.Unsaved("module_record", "Failed to update the lock file for modules", err)
		}
	}
	if r.here() && locks.Equal(p.dir.Locks) {
		return true
	}
	if r.here() {
		r.view.Changed(depsfile.FileName)
	}
	if err := locks.Save(r.in(depsfile.FileName), r.Product); err != nil {
		return r.Log.Unsaved("lock_file", "Failed to update dependency lock file", err)
	}
	return true
}

// gitFile is a file of the user's with a block of tfdeps.
type gitFile struct {
	name  string
	block vendored.Block
}

func gitFiles(lfs bool) []gitFile {
	return []gitFile{{".gitignore", vendored.Ignores()}, {".gitattributes", vendored.Attributes(lfs)}}
}

// writeGitFiles writes the blocks that make git keep vendored files. An archive doesn't need them.
func writeGitFiles(r request, lfs bool) bool {
	if !r.here() {
		return true
	}
	ok := true
	for _, file := range gitFiles(lfs) {
		changed, err := file.block.Apply(file.name)
		if err != nil {
			ok = r.Log.Failed("unwritable", "Failed to tell git what to keep", err)
		} else if changed {
			r.view.Changed(file.name)
		}
	}
	return ok
}

// Limits of hosting services such as GitHub, in bytes: they warn of files above
// largeFile, and refuse those above refusedFile.
const (
	largeFile   = 50_000_000
	refusedFile = 100_000_000
)

// hint warns of files that git or another machine may not be able to keep.
func hint(r request, lfs bool) bool {
	files, err := vendored.Files(r.base, vendored.Places())
	if err != nil {
		return r.Log.Failed("vendored", "Failed to read what is vendored", err)
	}
	var large, outside []string
	refused := false
	for _, f := range files {
		if f.Size > largeFile {
			large = append(large, fmt.Sprintf("  - %s (%s)", f.Name, terminal.Megabytes(f.Size)))
			refused = refused || f.Size > refusedFile
		}
	}
	for _, f := range vendored.Outside(files) {
		outside = append(outside, fmt.Sprintf("  - %s leads to %s", f.Name, f.Link))
	}
	if len(large) > 0 && !lfs {
		text := "Some services warn of files above 50 MB, and accept none above 100 MB"
		if refused {
			text += "; some here are larger"
		}
		r.Log.Warningf("", "Large files", "%s. With -lfs, .gitattributes has git LFS keep the packages of providers; "+
			"it has to be installed wherever the repository is cloned.\n\n%s", text, strings.Join(large, "\n"))
	}
	if colliding := vendored.Colliding(files); len(colliding) > 0 {
		r.Log.Warningf("", "Names that differ in case alone",
			"Where case doesn't matter, as is usual on macOS and Windows, a clone lacks files: %s differs from another name in case only. If these are names of modules, rename one in the configuration.", colliding[0].Name)
	}
	if refused := vendored.NotOnWindows(files); len(refused) > 0 {
		r.Log.Warningf("", "Names that Windows doesn't allow", "git can't check out the repository there, because of the name of %s.", refused[0].Name)
	}
	if len(outside) > 0 {
		r.Log.Warningf("", "Links out of the vendored modules", "They are kept as they are, and may lead nowhere in a clone:\n\n%s", strings.Join(outside, "\n"))
	}
	return true
}
