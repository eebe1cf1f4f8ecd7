package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Policy says which packages Collect removes. One of the three fields decides
// at least; with all of them zero, nothing is removed.
type Policy struct {
	OlderThan time.Duration // last used longer ago than this; 0: age doesn't matter
	MaxBytes  *int64        // so many, those used least recently first, that no more bytes are left on the disk; nil: no limit
	Keep      Locked        // what these lock files select stays in any case. With neither age nor size, all the rest goes
}

// Locked is what lock files select; see LockedBy.
type Locked map[lockedName][]getproviders.Hash

// lockedName is a version that lock files select, on any platform.
type lockedName struct {
	Provider getproviders.Provider
	Version  getproviders.Version
}

// LockedBy gathers what lock files select, with all their hashes for each
// version. It isn't nil, even if nothing is selected.
func LockedBy(locks ...*depsfile.Locks) Locked {
	all := Locked{}
	for _, l := range locks {
		for _, lock := range l.All() {
			name := lockedName{lock.Provider, lock.Version}
			all[name] = hashing.Sort(slices.Concat(all[name], lock.Hashes))
		}
	}
	return all
}

// has reports whether a lock file selects the package, and with which hashes.
func (l Locked) has(p Package) (hashes []getproviders.Hash, ok bool) {
	hashes, ok = l[lockedName{p.Provider, p.Version}]
	return hashes, ok
}

// Collect removes packages by a policy, and then what Sweep removes. It is safe
// beside running installations; see Remove.
func (u *Maintenance) Collect(ctx context.Context, policy Policy, o RemoveOptions) (Removal, error) {
	packages, err := u.List()
	if err != nil {
		return Removal{}, err
	}
	stays := func(p Package) bool { return u.stays(p, o) != nil }
	done, err := u.Remove(ctx, policy.choose(packages, u.now(), stays), o)
	if !o.DryRun {
		u.Sweep()
	}
	return done, err
}

// Sweep removes what killed runs and removed directories left behind: staging
// directories, archives that were not resumed for a day, receipts and notes.
func (u *Maintenance) Sweep() {
	scratch.Sweep(u.Cache.Dir, u.now())
	download.SweepPartials(filepath.Join(u.Cache.Dir, download.PartialDir), u.now())
	receipt.SweepReceipts(u.state())
	sweepNotes(u.state(), u.now())
}

// choose returns the packages that have to go, those used least recently first.
// Packages that stay in any case free no space.
func (policy Policy) choose(packages []Package, now time.Time, stays func(Package) bool) (gone []Package) {
	left := int64(0)
	for _, p := range packages {
		left += p.OnDisk
	}
	byUse := slices.SortedStableFunc(slices.Values(packages), func(a, b Package) int {
		return cmp.Or(a.LastUse.Compare(b.LastUse), comparePackages(a, b))
	})
	onlyKeep := policy.OlderThan == 0 && policy.MaxBytes == nil && policy.Keep != nil
	for _, p := range byUse {
		if _, kept := policy.Keep.has(p); kept {
			continue
		}
		old := policy.OlderThan > 0 && now.Sub(p.LastUse) > policy.OlderThan
		large := policy.MaxBytes != nil && left > *policy.MaxBytes
		if old || large || onlyKeep {
			if gone = append(gone, p); !stays(p) {
				left -= p.OnDisk
			}
		}
	}
	return gone
}

// KeyPrefix begins the keys for a platform. Its number changes when packages
// that a cache with an older key holds become useless.
func KeyPrefix(plat getproviders.Platform) string { return "tfdeps-1-" + plat.String() + "-" }

// Key names the set of packages that lock files select on a platform, for
// services that keep caches by name. Equal sets have the same key: it doesn't
// depend on the number and order of lock files, on comments and on constraints.
// One more hash in a lock file makes another key, because a hash doesn't say
// for which platform it is.
func (l Locked) Key(plat getproviders.Platform) string {
	sum := sha256.New()
	for _, w := range PackageSpecs(l) {
		fmt.Fprintf(sum, "%s %s %s", w.Provider, w.Version, plat)
		for _, hash := range w.Hashes { // sorted
			fmt.Fprintf(sum, " %s", hash)
		}
		fmt.Fprintln(sum)
	}
	return KeyPrefix(plat) + hex.EncodeToString(sum.Sum(nil)[:8])
}

// PackageSpecs lists what lock files select, in the order of addresses and versions.
// A version that several select has the hashes of all of them.
func PackageSpecs(locked Locked) (wanted []getproviders.PackageSpec) {
	for name, hashes := range locked {
		wanted = append(wanted, getproviders.PackageSpec{Provider: name.Provider, Version: name.Version, Hashes: hashes})
	}
	slices.SortFunc(wanted, func(a, b getproviders.PackageSpec) int {
		if by := a.Provider.Compare(b.Provider); by != 0 {
			return by
		}
		return a.Version.Compare(b.Version)
	})
	return wanted
}
