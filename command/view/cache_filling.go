package view

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// CacheFilling is what was put into a cache.
type CacheFilling struct {
	Cache    *store.Store
	Filled   []providercache.Prefetched
	Receipts *bool // whether there are receipts beside the cache; nil: none were to be
	// Span is when a package was fetched.
	Span func(resolve.Selection, getproviders.Platform) Span
}

// Text tells what is new, and in one line what there was to do. Failures aren't
// among it: they are problems.
func (f CacheFilling) Text() string {
	var b strings.Builder
	added, present := 0, 0
	for _, filled := range f.Filled {
		switch {
		case filled.Err != nil:
		case filled.Present:
			present++
		default:
			added++
			fmt.Fprintf(&b, "- Added %s v%s for %s\n", filled.Selection.Provider, filled.Selection.Version, filled.Platform)
		}
	}
	there := ""
	if present > 0 {
		there = fmt.Sprintf(", %d more were there already", present)
	}
	fmt.Fprintf(&b, "Added %s to %s%s\n", count(added, "package"), Printable(f.Cache.Dir), there)
	return b.String()
}

type jsonFilling struct {
	jsonHead
	Packages []jsonPrefetched `json:"packages"`
	Receipts *bool            `json:"receipts"`
	Sum      jsonFilled       `json:"summary"`
}

// jsonFilled counts packages.
type jsonFilled struct {
	Added   int   `json:"added"`
	Present int   `json:"present"`
	Failed  int   `json:"failed"`
	Bytes   int64 `json:"bytes"` // of the archives of those that were added
}

type jsonPrefetched struct {
	jsonPackage
	Directory string `json:"directory,omitempty"`
	Added     bool   `json:"added"`
	Source    string `json:"source,omitempty"`
	Bytes     *int64 `json:"bytes"`
	jsonSpan
	*jsonFailure
}

// JSON lists every package that was asked for, in that order, platform by
// platform.
func (f CacheFilling) JSON() any {
	out := jsonFilling{jsonHead: newJSONHead(f.Cache), Packages: each(f.Filled, f.prefetched), Receipts: f.Receipts}
	for _, filled := range f.Filled {
		switch {
		case filled.Err != nil:
			out.Sum.Failed++
		case filled.Present:
			out.Sum.Present++
		default:
			out.Sum.Added++
			out.Sum.Bytes += filled.Bytes
		}
	}
	return out
}

func (f CacheFilling) prefetched(filled providercache.Prefetched) jsonPrefetched {
	s := filled.Selection
	p := jsonPrefetched{
		jsonPackage: selected(s, filled.Platform), Added: filled.Err == nil && !filled.Present, Source: filled.Source, Bytes: known(filled.Bytes),
		jsonSpan: newJSONSpan(f.Span(s, filled.Platform)), jsonFailure: newJSONFailure(filled.Err),
	}
	if filled.Err == nil {
		p.Directory = filepath.Join(f.Cache.Dir, filepath.FromSlash(getproviders.UnpackedPath(s.Provider, s.Version, filled.Platform)))
	}
	return p
}
