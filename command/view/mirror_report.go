package view

import (
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/mirror"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// MirrorReport is what became of a mirror.
type MirrorReport struct {
	mirror.Result
	Dir  string
	Span Times
}

// Times says when the work on a package began and ended; zero where nothing was to be done.
type Times func(resolve.Selection, getproviders.Platform) Span

// archiveObject is a package in a mirror, or in a repository.
func (span Times) archive(p archivedir.Package) object {
	level, key := "", ""
	if p.Err == nil && !p.Present {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
	}
	return slices.Concat(about(p.Selection, p.Platform), object{
		"path", filepath.ToSlash(p.Path), "present", p.Present, "source?", p.Source, "bytes", orNull(p.Bytes), "authentication?", level, "key_id?", key,
	}, span(p.Selection, p.Platform).object(), errorObject(p.Err))
}

// sumOfArchives counts packages, and the bytes of those that were fetched.
func sumOfArchives(packages []archivedir.Package) object {
	fetched, present, failed, bytes := 0, 0, 0, int64(0)
	for _, p := range packages {
		switch {
		case p.Err != nil:
			failed++
		case p.Present:
			present++
		default:
			fetched++
			bytes += p.Bytes
		}
	}
	return object{"fetched", fetched, "present", present, "failed", failed, "bytes", bytes}
}

// Text writes nothing: people were told before.
func (r MirrorReport) Text() string { return "" }

// JSON is what became of the mirror.
func (r MirrorReport) JSON() any {
	return object{
		"directory", r.Dir, "packages", each(r.Packages, r.Span.archive), "pruned", orEmpty(r.Pruned), "waiting", orEmpty(r.Waiting),
		"summary", sumOfArchives(r.Packages),
	}
}

// VendorReport is what became of a directory, for programs.
type VendorReport struct {
	packages         []archivedir.Package
	modules          []object
	changed, removed []string
	upToDate         *bool // of -check
	reasons          []CheckReason
	Span             Times
}

// Text writes nothing: people were told before.
func (r VendorReport) Text() string { return "" }

// JSON is what became of the directory.
func (r VendorReport) JSON() any {
	return object{
		"packages", each(r.packages, r.Span.archive), "modules", orEmpty(r.modules), "changed", orEmpty(r.changed), "removed", orEmpty(r.removed),
		"up_to_date?", r.upToDate, "reasons?", r.reasons,
		"summary", append(sumOfArchives(r.packages), "modules", len(r.modules), "changed", len(r.changed), "removed", len(r.removed)),
	}
}
