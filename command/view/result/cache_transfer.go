package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// CacheTransfer is what became of the packages that lock files select, between a cache and a place that machines share.
type CacheTransfer struct {
	Cache    *providercache.Store
	Remote   string // what that place is called
	Push     bool   // from the cache; else to it
	Packages []providercache.Outcome
}

// Text tells what was sent or pulled, what couldn't be, and in one line what there was to do. Failures aren't among it:
// they are problems.
func (t CacheTransfer) Text() string {
	var b strings.Builder
	verb, where := "Pulled", "from "+terminal.Printable(t.Remote)
	if t.Push {
		verb, where = "Sent", "to "+terminal.Printable(t.Remote)
	}
	words := map[event.State]string{
		event.Sent: "Sent", event.Pulled: "Pulled", event.NotCached: "Not in the cache:", event.Absent: "Not there:", event.NotRecorded: "Without its h1 hash in the lock file:",
	}
	unrecorded := false
	for _, p := range t.Packages {
		if word, ok := words[p.State]; ok {
			fmt.Fprintf(&b, "- %s %s v%s for %s\n", word, p.Provider, p.Version, p.Platform)
		}
		unrecorded = unrecorded || p.State == event.NotRecorded
	}
	if unrecorded {
		fmt.Fprintln(&b, `To record the hashes, run "tfdeps providers lock" with -platform for each platform.`)
	}
	sum := sumOf(t.Packages)
	parts := terminal.Phrases{fmt.Sprintf("%s %s %s", verb, terminal.Count(sum.done, "package"), where)}
	parts.Add(sum.done, "%s", terminal.Megabytes(sum.bytes))
	parts.Add(sum.present, "%d more were there already", sum.present)
	parts.Add(sum.missing, "%d left out", sum.missing)
	fmt.Fprintln(&b, parts)
	return b.String()
}

// JSON lists every package that lock files select, platform by platform.
func (t CacheTransfer) JSON() any {
	sum := sumOf(t.Packages)
	return append(cacheObject(t.Cache), "url", t.Remote, "packages", Each(t.Packages, func(p providercache.Outcome) Object {
		return slices.Concat(about(p), Object{"state", p.State, "url?", p.Path, "bytes?", p.Bytes}, ErrorObject(p.Err))
	}), "summary", Object{
		"transferred", sum.done, "present", sum.present, "missing", sum.missing, "failed", sum.failed, "bytes", sum.bytes,
	})
}

// CacheFilling is what was put into a cache.
type CacheFilling struct {
	Cache    *providercache.Store
	Packages []providercache.Outcome
	Receipts *bool // whether there are receipts beside the cache; nil: none were to be
	// Span is when a package was fetched.
	Span Times
}

// Text tells what is new, and in one line what there was to do. Failures aren't
// among it: they are problems.
func (f CacheFilling) Text() string {
	var b strings.Builder
	for _, p := range f.Packages {
		if p.State == event.Fetched {
			fmt.Fprintf(&b, "- Added %s v%s for %s\n", p.Provider, p.Version, p.Platform)
		}
	}
	sum := sumOf(f.Packages)
	parts := terminal.Phrases{fmt.Sprintf("Added %s to %s", terminal.Count(sum.done, "package"), terminal.Printable(f.Cache.Dir))}
	parts.Add(sum.present, "%d more were there already", sum.present)
	fmt.Fprintln(&b, parts)
	return b.String()
}

// JSON lists every package that was asked for, in that order, platform by
// platform.
func (f CacheFilling) JSON() any {
	return append(cacheObject(f.Cache), "packages", Each(f.Packages, f.object), "receipts", f.Receipts, "summary", sumOf(f.Packages).object("added"))
}

func (f CacheFilling) object(p providercache.Outcome) Object {
	dir := ""
	if p.Err == nil {
		dir = f.Cache.PackagePath(p.Provider, p.Version, p.Platform)
	}
	return slices.Concat(about(p), Object{
		"directory?", dir, "added", p.State == event.Fetched, "source?", p.Source, "bytes?", p.Bytes,
	}, f.Span(p).Object(), ErrorObject(p.Err))
}
