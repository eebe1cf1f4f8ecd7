package result

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// CacheDir returns the directory of a cache: for people, and so for scripts, the path only.
func CacheDir(cache *providercache.Store) *Result {
	return &Result{cache.Dir + "\n", cacheObject(cache)}
}

// CacheKey returns the key of what lock files select, and the prefix of keys of other selections. The text is the key only, for scripts.
func CacheKey(key, prefix string, platform getproviders.Platform) *Result {
	return &Result{key + "\n", Object{"key", key, "platform", platform, "restore_keys", prefix}}
}

// usersShown is how many of a package's users a text names.
const usersShown = 3

// CacheList is the result of "cache list": for people a line for each package, with the directories that use it below.
func CacheList(cache *providercache.Store, packages []providercache.StoredPackage) *Result {
	var rows [][]string
	size, onDisk := int64(0), int64(0)
	for _, p := range packages {
		size, onDisk = size+p.Size, onDisk+p.OnDisk
		rows = append(rows, []string{p.Provider.String(), p.Version.String(), p.Platform.String(), terminal.Megabytes(p.Size),
			terminal.Megabytes(p.OnDisk) + " on disk", "used " + p.LastUse.Local().Format("2006-01-02"), string(p.Condition)})
		for i, user := range p.Users {
			if i == usersShown {
				rows = append(rows, []string{fmt.Sprintf("  and %d more", len(p.Users)-i)})
				break
			}
			rows = append(rows, []string{"  in " + workingDirectory(user)})
		}
	}
	text := fmt.Sprintf("%s in %s: %s, %s on disk\n", terminal.Count(len(packages), "package"), terminal.Printable(cache.Dir), terminal.Megabytes(size), terminal.Megabytes(onDisk))
	return &Result{Table(rows) + text, append(cacheObject(cache), "size", size, "size_on_disk", onDisk, "packages", Each(packages, func(p providercache.StoredPackage) Object {
		return append(sized(p), "used_by", p.Users, "linked_by", p.Linked, "receipt", p.Managed, "condition", p.Condition)
	}), "summary", Object{
		"packages", len(packages), "conditions", tallied(packages, func(p providercache.StoredPackage) providercache.Condition { return p.Condition }),
	})}
}

// workingDirectory returns the working directory whose packages are in target.
func workingDirectory(target string) string {
	if dir, ok := strings.CutSuffix(filepath.ToSlash(target), "/.terraform/providers"); ok {
		return filepath.FromSlash(dir)
	}
	return target
}

// GitHubOutput writes names and values in the format of GITHUB_OUTPUT of GitHub
// Actions. The delimiter is a hash of the value, so that the value can't have it.
func GitHubOutput(w io.Writer, pairs [][2]string) {
	for _, pair := range pairs {
		sum := sha256.Sum256([]byte(pair[1]))
		mark := "end-" + hex.EncodeToString(sum[:8])
		fmt.Fprintf(w, "%s<<%s\n%s\n%s\n", pair[0], mark, pair[1], mark)
	}
}

// cacheObject is the beginning of each object about a cache.
func cacheObject(c *providercache.Store) Object { return Object{"directory", c.Dir, "named", c.Shared} }

// stored is the object of a package in a cache.
func stored(p providercache.StoredPackage) Object {
	return Object{"address", p.Provider, "version?", p.Version, "platform", p.Platform, "directory", p.Dir}
}

// sized is stored with the package's size.
func sized(p providercache.StoredPackage) Object {
	return append(stored(p), "size", p.Size, "size_on_disk", p.OnDisk, "last_use", p.LastUse.UTC().Truncate(time.Second))
}

// CacheRemoval is the result of a removal: for people why some packages stay, and one line with the freed bytes. A line about
// the store of modules is only printed if entries were removed from it; bytes are theirs. For programs packages are in the order of the removal.
func CacheRemoval(cache *providercache.Store, done providercache.Removal, dryRun bool, entries int, bytes int64) *Result {
	text := removed(done, dryRun)
	if entries > 0 {
		text += fmt.Sprintf("%s %s of the store of modules, %s\n", removing(dryRun)[0], terminal.Count(entries, "entry"), terminal.Megabytes(bytes))
	}
	return &Result{text, append(cacheObject(cache),
		"dry_run", dryRun, "freed", done.Freed, "shared", done.Shared, "shared_with", done.SharedWith,
		"removed", Each(done.Removed, sized), "kept", Each(done.Kept, kept), "modules", Object{"entries", entries, "bytes", bytes},
		"summary", Object{"removed", len(done.Removed), "kept", len(done.Kept), "bytes", done.Freed + bytes})}
}

// removing returns the words for a removal.
func removing(dryRun bool) [2]string {
	if dryRun {
		return [2]string{"Would remove", "which frees"}
	}
	return [2]string{"Removed", "freed"}
}

