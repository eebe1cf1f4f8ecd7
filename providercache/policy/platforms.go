package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// requiredPlatforms is the rule "lock_platforms".
type requiredPlatforms struct {
	platforms []getproviders.Platform
	pos       getproviders.Pos
}

func (r *reader) lockPlatforms(attr *hcl.Attribute) {
	required := requiredPlatforms{pos: position(attr.Range)}
	var given []string
	if !r.value(attr, &given) {
		return
	}
	for _, text := range given {
		plat, err := getproviders.ParsePlatform(text)
		if err != nil {
			r.problem(attr.Range, "%q is not a platform such as \"linux_amd64\".", text)
			continue
		}
		if !slices.Contains(required.platforms, plat) {
			required.platforms = append(required.platforms, plat)
		}
	}
	r.made.platforms = append(r.made.platforms, required)
}

// LockPlatforms returns the platforms that lock files have to cover, each once.
func (p Policy) LockPlatforms() (all []getproviders.Platform) {
	for _, required := range p.platforms {
		for _, plat := range required.platforms {
			if !slices.Contains(all, plat) {
				all = append(all, plat)
			}
		}
	}
	return all
}

// CheckLock returns a Refusal if an entry of a lock file can't cover all platforms that the policy
// requires, else nil. Hashes don't name their platform, but packages of different platforms have
// different hashes, so an entry with fewer h1 than platforms lacks one of them.
func (p Policy) CheckLock(lock depsfile.Lock) *Refusal {
	have := 0
	for _, h := range lock.Hashes {
		if h.Scheme() == hashing.H1 {
			have++
		}
	}
	for _, required := range p.platforms {
		if have >= len(required.platforms) {
			continue
		}
		names := make([]string, len(required.platforms))
		for i, plat := range required.platforms {
			names[i] = plat.String()
		}
		return &Refusal{Provider: lock.Provider, Rule: "lock_platforms", Pos: required.pos,
			Reason: fmt.Sprintf("the lock file has to have hashes for %s, and its entry has too few h1 hashes: %d", strings.Join(names, ", "), have)}
	}
	return nil
}
