// Package receipttest makes packages with receipts, for tests.
package receipttest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Name is the name of the package that New makes.
const Name = "registry.example.com/acme/widget/1.0.0/linux_amd64"

// Package is a package in a directory of packages, with its receipts.
type Package struct {
	State, Root, Dir string
	Receipts         *receipt.Receipts
}

// New makes a package with a valid receipt. It skips the test on
// file systems where no receipt counts.
func New(t *testing.T) Package {
	t.Helper()
	p := Package{State: filepath.Join(t.TempDir(), "state"), Root: filepath.Join(t.TempDir(), "cache")}
	p.Dir = filepath.Join(p.Root, filepath.FromSlash(Name))
	cachetest.WriteTo(t, filepath.Join(p.Dir, cachetest.WidgetFile), "the provider")
	cachetest.WriteTo(t, filepath.Join(p.Dir, "LICENSE"), "free")
	cachetest.WriteTo(t, filepath.Join(p.Dir, "docs", "deep", "page"), "words")
	p.Receipts = receipt.Open(p.State, p.Root)
	made := receipt.Provenance{H1: "h1:widget="}.Receipt(RecordOf(t, p.Dir))
	p.Receipts.Record(t.Context(), time.Now, receipt.Pending{Name: Name, Dir: p.Dir, Receipt: made})
	must.Succeed(t, p.Receipts.File.Save(t.Context()))
	if !p.IsKnown() {
		t.Fatal("the receipt is no good, so this test shows nothing")
	}
	return p
}

// IsKnown reports whether the next process would accept the receipt.
func (p Package) IsKnown() bool {
	found, ok := receipt.Open(p.State, p.Root).Known(Name, p.Dir, time.Now())
	return ok && found.H1 == "h1:widget="
}

// RecordOf takes the record of a package. It skips the test if that is impossible.
func RecordOf(t *testing.T, dir string) receipt.StatRecord {
	t.Helper()
	record, err := receipt.TakeRecord(dir)
	if err != nil {
		t.Skipf("no receipts here: %v", err)
	}
	return record
}