func removed(done providercache.Removal, dryRun bool) string {
	var b strings.Builder
	for _, kept := range done.Kept {
		why := kept.Why.Error()
		if errors.Is(kept.Why, providercache.ErrInUse) && len(kept.Linked) > 0 {
			why = workingDirectory(kept.Linked[0]) + " has a link to it"
		}
		fmt.Fprintf(&b, "Kept %s %s %s: %s\n", kept.Provider, kept.Version, kept.Platform, terminal.Printable(why))
	}
	verbs := removing(dryRun)
	if dryRun {
		for _, p := range done.Removed {
			fmt.Fprintf(&b, "%s %s %s %s\n", verbs[0], p.Provider, p.Version, p.Platform)
		}
	}
	if len(done.Removed) == 0 {
		return b.String() + verbs[0] + " no packages\n"
	}
	shared := ""
	if done.Shared > 0 {
		with := "other directories"
		if n := len(done.SharedWith); n > 0 {
			with = terminal.Count(n, "directory")
		}
		shared = fmt.Sprintf(" (%s shared with %s)", terminal.Megabytes(done.Shared), with)
	}
	return b.String() + fmt.Sprintf("%s %s, %s %s%s\n", verbs[0], terminal.Count(len(done.Removed), "package"), verbs[1], terminal.Megabytes(done.Freed), shared)
}

// CacheVerification is the result of hashing all packages: for people those that differ, one line with the findings, and
// another with the repaired packages; repaired is nil without -repair, or if nothing is damaged. For programs it is every package, sorted
// by address, version and platform.
func CacheVerification(called string, cache *providercache.Store, all []providercache.Verified, repaired *providercache.Removal) *Result {
	n := tallied(all, func(p providercache.Verified) providercache.Finding { return p.Finding })
	gone := cmp.Or(repaired, new(providercache.Removal))
	told := &Result{Programs: append(cacheObject(cache), "packages", Each(all, func(p providercache.Verified) Object {
		return slices.Concat(stored(p.Package), Object{"finding", p.Finding, "h1?", p.H1, "expected", p.Expected}, ErrorObject(p.Err))
	}), "removed", Each(gone.Removed, sized), "kept", Each(gone.Kept, kept), "summary", Object{"packages", len(all), "findings", n})}
	if len(all) == 0 {
		told.People = fmt.Sprintf("There is nothing to verify: no package is in the cache %s.\n"+
			"An init or \"%s cache add\" puts packages there; \"%[2]s doctor\" tells which cache init uses.\n", terminal.Printable(cache.Dir), called)
		return told
	}
	var b strings.Builder
	for _, found := range all {
		if found.Differs() {
			fmt.Fprintln(&b, differs(found))
		}
	}
	var parts terminal.Phrases
	parts.Add(n[providercache.OK], "%d sound", n[providercache.OK])
	parts.Add(n[providercache.Corrupt], "%d damaged", n[providercache.Corrupt])
	parts.Add(n[providercache.NotLocked], "%d not what the lock files record", n[providercache.NotLocked])
	parts.Add(n[providercache.Unknown], "%d without a receipt (-locked compares with lock files)", n[providercache.Unknown])
	fmt.Fprintf(&b, "Verified %s: %s\n", terminal.Count(len(all), "package"), parts)
	if repaired != nil {
		b.WriteString(removed(*repaired, false))
	}
	told.People = b.String()
	return told
}

// differs says how a package differs from its receipt or the lock files.
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

func kept(p providercache.Kept) Object {
	return append(stored(p.Package), "reason", reasonToKeep(p), "detail", p.Why.Error(), "linked_by", p.Linked)
}

// reasonToKeep returns a stable word for Kept.Why.
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

// moved returns a line for each package whose state has a word, and the beginning of the last line. Failures aren't in the text, because
// they are problems.
func moved(packages []providercache.Outcome, words map[event.State]string, done, where string) (text string, parts terminal.Phrases, n sum) {
	for _, p := range packages {
		if word, ok := words[p.State]; ok {
			text += fmt.Sprintf("- %s %s v%s for %s\n", word, p.Provider, p.Version, p.Platform)
		}
	}
	n = sumOf(packages)
	return text, terminal.Phrases{fmt.Sprintf("%s %s %s", done, terminal.Count(n.done, "package"), terminal.Printable(where))}, n
}

// CacheFilling is the result of "cache add", in the order of the arguments, platform by platform. receipts says whether
// receipts were written beside the cache; nil if none were asked for.
func CacheFilling(cache *providercache.Store, packages []providercache.Outcome, receipts *bool, span Times) *Result {
	text, parts, n := moved(packages, map[event.State]string{event.Fetched: "Added"}, "Added", "to "+cache.Dir)
	parts.Add(n.present, "%d more were there already", n.present)
	return &Result{text + parts.String() + "\n", append(cacheObject(cache), "packages", Each(packages, func(p providercache.Outcome) Object {
		dir := ""
		if p.Err == nil {
			dir = cache.PackagePath(p.Provider, p.Version, p.Platform)
		}
		return slices.Concat(about(p), Object{
			"directory?", dir, "added", p.State == event.Fetched, "source?", p.Source, "bytes?", p.Bytes,
		}, span(p).Object(), ErrorObject(p.Err))
	}), "receipts", receipts, "summary", n.object("added"))}
}
