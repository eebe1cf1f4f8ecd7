package store

import (
	"cmp"
	"context"
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
	OlderThan time.Duration              // last used longer ago than this; 0: age doesn't matter
	MaxBytes  *int64                     // so many, those used least recently first, that no more bytes are left on the disk; nil: no limit
	Keep      []getproviders.PackageSpec // what these lock files select stays in any case. With neither age nor size, all the rest goes
}

// locked has the hashes of what lock files select.
type locked map[lockedName][]getproviders.Hash

type lockedName struct {
	Provider getproviders.Provider
	Version  getproviders.Version
}

func lockedBy(specs []getproviders.PackageSpec) locked {
	all := locked{}
	for _, s := range specs {
		name := lockedName{s.Provider, s.Version}
		all[name] = append(all[name], s.Hashes...)
	}
	return all
}

func (l locked) has(p Package) (hashes []getproviders.Hash, ok bool) {
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
	done, err := u.Remove(ctx, policy.choose(packages, u.Now(), stays), o)
	if !o.DryRun {
		u.Sweep()
	}
	return done, err
}

// Sweep removes what killed runs and removed directories left behind: staging
// directories, archives that were not resumed for a day, receipts and notes.
func (u *Maintenance) Sweep() {
	scratch.Sweep(u.Cache.Dir, u.Now())
	download.SweepPartials(filepath.Join(u.Cache.Dir, download.PartialDir), u.Now())
	receipt.SweepReceipts(u.StateDir)
	sweepNotes(u.StateDir, u.Now())
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
	keep := lockedBy(policy.Keep)
	for _, p := range byUse {
		if _, kept := keep.has(p); kept {
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

// PackageSpecs gathers what lock files select, in the order of addresses and versions, each version once with all its
// hashes, sorted. It is never nil.
func PackageSpecs(locks ...*depsfile.Locks) []getproviders.PackageSpec {
	wanted := []getproviders.PackageSpec{}
	for _, l := range locks {
		for _, lock := range l.All() {
			wanted = append(wanted, getproviders.PackageSpec{Provider: lock.Provider, Version: lock.Version, Hashes: lock.Hashes})
		}
	}
	all := lockedBy(wanted)
	slices.SortFunc(wanted, func(a, b getproviders.PackageSpec) int {
		return cmp.Or(a.Provider.Compare(b.Provider), a.Version.Compare(b.Version))
	})
	wanted = slices.CompactFunc(wanted, func(a, b getproviders.PackageSpec) bool { return a.Provider == b.Provider && a.Version == b.Version })
	for i := range wanted {
		wanted[i].Hashes = hashing.Sort(all[lockedName{wanted[i].Provider, wanted[i].Version}])
	}
	return wanted
}
