package view

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tfdeps/tfdeps/providercache"
)

// CacheRemoved tells what became of packages that were to be removed: why some
// stay, and in one line what was gained.
func CacheRemoved(w io.Writer, done providercache.Removal, dryRun bool) {
	for _, kept := range done.Kept {
		why := kept.Why.Error()
		if errors.Is(kept.Why, providercache.ErrInUse) && len(kept.Linked) > 0 {
			why = printable(workingDirectory(kept.Linked[0])) + " has a link to it"
		}
		fmt.Fprintf(w, "Kept %s %s %s: %s\n", kept.Provider, kept.Version, kept.Platform, why)
	}
	verbs := []string{"Removed", "freed"}
	if dryRun {
		verbs = []string{"Would remove", "which frees"}
		for _, p := range done.Removed {
			fmt.Fprintf(w, "Would remove %s %s %s\n", p.Provider, p.Version, p.Platform)
		}
	}
	if len(done.Removed) == 0 {
		fmt.Fprintln(w, verbs[0]+" no packages")
		return
	}
	shared := ""
	if done.Shared > 0 {
		shared = fmt.Sprintf(" (%s shared with %s)", megabytes(done.Shared), count(len(done.SharedWith), "directory"))
		if len(done.SharedWith) == 0 {
			shared = fmt.Sprintf(" (%s shared with other directories)", megabytes(done.Shared))
		}
	}
	fmt.Fprintf(w, "%s %s, %s %s%s\n", verbs[0], count(len(done.Removed), "package"), verbs[1], megabytes(done.Freed), shared)
}

// ModulesSwept tells what was removed from the store of modules, if anything was.
func ModulesSwept(w io.Writer, entries int, bytes int64, dryRun bool) {
	verb := "Removed"
	if dryRun {
		verb = "Would remove"
	}
	if entries > 0 {
		fmt.Fprintf(w, "%s %s of the store of modules, %s\n", verb, count(entries, "entry"), megabytes(bytes))
	}
}

// CacheVerified tells which packages aren't what they should be, and in one
// line what was found.
func CacheVerified(w io.Writer, found []providercache.Verified) {
	sums := map[providercache.Finding]int{}
	for _, v := range found {
		sums[v.Finding]++
		name := fmt.Sprintf("%s %s %s", v.Provider, v.Version, v.Platform)
		switch {
		case v.Finding == providercache.Broken && v.Err != nil:
			fmt.Fprintf(w, "Damaged: %s: %s\n", name, printable(v.Err.Error()))
		case v.Finding == providercache.Broken:
			fmt.Fprintf(w, "Damaged: %s has %s and should have %s\n", name, v.H1, v.Expected[0])
		case v.Finding == providercache.NotLocked:
			fmt.Fprintf(w, "Not what the lock files record: %s has %s\n", name, v.H1)
		}
	}
	parts := []string{fmt.Sprintf("%d sound", sums[providercache.Sound])}
	for _, more := range []struct {
		finding providercache.Finding
		words   string
	}{
		{providercache.Broken, "damaged"},
		{providercache.NotLocked, "not what the lock files record"},
		{providercache.Unvouched, "of which nobody knows what they should be"},
	} {
		if n := sums[more.finding]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, more.words))
		}
	}
	fmt.Fprintf(w, "Verified %s: %s\n", count(len(found), "package"), strings.Join(parts, ", "))
}

// CacheFilled tells what was put into a cache.
func CacheFilled(w io.Writer, dir string, filled []providercache.Filled) {
	added, present := 0, 0
	for _, f := range filled {
		switch {
		case f.Err != nil:
		case f.Present:
			present++
		default:
			added++
			fmt.Fprintf(w, "- Added %s v%s for %s\n", f.Selection.Provider, f.Selection.Version, f.Platform)
		}
	}
	there := ""
	if present > 0 {
		there = fmt.Sprintf(", %d more were there already", present)
	}
	fmt.Fprintf(w, "Added %s to %s%s\n", count(added, "package"), printable(dir), there)
}
