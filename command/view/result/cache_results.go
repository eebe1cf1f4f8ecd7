package result

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/providercache"
)

// CacheRemoval is what became of packages that were to be removed, and of the
// store of modules.
type CacheRemoval struct {
	Cache   *providercache.Store
	Done    providercache.Removal
	DryRun  bool
	Entries int   // removed from the store of modules
	Bytes   int64 // of these entries
}

// Text tells why some packages stay, and in one line what was gained; of modules
// only if any went.
func (r CacheRemoval) Text() string {
	var b strings.Builder
	r.packages(&b)
	verb := "Removed"
	if r.DryRun {
		verb = "Would remove"
	}
	if r.Entries > 0 {
		fmt.Fprintf(&b, "%s %s of the store of modules, %s\n", verb, terminal.Count(r.Entries, "entry"), terminal.Megabytes(r.Bytes))
	}
	return b.String()
}

func (r CacheRemoval) packages(w io.Writer) {
	done := r.Done
	for _, kept := range done.Kept {
		why := kept.Why.Error()
		if errors.Is(kept.Why, providercache.ErrInUse) && len(kept.Linked) > 0 {
			why = workingDirectory(kept.Linked[0]) + " has a link to it"
		}
		fmt.Fprintf(w, "Kept %s %s %s: %s\n", kept.Provider, kept.Version, kept.Platform, terminal.Printable(why))
	}
	verbs := []string{"Removed", "freed"}
	if r.DryRun {
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
		shared = fmt.Sprintf(" (%s shared with %s)", terminal.Megabytes(done.Shared), terminal.Count(len(done.SharedWith), "directory"))
		if len(done.SharedWith) == 0 {
			shared = fmt.Sprintf(" (%s shared with other directories)", terminal.Megabytes(done.Shared))
		}
	}
	fmt.Fprintf(w, "%s %s, %s %s%s\n", verbs[0], terminal.Count(len(done.Removed), "package"), verbs[1], terminal.Megabytes(done.Freed), shared)
}

// CacheVerification is what came of reading all packages.
type CacheVerification struct {
	Cache    *providercache.Store
	Found    []providercache.Verified
	Repaired *providercache.Removal // of what is damaged; nil: there was nothing to do, or it wasn't asked for
}

// Text tells which packages aren't what they should be, in one line what was
// found, and in another what was removed.
func (v CacheVerification) Text() string {
	if len(v.Found) == 0 {
		return fmt.Sprintf("There is nothing to verify: no package is in the cache %s.\n"+
			"An init or \"tfdeps cache add\" puts packages there; \"tfdeps doctor\" tells which cache init uses.\n", terminal.Printable(v.Cache.Dir))
	}
	var b strings.Builder
	for _, found := range v.Found {
		if found.Differs() {
			fmt.Fprintln(&b, differs(found))
		}
	}
	n := v.findings()
	var parts terminal.Phrases
	parts.Add(n[providercache.OK], "%d sound", n[providercache.OK])
	parts.Add(n[providercache.Corrupt], "%d damaged", n[providercache.Corrupt])
	parts.Add(n[providercache.NotLocked], "%d not what the lock files record", n[providercache.NotLocked])
	parts.Add(n[providercache.Unknown], "%d with nothing to compare with but lock files (-locked)", n[providercache.Unknown])
	fmt.Fprintf(&b, "Verified %s: %s\n", terminal.Count(len(v.Found), "package"), parts)
	if v.Repaired != nil {
		CacheRemoval{Done: *v.Repaired}.packages(&b)
	}
	return b.String()
}

// differs says why a package isn't what it should be.
func differs(v providercache.Verified) string {
	name := fmt.Sprintf("%s %s %s", v.Provider, v.Version, v.Platform)
	switch {
	case v.Finding == providercache.NotLocked:
		return fmt.Sprintf("Not what the lock files record: %s has %s", name, v.H1)
	case v.Err != nil:
		return fmt.Sprintf("Damaged: %s: %s", name, terminal.Printable(v.Err.Error()))
	default:
		return fmt.Sprintf("Damaged: %s has %s and should have %s", name, v.H1, v.Expected[0])
	}
}

// JSON tells the same as Text, for programs: packages in the order in which
// they were to go.
func (r CacheRemoval) JSON() any {
	return append(cacheObject(r.Cache),
		"dry_run", r.DryRun, "freed", r.Done.Freed, "shared", r.Done.Shared, "shared_with", r.Done.SharedWith,
		"removed", Each(r.Done.Removed, sized), "kept", Each(r.Done.Kept, kept), "modules", Object{"entries", r.Entries, "bytes", r.Bytes},
		"summary", Object{"removed", len(r.Done.Removed), "kept", len(r.Done.Kept), "bytes", r.Done.Freed + r.Bytes})
}

func kept(p providercache.Kept) Object {
	return append(stored(p.Package), "reason", reasonToKeep(p), "detail", p.Why.Error(), "linked_by", p.Linked)
}

// reasonToKeep is a word that stays the same, for what Kept.Why says.
func reasonToKeep(p providercache.Kept) string {
	switch {
	case errors.Is(p.Why, providercache.ErrInUse) && len(p.Linked) > 0:
		return "linked"
	case errors.Is(p.Why, providercache.ErrInUse):
		return "in_use"
	case errors.Is(p.Why, providercache.ErrUnmanaged):
		return "no_receipt"
	default:
		return "failed"
	}
}

// JSON lists every package, in the order of addresses, versions and platforms.
func (v CacheVerification) JSON() any {
	repaired := cmp.Or(v.Repaired, new(providercache.Removal))
	return append(cacheObject(v.Cache), "packages", Each(v.Found, func(p providercache.Verified) Object {
		return slices.Concat(stored(p.Package), Object{"finding", p.Finding, "h1?", p.H1, "expected", p.Expected}, ErrorObject(p.Err))
	}), "removed", Each(repaired.Removed, sized), "kept", Each(repaired.Kept, kept), "summary", Object{"packages", len(v.Found), "findings", v.findings()})
}

func (v CacheVerification) findings() map[providercache.Finding]int {
	return tallied(v.Found, func(p providercache.Verified) providercache.Finding { return p.Finding })
}
