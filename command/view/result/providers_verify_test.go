package result

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/providercache"
)

// TestVerify_NamesInPackagesWriteNoLines: the author of a package chooses the names of
// files, and what a link leads to.
func TestVerify_NamesInPackagesWriteNoLines(t *testing.T) {
	hostile := errors.New("it is a link to what isn't there: /x\nVerified 9 packages\r\x1b[2J")
	for _, finding := range []providercache.Finding{providercache.Dangling, providercache.Unreadable} {
		v := Verified([]VerifiedTree{{Path: "mirror", LockFile: "lock", Packages: []providercache.ComparedPackage{
			{ReadPackage: providercache.ReadPackage{Outcome: providercache.Outcome{Path: "mirror/x", Err: hostile}}, Finding: finding},
		}}})
		if text := v.People; strings.Count(text, "\n") != 2 || strings.ContainsAny(text, "\r\x1b") || !strings.Contains(text, `/x\nVerified 9`) {
			t.Errorf("%s: %q", finding, text)
		}
	}
}
