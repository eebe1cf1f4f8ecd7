package layout

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// device matches the names that Windows keeps for devices, in every directory and with every extension. It takes three digits
// above the line for the others.
var device = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)
})

// WindowsRefuses reports whether Windows can't hold a file at a slash-separated path, or would hold it under another name
// or as something else: names of devices, a dot or a space at an end, and characters that aren't for names there.
func WindowsRefuses(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if device().MatchString(part) || strings.TrimRight(part, ". ") != part ||
			strings.ContainsAny(part, `<>:"|?*\`) || strings.ContainsFunc(part, unicode.IsControl) {
			return true
		}
	}
	return false
}
