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
			fmt.Fprintf(&b, "- %s %s v%s for %s\n", word, p.Selection.Provider, p.Selection.Version, p.Platform)
		}
		unrecorded = unrecorded || p.State == event.NotRecorded
	}
	if unrecorded {
		fmt.Fprintln(&b, `To record the hashes, run "tfdeps providers lock" with -platform for each platform.`)
	}
	sum := t.sum()
	fmt.Fprintf(&b, "%s %s %s", verb, terminal.Count(sum.transferred, "package"), where)
	if sum.transferred > 0 {
		fmt.Fprintf(&b, ", %s", terminal.Megabytes(sum.bytes))
	}
	if sum.present > 0 {
		fmt.Fprintf(&b, ", %d more were there already", sum.present)
	}
	if sum.missing > 0 {
		fmt.Fprintf(&b, ", %d left out", sum.missing)
	}
	return b.String() + "\n"
}

// transferSum counts packages.
type transferSum struct {
	transferred, present, missing, failed int
	bytes                                 int64 // of the archives that were sent or pulled
}

func (t CacheTransfer) sum() (sum transferSum) {
	for _, p := range t.Packages {
		switch p.State {
		case event.Sent, event.Pulled:
			sum.transferred++
			sum.bytes += p.Bytes
		case event.Present:
			sum.present++
		case event.Failed:
			sum.failed++
		default:
			sum.missing++
		}
	}
	return sum
}

// JSON lists every package that lock files select, platform by platform.
func (t CacheTransfer) JSON() any {
	sum := t.sum()
	return append(cacheObject(t.Cache), "url", t.Remote, "packages", Each(t.Packages, func(p providercache.Outcome) Object {
		return slices.Concat(about(p.Selection, p.Platform), Object{"state", p.State, "url?", p.Path, "bytes", orNull(p.Bytes)}, ErrorObject(p.Err))
	}), "summary", Object{
		"transferred", sum.transferred, "present", sum.present, "missing", sum.missing, "failed", sum.failed, "bytes", sum.bytes,
	})
}
