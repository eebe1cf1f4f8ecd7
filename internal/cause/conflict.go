package cause

import (
	"math/big"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// FindConflict compares requirements with the available versions. Its result depends on its
// arguments alone.
//
// A prerelease is considered only if some requirement names it exactly; the other requirements may
// then refuse it.
func FindConflict(required []getproviders.Requirement, versions []getproviders.Version) Conflict {
	c := Conflict{Bounds: make([]ConstraintBound, len(required))}
	for i, r := range required {
		newest, _ := r.Constraints.Newest(versions)
		c.Bounds[i] = ConstraintBound{Requirement: r, Newest: newest}
	}
	considered := candidates(required, versions)
	if len(considered) == 0 {
		return c
	}
	s := newSearch(required, considered)
	for _, i := range s.smallest() {
		c.Minimal = append(c.Minimal, c.Bounds[i])
	}
	return c
}

// SplitByVersion splits requirements by whether they allow a version.
func SplitByVersion(required []getproviders.Requirement, v getproviders.Version) (unmet, met []getproviders.Requirement) {
	candidate := len(candidates(required, []getproviders.Version{v})) > 0
	for _, r := range required {
		if candidate && admits(r.Constraints, v) {
			met = append(met, r)
		} else {
			unmet = append(unmet, r)
		}
	}
	return unmet, met
}

// candidates returns the versions that can be selected unless a requirement refuses them: releases,
// and the prereleases that some requirement names.
func candidates(required []getproviders.Requirement, versions []getproviders.Version) []getproviders.Version {
	return slices.DeleteFunc(slices.Clone(versions), func(v getproviders.Version) bool {
		if (getproviders.Constraints{}).Allows(v) {
			return false
		}
		return !slices.ContainsFunc(required, func(r getproviders.Requirement) bool { return r.Constraints.Allows(v) })
	})
}

// admits reports whether constraints would allow a version that another requirement names exactly.
func admits(c getproviders.Constraints, v getproviders.Version) bool {
	if c.Allows(v) || v.Prerelease == "" {
		return c.Allows(v)
	}
	named, err := getproviders.ParseConstraints(v.String())
	return err == nil && c.And(named).Allows(v)
}

// maxTries limits the search for the smallest set: enough for all triples of a hundred different
// constraints, in a few milliseconds.
const maxTries = 200_000

// search looks for the fewest requirements that together refuse every version. A set of versions has a bit for each.
type search struct {
	refusals []*big.Int // the versions that each requirement refuses; equal sets appear once
	index    []int      // of the requirements of refusals
	all      *big.Int
	tries    int
}

func newSearch(required []getproviders.Requirement, versions []getproviders.Version) *search {
	s := &search{all: new(big.Int)}
	for i, r := range required {
		refused := new(big.Int)
		for n, v := range versions {
			s.all.SetBit(s.all, n, 1)
			if !admits(r.Constraints, v) {
				refused.SetBit(refused, n, 1)
			}
		}
		if refused.Sign() > 0 && !slices.ContainsFunc(s.refusals, func(other *big.Int) bool { return other.Cmp(refused) == 0 }) {
			s.refusals, s.index = append(s.refusals, refused), append(s.index, i)
		}
	}
	return s
}

// smallest returns the indexes of the fewest requirements that together refuse all versions, or nil
// if some version is allowed.
func (s *search) smallest() []int {
	if len(s.refusals) == 0 || union(s.refusals...).Cmp(s.all) != 0 {
		return nil
	}
	chosen := []int(nil)
	for size := 1; chosen == nil && s.tries < maxTries; size++ {
		chosen = s.choose(new(big.Int), 0, size)
	}
	if chosen == nil {
		chosen = s.needed()
	}
	for i, n := range chosen {
		chosen[i] = s.index[n]
	}
	return chosen
}

// choose returns size sets, from the index from on, that refuse all versions which aren't in
// refused; nil if no such sets exist or the search takes too long.
func (s *search) choose(refused *big.Int, from, size int) []int {
	for i := from; i <= len(s.refusals)-size && s.tries < maxTries; i++ {
		s.tries++
		more := union(refused, s.refusals[i])
		if size == 1 {
			if more.Cmp(s.all) == 0 {
				return []int{i}
			}
			continue
		}
		if rest := s.choose(more, i+1, size-1); rest != nil {
			return append([]int{i}, rest...)
		}
	}
	return nil
}

// needed drops each set without which the others still refuse all versions. A smaller choice may exist, but each set
// of this one is needed.
func (s *search) needed() (chosen []int) {
	left := slices.Clone(s.refusals)
	for i, refused := range slices.Backward(s.refusals) {
		left[i] = new(big.Int)
		if union(left...).Cmp(s.all) != 0 {
			left[i], chosen = refused, append(chosen, i)
		}
	}
	slices.Reverse(chosen)
	return chosen
}

// union returns the union of sets.
func union(sets ...*big.Int) *big.Int {
	all := new(big.Int)
	for _, set := range sets {
		all.Or(all, set)
	}
	return all
}
