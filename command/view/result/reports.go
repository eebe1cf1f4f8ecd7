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
		lockFile(d), Object{"changed", changed, "complete", complete},
		ErrorObject(d.Result.Err),
		Object{"providers", Each(providers, func(all []providercache.LockedPackage) Object { return lockedProvider(d, all, span) })},
	))
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

// MirrorReport is what became of a mirror.
type MirrorReport struct {
	mirror.Result
	Dir  string
	Span Times
}

// Times says when the work on a package began and ended; zero where nothing was to be done.
type Times func(providercache.Outcome) Span

// archiveObject is a package in a mirror, or in a repository.
func (span Times) archive(p providercache.Outcome) Object {
	level, key := "", ""
	if p.Err == nil && p.State != event.Present {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
	}
	return slices.Concat(about(p), Object{
		"path", filepath.ToSlash(p.Path), "present", p.State == event.Present, "source?", p.Source, "bytes?", p.Bytes, "damaged?", p.Damaged, "authentication?", level, "key_id?", key,
	}, span(p).Object(), ErrorObject(p.Err))
}

// Text writes nothing: people were told before.
func (r MirrorReport) Text() string { return "" }

// JSON is what became of the mirror.
func (r MirrorReport) JSON() any {
	return Object{
		"directory", r.Dir, "packages", Each(r.Packages, r.Span.archive), "pruned", r.Pruned, "waiting", r.Waiting,
		"summary", sumOf(r.Packages).object("fetched"),
	}
}

// VendorReport is what became of a directory, for programs.
type VendorReport struct {
	Directory        string // "": there is only one
	Packages         []providercache.Outcome
	Modules          []Object
	Changed, Removed []string
	UpToDate         *bool // of -check, as are reasons
	Reasons          []any
	Span             Times
}

// Text writes nothing: people were told before.
func (r VendorReport) Text() string { return "" }

// JSON is what became of the directory.
func (r VendorReport) JSON() any {
	return Object{
		"directory?", r.Directory, "packages", Each(r.Packages, r.Span.archive), "modules", r.Modules, "changed", r.Changed, "removed", r.Removed,
		"up_to_date?", r.UpToDate, "reasons?", r.Reasons,
		"summary", append(sumOf(r.Packages).object("fetched"), "modules", len(r.Modules), "changed", len(r.Changed), "removed", len(r.Removed)),
	}
}

// VendorReports are those of several directories.
type VendorReports []VendorReport

// Text writes nothing: people were told before.
func (VendorReports) Text() string { return "" }

// JSON is what became of each directory.
func (all VendorReports) JSON() any {
	return Object{"directories", Each(all, VendorReport.JSON)}
}
