package store

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
)

// viewOf returns the view of the next process, which uses the packages as a cache.
func viewOf(s receipttest.Package, cache string) View {
	return ViewCache(&Store{Dir: cache}, UsableState(s.State), time.Now, false)
}

// hashedAgain gives the package a new receipt, even if it has changed.
func hashedAgain(t *testing.T, s receipttest.Package, at View) {
	t.Helper()
	at.Own.Record(t.Context(), time.Now, receipt.Pending{Name: receipttest.Name, Dir: s.Dir, Receipt: receipt.Provenance{H1: "h1:widget="}.Receipt(receipttest.RecordOf(t, s.Dir))})
	must.Succeed(t, at.Own.File.Save(t.Context()))
}

// placeOfPackage says which path changes, how, and whether a package's receipt counts afterwards.
type placeOfPackage struct {
	where  string
	change func(*testing.T, string)
	want   bool
}

// Places are paths from the package's directory.
const (
	executable = cachetest.WidgetFile
	below      = "docs/deep"
	page       = "docs/deep/page"
	dir        = "."
	version    = ".."
	cache      = "../../../../.."
	above      = "../../../../../.."
)

// A receipt counts only as long as no other user could have written to the package since it was
// hashed.
func TestView_CacheReceiptsCountOnlyWhereNoOtherUserWrites(t *testing.T) {
	t.Parallel()
	forAll := func(t *testing.T, path string) { must.Succeed(t, cachetest.OpenToAll(path)) }
	cases := map[string]placeOfPackage{
		"as it is":         {dir, func(*testing.T, string) {}, true},
		"version, for all": {version, forAll, false},
	}
	maps.Copy(cases, places)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := receipttest.New(t)
			c.change(t, filepath.Join(s.Dir, c.where))
			hashedAgain(t, s, viewOf(s, s.Root))
			if _, got := viewOf(s, s.Root).Known(receipttest.Name); got != c.want {
				t.Errorf("the receipt counts: %t", got)
			}
		})
	}
}
