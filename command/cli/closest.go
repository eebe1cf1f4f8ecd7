package cli

import (
	"flag"
	"strings"

	"github.com/agext/levenshtein"
)

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

// suggestion is a line about the option that may have been meant, where the error is
// that there is no such option; "" if none is alike.
func suggestion(set *flag.FlagSet, err error) string {
	_, given, ok := strings.Cut(err.Error(), "flag provided but not defined: -")
	if !ok {
		return ""
	}
	if name, _, _ := strings.Cut(given, "="); name == "chdir" || name == "passthrough" {
		return "It is a global option, which stands before the command: tfdeps -" + name + map[string]string{"chdir": "=DIR"}[name] + " COMMAND"
	}
	var names []string
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if meant := Closest(given, names); meant != "" {
		return "Did you mean -" + meant + "?"
	}
	return ""
}
