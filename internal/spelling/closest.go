// Package spelling suggests the intended name for an unknown one.
package spelling

import "github.com/agext/levenshtein"

// maxDistance is the maximum edit distance of a suggestion.
const maxDistance = 2

// Closest returns the name most similar to the given one, or "" if none is similar. Among equally similar names it
// prefers one with the same first letter, which people rarely mistype.
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
