package result

import (
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
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
type Times func(getproviders.Selection, getproviders.Platform) Span

// archiveObject is a package in a mirror, or in a repository.
func (span Times) archive(p providercache.Outcome) Object {
	level, key := "", ""
	if p.Err == nil && p.State != event.Present {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
	}
	return slices.Concat(about(p.Selection, p.Platform), Object{
		"path", filepath.ToSlash(p.Path), "present", p.State == event.Present, "source?", p.Source, "bytes", orNull(p.Bytes), "authentication?", level, "key_id?", key,
	}, span(p.Selection, p.Platform).Object(), ErrorObject(p.Err))
}

// sumOfArchives counts packages, and the bytes of those that were fetched.
func sumOfArchives(packages []providercache.Outcome) Object {
	fetched, present, failed, bytes := 0, 0, 0, int64(0)
	for _, p := range packages {
		switch {
		case p.Err != nil:
			failed++
		case p.State == event.Present:
			present++
		default:
			fetched++
			bytes += p.Bytes
		}
	}
	return Object{"fetched", fetched, "present", present, "failed", failed, "bytes", bytes}
}

// Text writes nothing: people were told before.
func (r MirrorReport) Text() string { return "" }

// JSON is what became of the mirror.
func (r MirrorReport) JSON() any {
	return Object{
		"directory", r.Dir, "packages", Each(r.Packages, r.Span.archive), "pruned", OrEmpty(r.Pruned), "waiting", OrEmpty(r.Waiting),
		"summary", sumOfArchives(r.Packages),
	}
}

// VendorReport is what became of a directory, for programs.
type VendorReport struct {
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
		"packages", Each(r.Packages, r.Span.archive), "modules", OrEmpty(r.Modules), "changed", OrEmpty(r.Changed), "removed", OrEmpty(r.Removed),
		"up_to_date?", r.UpToDate, "reasons?", r.Reasons,
		"summary", append(sumOfArchives(r.Packages), "modules", len(r.Modules), "changed", len(r.Changed), "removed", len(r.Removed)),
	}
}
