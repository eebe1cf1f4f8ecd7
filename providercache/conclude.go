package providercache

import (
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Outcome is what became of one package.
type Outcome = event.Outcome

// outcome is what became of a selection. Authentication and H1 are what the lock file has to learn of the package: if it was
// there already and the lock file knows it, that is nothing.
type outcome struct {
	Outcome
	registryHashes map[getproviders.Platform]getproviders.Hash // of other platforms, unsigned, if the HashPolicy trusts them
	receipt        receipt.Pending                             // what is to get one
}

// Report is what an Install did, in the order of providers.
type Report struct {
	Outcomes []Outcome
	// Incomplete lists providers whose new lock entries hold hashes of this
	// platform only, as far as is known: no signature covers any for the
	// others, and the lock file had none.
	Incomplete []getproviders.Provider
}

// conclude makes the new locks of what became of the selections.
func conclude(req getproviders.Requirements, locks *depsfile.Locks, outcomes []outcome) (*depsfile.Locks, Report, error) {
	report := Report{}
	for _, o := range outcomes {
		report.Outcomes = append(report.Outcomes, o.Outcome)
	}
	if err := joinErrors(outcomes); err != nil {
		return nil, report, err
	}
	updated := locks.Clone()
	for _, lock := range locks.All() {
		if _, required := req[lock.Provider]; !required {
			updated.Remove(lock.Provider)
		}
	}
	for _, o := range outcomes {
		if o.H1 == "" {
			tidy(updated, o.Selection)
			continue
		}
		prior := resolve.Recorded(locks, o.Selection)
		updated.Extend(depsfile.Lock{
			Provider:    o.Selection.Provider,
			Version:     o.Selection.Version,
			Constraints: o.Selection.Constraints,
			Hashes:      o.lockedHashes(prior),
		})
		if o.thisPlatformOnly(prior) {
			report.Incomplete = append(report.Incomplete, o.Selection.Provider)
		}
	}
	return updated, report, nil
}

// tidy sorts the hashes of an entry that otherwise stays, as Terraform does whenever it selects a version.
func tidy(locks *depsfile.Locks, selected getproviders.Selection) {
	lock, ok := locks.Provider(selected.Provider)
	if ok && !slices.Equal(hashing.Sort(lock.Hashes), lock.Hashes) {
		lock.Constraints = selected.Constraints
		locks.Extend(lock)
	}
}

// lockedHashes are what a lock file should hold of a package, of which it held prior before.
func (o outcome) lockedHashes(prior []getproviders.Hash) []getproviders.Hash {
	return hashing.Sort(slices.Concat([]getproviders.Hash{o.H1}, o.Authentication.Signed, fetch.RegistryHashes(o.registryHashes), prior))
}

// thisPlatformOnly reports whether the hashes of the package that was read here are the only
// ones that are known. Without a signature, a single other hash is that of its archive.
func (o outcome) thisPlatformOnly(prior []getproviders.Hash) bool {
	own := o.Authentication.TrustLevel == getproviders.LevelVerifiedChecksum && len(o.Authentication.Signed) == 1
	others := slices.ContainsFunc(prior, func(h getproviders.Hash) bool {
		return h.Supported() && h != o.H1 && !(own && h == o.Authentication.Signed[0])
	})
	return (own || len(o.Authentication.Signed) == 0) && len(o.registryHashes) == 0 && !others
}

// joinErrors returns the errors of outcomes, in their order. What keeps many from
// being installed at once is one of them.
func joinErrors(outcomes []outcome) error {
	var errs, shared []error
	for _, o := range outcomes {
		cause := sharedCause(o.Err)
		switch {
		case cause == nil: // not compared: some types of errors can't be
			errs = append(errs, o.Err)
		case !slices.Contains(shared, cause):
			errs, shared = append(errs, cause), append(shared, cause)
		}
	}
	return errors.Join(errs...)
}

// sharedCause is what keeps several from being installed at once; nil if an error is
// about one of them.
func sharedCause(err error) error {
	for _, part := range wrapped.All(err) {
		if f, ok := part.(*getproviders.Fault); ok && len(f.Providers) > 0 {
			return f
		}
	}
	return nil
}
