package result

import (
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// LockReport is what became of lock files, for programs.
type LockReport struct {
	dirs                []Object
	changed, incomplete int
	packages            []providercache.LockedPackage // of all directories, one that several need as often
}

var hashOrigins = map[event.State]string{
	event.Fetched:  "computed",
	event.Recalled: "recalled",
	event.Listed:   "listed",
}

// Add reports on a directory.
func (r *LockReport) Add(d explain.LockedDir, span Times) {
	changed, complete, packages := false, d.Result.Err == nil, d.Result.Packages
	if !complete {
		packages = nil
	}
	for _, p := range packages {
		changed = changed || (p.New || p.Extended) && !d.Check
		complete = complete && (len(p.Missing) == 0 || !d.Check)
	}
	if changed {
		r.changed++
	}
	if !complete {
		r.incomplete++
	}
	r.packages = append(r.packages, packages...)
	providers := byProvider(packages)
	r.dirs = append(r.dirs, slices.Concat(
		Object{"dir", filepath.ToSlash(d.Dir), "lock_file", filepath.ToSlash(filepath.Join(d.Dir, d.LockFile)), "changed", changed, "complete", complete},
		ErrorObject(d.Result.Err),
		Object{"providers", Each(providers, func(all []providercache.LockedPackage) Object { return lockedProvider(d, all, span) })},
	))
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

// Text writes nothing: people were told before.
func (r LockReport) Text() string { return "" }

// JSON is what became of all directories: how the hashes of packages are known, and how many bytes of archives were read.
func (r LockReport) JSON() any {
	origins := tallied(r.packages, func(p providercache.LockedPackage) string { return hashOrigins[p.State] })
	var bytes int64
	for _, p := range r.packages {
		bytes += p.Bytes
	}
	return Object{"directories", r.dirs, "summary", Object{
		"directories", len(r.dirs), "changed", r.changed, "incomplete", r.incomplete, "packages", len(r.packages),
		"computed", origins["computed"], "recalled", origins["recalled"], "listed", origins["listed"], "bytes", bytes,
	}}
}
