package view

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/providercache/store"
)

// TestVerify_NamesInPackagesWriteNoLines: whoever made a package may have named a file, or
// what a link leads to, as he liked.
func TestVerify_NamesInPackagesWriteNoLines(t *testing.T) {
	hostile := errors.New("it is a link to what isn't there: /x\nVerified 9 packages\r\x1b[2J")
	for _, finding := range []store.TreeFinding{store.TreeDangling, store.TreeUnreadable} {
		v := NewVerify(Options{})
		v.Tell(VerifiedTree{Path: "mirror", LockFile: "lock", Packages: []store.ComparedPackage{
			{ReadPackage: store.ReadPackage{Path: "mirror/x", Err: hostile}, Finding: finding},
		}})
		var out strings.Builder
		if err := v.End(&out); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.Count(text, "\n") != 2 || strings.ContainsAny(text, "\r\x1b") || !strings.Contains(text, `/x\nVerified 9`) {
			t.Errorf("%s: %q", finding, text)
		}
	}
}
