package result

import (
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

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
