// Package spelling finds out which name was meant by one that there isn't.
package spelling

import "github.com/agext/levenshtein"

// maxDistance is how many letters may be wrong in a name that is recognised.
const maxDistance = 2

// Closest returns the name that is most like the given one; "" if none is. Of several that are as like, one with the
// same first letter comes first: people rarely miss that one.
func Closest(given string, names []string) (best string) {
	least := 2*maxDistance + 2
	for _, name := range names {
		distance := levenshtein.Distance(given, name, nil)
		if distance > maxDistance || distance >= len(name) {
			continue
		}
		rank := 2 * distance
		if given == "" || name[0] != given[0] {
			rank++
		}
		if rank < least {
			best, least = name, rank
		}
	}
	return best
}
