package layout

import (
	"slices"
	"strings"
	"unicode"
)

// devices are the names that Windows keeps for devices, in every directory and with every extension, but for the
// numbered ones.
var devices = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}

// WindowsRefuses reports whether Windows can't hold a file at a slash-separated path, or would hold it under another name
// or as something else: names of devices, a dot or a space at an end, and characters that aren't for names there.
func WindowsRefuses(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
		stem = strings.TrimRight(stem, " ")
		number, numbered := strings.CutPrefix(stem, "COM")
		if !numbered {
			number, numbered = strings.CutPrefix(stem, "LPT")
		}
		if slices.Contains(devices, stem) || numbered && slices.Contains(numbers, number) || strings.TrimRight(part, ". ") != part ||
			strings.ContainsAny(part, `<>:"|?*\`) || strings.ContainsFunc(part, unicode.IsControl) {
			return true
		}
	}
	return false
}

// numbers are those of devices. Windows takes three digits above the line for the others.
var numbers = strings.Fields("0 1 2 3 4 5 6 7 8 9 ¹ ² ³")
