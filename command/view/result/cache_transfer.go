package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// CacheTransfer is what became of the packages that lock files select, between a cache and a place that machines share.
type CacheTransfer struct {
	Cache    *providercache.Store
	Remote   string // what that place is called
	Push     bool   // from the cache; else to it
	Packages []mirror.Transferred
}

// Text tells what was sent or pulled, what couldn't be, and in one line what there was to do. Failures aren't among it:
// they are problems.
func (t CacheTransfer) Text() string {
	var b strings.Builder
	verb, where := "Pulled", "from "+terminal.Printable(t.Remote)
	if t.Push {
		verb, where = "Sent", "to "+terminal.Printable(t.Remote)
	}
	words := map[mirror.TransferState]string{
		mirror.Sent: "Sent", mirror.Pulled: "Pulled", mirror.NotCached: "Not in the cache:", mirror.Absent: "Not there:", mirror.NotRecorded: "Without its h1 hash in the lock file:",
	}
	unrecorded := false
	for _, p := range t.Packages {
		if word, ok := words[p.State]; ok {
			fmt.Fprintf(&b, "- %s %s v%s for %s\n", word, p.Selection.Provider, p.Selection.Version, p.Platform)
		}
		unrecorded = unrecorded || p.State == mirror.NotRecorded
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
		case mirror.Sent, mirror.Pulled:
			sum.transferred++
			sum.bytes += p.Bytes
		case mirror.Present:
			sum.present++
		case mirror.Failed:
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
	return append(cacheObject(t.Cache), "url", t.Remote, "packages", Each(t.Packages, func(p mirror.Transferred) Object {
		return slices.Concat(about(p.Selection, p.Platform), Object{"state", p.State, "url?", p.URL, "bytes", orNull(p.Bytes)}, ErrorObject(p.Err))
	}), "summary", Object{
		"transferred", sum.transferred, "present", sum.present, "missing", sum.missing, "failed", sum.failed, "bytes", sum.bytes,
	})
}
