package result

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/providercache"
)

// CacheFilling is what was put into a cache.
type CacheFilling struct {
	Cache    *providercache.Store
	Filled   []providercache.Prefetched
	Receipts *bool // whether there are receipts beside the cache; nil: none were to be
	// Span is when a package was fetched.
	Span Times
}

// Text tells what is new, and in one line what there was to do. Failures aren't
// among it: they are problems.
func (f CacheFilling) Text() string {
	var b strings.Builder
	for _, filled := range f.Filled {
		if filled.Err == nil && !filled.Present {
			fmt.Fprintf(&b, "- Added %s v%s for %s\n", filled.Selection.Provider, filled.Selection.Version, filled.Platform)
		}
	}
	added, present, _, _ := f.sum()
	there := ""
	if present > 0 {
		there = fmt.Sprintf(", %d more were there already", present)
	}
	fmt.Fprintf(&b, "Added %s to %s%s\n", terminal.Count(added, "package"), terminal.Printable(f.Cache.Dir), there)
	return b.String()
}

// sum counts packages, and the bytes of the archives of those that were added.
func (f CacheFilling) sum() (added, present, failed int, bytes int64) {
	for _, filled := range f.Filled {
		switch {
		case filled.Err != nil:
			failed++
		case filled.Present:
			present++
		default:
			added++
			bytes += filled.Bytes
		}
	}
	return added, present, failed, bytes
}

// JSON lists every package that was asked for, in that order, platform by
// platform.
func (f CacheFilling) JSON() any {
	added, present, failed, bytes := f.sum()
	return append(cacheObject(f.Cache), "packages", Each(f.Filled, f.object), "receipts", f.Receipts, "summary", Object{
		"added", added, "present", present, "failed", failed, "bytes", bytes,
	})
}

func (f CacheFilling) object(filled providercache.Prefetched) Object {
	s, dir := filled.Selection, ""
	if filled.Err == nil {
		dir = filepath.Join(f.Cache.Dir, filepath.FromSlash(layout.UnpackedPath(s.Provider, s.Version, filled.Platform)))
	}
	return slices.Concat(about(s, filled.Platform), Object{
		"directory?", dir, "added", filled.Err == nil && !filled.Present, "source?", filled.Source, "bytes", orNull(filled.Bytes),
	}, f.Span(s, filled.Platform).Object(), ErrorObject(filled.Err))
}
