package result

import (
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

var hashOrigins = map[event.State]string{
	event.Fetched:  "computed",
	event.Recalled: "recalled",
	event.Listed:   "listed",
}

// Lock is the report about lock files: the origin of the packages' hashes, and how many bytes of archives were read. A package
// counts once for each directory that needs it.
func Lock(dirs []explain.LockedDir, span Times) *Result {
	changed, incomplete, bytes, origins := 0, 0, int64(0), map[string]int{}
	objects := Each(dirs, func(d explain.LockedDir) Object {
		isChanged, complete, packages := false, d.Result.Err == nil, d.Result.Packages
		if !complete {
			packages = nil
		}
		for _, p := range packages {
			isChanged = isChanged || (p.New || p.Extended) && !d.Check
			complete = complete && (len(p.Missing) == 0 || !d.Check)
			bytes += p.Bytes
			origins[hashOrigins[p.State]]++
			origins["all"]++
		}
		if isChanged {
			changed++
		}
		if !complete {
			incomplete++
		}
		return slices.Concat(lockFile(d), Object{"changed", isChanged, "complete", complete}, ErrorObject(d.Result.Err), Object{
			"providers", Each(byProvider(packages), func(all []providercache.LockedPackage) Object { return lockedProvider(d, all, span) }),
		})
	})
	return &Result{Programs: Object{"directories", objects, "summary", Object{
		"directories", len(dirs), "changed", changed, "incomplete", incomplete, "packages", origins["all"],
		"computed", origins["computed"], "recalled", origins["recalled"], "listed", origins["listed"], "bytes", bytes,
	}}}
}

func lockFile(d explain.LockedDir) Object {
	return Object{"dir", filepath.ToSlash(d.Dir), "lock_file", filepath.ToSlash(filepath.Join(d.Dir, depsfile.FileName))}
}

func lockedProvider(d explain.LockedDir, all []providercache.LockedPackage, span Times) Object {
	s := all[0].Selection
	lock, _ := d.Result.Locks.Provider(s.Provider)
	return Object{
		"address", s.Provider, "version", s.Version, "previous_version|null", all[0].Previous, "version_constraints", s.Constraints, "hashes", lock.Hashes,
		"platforms", Each(all, func(p providercache.LockedPackage) Object {
			return append(Object{
				"platform", p.Platform, "h1", p.H1, "zh?", p.ZH, "origin", hashOrigins[p.State], "source", p.Source,
				"authentication", p.Authentication.TrustLevel.String(), "key_id?", p.Authentication.KeyID, "missing", p.Missing, "bytes?", p.Bytes,
			}, span(p.Outcome).Object()...)
		}),
	}
}

// Times returns when the work on a package began and ended, or zero without any work.
type Times func(providercache.Outcome) Span

// archive returns the object of a package in a mirror or a vendored tree.
func (span Times) archive(p providercache.Outcome) Object {
	level, key := "", ""
	if p.Err == nil && p.State != event.Present {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
	}
	return slices.Concat(about(p), Object{
		"path", filepath.ToSlash(p.Path), "present", p.State == event.Present, "source?", p.Source, "bytes?", p.Bytes, "damaged?", p.Damaged, "authentication?", level, "key_id?", key,
	}, span(p).Object(), ErrorObject(p.Err))
}

// tried returns the packages without those that a failed run has left out.
func tried(packages []providercache.Outcome) []providercache.Outcome {
	return slices.DeleteFunc(slices.Clone(packages), func(p providercache.Outcome) bool { return p.State == event.NotTried })
}

// Mirror is the report about a mirror in a directory, or at a URL.
func Mirror(dir string, done mirror.Result, span Times) *Result {
	packages := tried(done.Packages)
	return &Result{Programs: Object{
		"directory", filepath.ToSlash(dir), "packages", Each(packages, span.archive), "pruned", done.Pruned, "waiting", done.Waiting,
		"summary", sumOf(packages).object("fetched"),
	}}
}

// Vendored is the result of vendoring in a directory.
type Vendored struct {
	Directory        string // "" if the run has only one
	Packages         []providercache.Outcome
	Modules          []Object
	Changed, Removed []string
	UpToDate         *bool // set by -check, as are Reasons
	Reasons          []any
}

// Object is the report for programs.
func (v Vendored) Object(span Times) Object {
	packages := tried(v.Packages)
	return Object{
		"directory?", v.Directory, "packages", Each(packages, span.archive), "modules", v.Modules, "changed", v.Changed, "removed", v.Removed,
		"up_to_date?", v.UpToDate, "reasons?", v.Reasons,
		"summary", append(sumOf(packages).object("fetched"), "modules", len(v.Modules), "changed", len(v.Changed), "removed", len(v.Removed)),
	}
}
