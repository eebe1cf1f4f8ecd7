package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

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
	fmt.Fprintf(&b, "Added %s to %s", terminal.Count(sum.done, "package"), terminal.Printable(f.Cache.Dir))
	if sum.present > 0 {
		fmt.Fprintf(&b, ", %d more were there already", sum.present)
	}
	return b.String() + "\n"
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
