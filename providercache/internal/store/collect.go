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

// Policy says which packages Collect removes. At least one field has
// to be set; with all of them zero, nothing is removed.
type Policy struct {
	OlderThan time.Duration              // remove packages that were last used longer ago; 0: age doesn't matter
	MaxBytes  *int64                     // remove the least recently used packages until the rest takes no more bytes on the disk; nil: no limit
	Keep      []getproviders.PackageSpec // never remove what these lock files select; without age and size, remove all other packages
}

// locked has the hashes of the packages that lock files select.
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

// Collect removes packages by a policy, and then calls Sweep. It is safe beside running installations; see Remove.
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
// directories, partial archives that no run resumed for a day, receipts and notes.
func (u *Maintenance) Sweep() {
	scratch.Sweep(u.Cache.Dir, u.Now())
	download.SweepPartials(filepath.Join(u.Cache.Dir, download.PartialDir), u.Now())
	receipt.SweepReceipts(u.StateDir)
	sweepNotes(u.StateDir, u.Now())
}

// choose returns the packages to remove, least recently used first.
// Packages that stay in any case don't count as freed space.
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

// PackageSpecs returns the packages that lock files select, sorted by address and
// version, each version once with all its hashes, sorted. It never returns nil.
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
