package result

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache"
)

// VerifiedTree is a directory of packages that was compared with a lock file.
type VerifiedTree struct {
	Path     string // with slashes, as LockFile
	LockFile string
	Locked   int  // how many providers the lock file selects
	Shared   bool // the directory is a cache, which needn't have every package
	Packages []providercache.ComparedPackage
	Called   string // see [explain.Names]
}

// Verified is the report of packages compared with lock files: for people a line for each package that isn't OK, and one for each directory.
func Verified(trees []VerifiedTree) *Result {
	var text strings.Builder
	var all []providercache.ComparedPackage
	objects := Each(trees, func(t VerifiedTree) Object {
		for _, p := range t.Packages {
			if p.Finding != providercache.OK {
				// Names come from the publishers of packages, and must not add lines to this output.
				fmt.Fprintln(&text, terminal.PrintableLine(t.text(p)))
			}
		}
		fmt.Fprintln(&text, terminal.Printable(verifySum(t)))
		all = append(all, t.Packages...)
		return Object{"path", t.Path, "lock_file", t.LockFile, "packages", Each(t.Packages, compared)}
	})
	return &Result{text.String(), Object{"trees", objects, "summary", Object{"packages", len(all), "findings", tallied(all, findingOf)}}}
}

// text says how a package differs, with all that the user needs to decide what to do.
func (t VerifiedTree) text(p providercache.ComparedPackage) string {
	name := fmt.Sprintf("%s %s %s", p.Provider, p.Version, p.Platform)
	switch p.Finding {
	case providercache.Missing:
		return fmt.Sprintf("Missing: %s is locked, and isn't in %s", name, t.Path)
	case providercache.Dangling:
		return fmt.Sprintf("Dangling link: %s: %s: %v", name, p.Path, p.Err)
	case providercache.NotLocked:
		return fmt.Sprintf("Not locked: %s is in %s, and %s", name, p.Path, lockedInstead(p))
	case providercache.Unreadable:
		return fmt.Sprintf("Unreadable: %s: %v", name, p.Err)
	case providercache.Unproven:
		return fmt.Sprintf("Unproven: %s has %s, and %s; %s providers lock -from=config -platform=%s adds the missing hash",
			name, p.H1, unprovenBy(p), t.Called, p.Platform)
	}
	return fmt.Sprintf("Differs: %s has %s, and the lock file has %s", name, hashesOf(p), recordedFor(p))
}

func lockedInstead(p providercache.ComparedPackage) string {
	if p.Locked.Version.IsZero() {
		return "the lock file has no entry for the provider"
	}
	return "the lock file selects " + p.Locked.Version.String()
}

func unprovenBy(p providercache.ComparedPackage) string {
	if len(p.Locked.Hashes) == 0 {
		return "the lock file has no hashes for it"
	}
	return "the lock file has hashes of archives only (zh), which prove nothing about an unpacked package"
}

// hashesOf returns the package's hashes that can be compared.
func hashesOf(p providercache.ComparedPackage) string {
	var own []string
	for _, h := range []getproviders.Hash{p.H1, p.ZH} {
		if h != "" {
			own = append(own, string(h))
		}
	}
	return strings.Join(own, " and ")
}

// recordedFor returns the lock file's hashes that the package could have. They may be
// of any platform, because the lock file doesn't have platforms.
func recordedFor(p providercache.ComparedPackage) string {
	var recorded []string
	for _, h := range p.Locked.Hashes {
		if h.Scheme() == hashing.H1 || p.Packed && h.Scheme() == hashing.ZH {
			recorded = append(recorded, string(h))
		}
	}
	slices.Sort(recorded)
	return strings.Join(recorded, ", ")
}

func verifySum(t VerifiedTree) string {
	if len(t.Packages) == 0 {
		return nothingVerified(t)
	}
	counts := tallied(t.Packages, findingOf)
	there := len(t.Packages) - counts[providercache.Missing]
	var parts terminal.Phrases
	for _, finding := range []providercache.Finding{
		providercache.OK, providercache.Missing, providercache.Dangling, providercache.NotLocked,
		providercache.Differs, providercache.Unproven, providercache.Unreadable,
	} {
		parts.Add(counts[finding], "%d %s", counts[finding], strings.ReplaceAll(string(finding), "_", " "))
	}
	return fmt.Sprintf("Verified %s in %s against %s: %s", terminal.Count(there, "package"),
		t.Path, t.LockFile, parts)
}

// nothingVerified says why no package was verified, and what to do.
func nothingVerified(t VerifiedTree) string {
	why := "the providers that %s selects come from dev_overrides or TF_REATTACH_PROVIDERS."
	switch {
	case t.Locked == 0:
		why = "%s selects no provider. If the configuration requires providers, run \"" + t.Called + " init\" first."
	case t.Shared:
		why = "it has no package that %s selects. An init that uses this cache puts packages there."
	}
	return fmt.Sprintf("There is nothing to verify in %s: "+why, t.Path, t.LockFile)
}

func findingOf(p providercache.ComparedPackage) providercache.Finding { return p.Finding }

func compared(p providercache.ComparedPackage) Object {
	var packed *bool
	if p.Path != "" {
		packed = &p.Packed
	}
	return append(Object{
		"address", p.Provider, "version?", p.Version, "platform", p.Platform, "finding", p.Finding, "path?", filepath.ToSlash(p.Path), "packed?", packed,
		"h1?", p.H1, "zh?", p.ZH, "locked_version|null", p.Locked.Version, "locked_hashes", p.Locked.Hashes,
	}, ErrorObject(p.Err)...)
}

// PackageHashes are the hashes of a package on this machine.
type PackageHashes struct {
	Path string
	H1   getproviders.Hash // "" if Err isn't nil
	ZH   getproviders.Hash // "" for a directory
	Err  error
}

// Hashes is the report of "hash", in the order of its arguments: for people a hash and its package on each line, as in sha256sum.
// Packages that can't be hashed aren't in the text, because they are problems. For programs it is an array.
func Hashes(packages []PackageHashes) *Result {
	text := ""
	objects := Each(packages, func(p PackageHashes) Object {
		for _, h := range []getproviders.Hash{p.H1, p.ZH} {
			if h != "" {
				text += fmt.Sprintf("%s  %s\n", h, terminal.Printable(p.Path))
			}
		}
		return append(Object{"path", p.Path, "h1?", p.H1, "zh?", p.ZH}, ErrorObject(p.Err)...)
	})
	return &Result{text, objects}
}
