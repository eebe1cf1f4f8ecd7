package cli

import (
	"flag"
	"strings"

	"github.com/agext/levenshtein"
)

// maxDistance is how many letters may be wrong in a name that is recognised.
const maxDistance = 2

// Closest returns the name that is most like the given one; "" if none is.
func Closest(given string, names []string) (best string) {
	least := maxDistance + 1
	for _, name := range names {
		if distance := levenshtein.Distance(given, name, nil); distance < least && distance < len(name) {
			best, least = name, distance
		}
	}
	return best
}

// suggestion is a line about the option that may have been meant, where the error is
// that there is no such option; "" if none is alike.
func suggestion(set *flag.FlagSet, err error) string {
	_, given, ok := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !ok {
		return ""
	}
	var names []string
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if meant := Closest(given, names); meant != "" {
		return "Did you mean -" + meant + "?"
	}
	return ""
}
