package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/store"
	"github.com/tfdeps/tfdeps/providercache/transfer"
)

// CacheTransfer is what became of the packages that lock files select, between a cache and a place that machines share.
type CacheTransfer struct {
	Cache    *store.Store
	Remote   string // what that place is called
	Push     bool   // from the cache; else to it
	Packages []transfer.Result
}

// Text tells what was sent or pulled, what couldn't be, and in one line what there was to do. Failures aren't among it:
// they are problems.
func (t CacheTransfer) Text() string {
	var b strings.Builder
	verb, where := "Pulled", "from "+Printable(t.Remote)
	if t.Push {
		verb, where = "Sent", "to "+Printable(t.Remote)
	}
	words := map[transfer.State]string{
		transfer.Sent: "Sent", transfer.Pulled: "Pulled", transfer.NotCached: "Not in the cache:", transfer.Absent: "Not there:", transfer.NotRecorded: "Without its h1 hash in the lock file:",
	}
	unrecorded := false
	for _, p := range t.Packages {
		if word, ok := words[p.State]; ok {
			fmt.Fprintf(&b, "- %s %s v%s for %s\n", word, p.Selection.Provider, p.Selection.Version, p.Platform)
		}
		unrecorded = unrecorded || p.State == transfer.NotRecorded
	}
	if unrecorded {
		fmt.Fprintln(&b, `To record the hashes, run "tfdeps providers lock" with -platform for each platform.`)
	}
	sum := t.sum()
	fmt.Fprintf(&b, "%s %s %s", verb, count(sum.Transferred, "package"), where)
	if sum.Transferred > 0 {
		fmt.Fprintf(&b, ", %s", megabytes(sum.Bytes))
	}
	if sum.Present > 0 {
		fmt.Fprintf(&b, ", %d more were there already", sum.Present)
	}
	if sum.Missing > 0 {
		fmt.Fprintf(&b, ", %d left out", sum.Missing)
	}
	return b.String() + "\n"
}

func (t CacheTransfer) sum() (sum jsonTransferSum) {
	for _, p := range t.Packages {
		switch p.State {
		case transfer.Sent, transfer.Pulled:
			sum.Transferred++
			sum.Bytes += p.Bytes
		case transfer.Present:
			sum.Present++
		case transfer.Failed:
			sum.Failed++
		default:
			sum.Missing++
		}
	}
	return sum
}

type jsonTransfer struct {
	jsonHead
	URL      string            `json:"url"`
	Packages []jsonTransferred `json:"packages"`
	Sum      jsonTransferSum   `json:"summary"`
}

// jsonTransferSum counts packages.
type jsonTransferSum struct {
	Transferred int   `json:"transferred"`
	Present     int   `json:"present"`
	Missing     int   `json:"missing"`
	Failed      int   `json:"failed"`
	Bytes       int64 `json:"bytes"` // of the archives that were sent or pulled
}

type jsonTransferred struct {
	jsonPackage
	State transfer.State `json:"state"`
	URL   string         `json:"url,omitempty"`
	Bytes *int64         `json:"bytes"`
	*jsonFailure
}

// JSON lists every package that lock files select, platform by platform.
func (t CacheTransfer) JSON() any {
	return jsonTransfer{newJSONHead(t.Cache), t.Remote, each(t.Packages, func(p transfer.Result) jsonTransferred {
		return jsonTransferred{selected(p.Selection, p.Platform), p.State, p.URL, known(p.Bytes), newJSONFailure(p.Err)}
	}), t.sum()}
}

// TransferProblems explains what went wrong: one problem for each cause that several packages failed for, and each other package.
func TransferProblems(product getproviders.Product, push bool, err error) problem.List {
	if !push {
		return InstallProblems(product, getproviders.Requirements{}, err, nil)
	}
	all, interrupted := byCause(err)
	if interrupted {
		return problem.List{canceled()}
	}
	var problems problem.List
	for _, s := range all {
		p := s.packages[0]
		text := withHint(p.cause)
		switch {
		case s.cause != nil:
			text = "These packages were not sent:" + s.text()
		case p.failed != nil:
			text = fmt.Sprintf("%s v%s: %s", product.Short(p.failed.Provider), p.failed.Version, text)
		}
		problems = append(problems, problem.Because(p.err, problem.CodedError("bucket", "Failed to push packages", text)))
	}
	return problems
}
