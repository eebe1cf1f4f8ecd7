//go:build linux || darwin

package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
)

const somebodyElse = 12345

// chmod and give change the mode and the owner of a path. Only root can change owners.
func chmod(mode os.FileMode) func(*testing.T, string) {
	return func(t *testing.T, path string) { must.Succeed(t, os.Chmod(path, mode)) }
}

func give(t *testing.T, path string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	must.Succeed(t, os.Lchown(path, somebodyElse, -1))
}

// places are what modes and owners do to a package and to what it is in.
var places = map[string]placeOfPackage{
	"executable, for the group":           {executable, chmod(0o775), false},
	"executable, for all":                 {executable, chmod(0o757), false},
	"executable, for its owner alone":     {executable, chmod(0o700), true},
	"executable, another user's":          {executable, give, false},
	"file below, another user's":          {page, give, false},
	"directory below, for all":            {below, chmod(0o777), false},
	"directory below, like /tmp":          {below, chmod(0o777 | os.ModeSticky), false},
	"directory below, another user's":     {below, give, false},
	"package, for all":                    {dir, chmod(0o777), false},
	"cache, for all":                      {cache, chmod(0o777), false},
	"package, for the group":              {dir, chmod(0o775), false},
	"package, like /tmp":                  {dir, chmod(0o777 | os.ModeSticky), false},
	"package, another user's":             {dir, give, false},
	"version, for the group":              {version, chmod(0o775), false},
	"version, like /tmp":                  {version, chmod(0o777 | os.ModeSticky), true},
	"version, another user's":             {version, give, false},
	"cache, like /tmp":                    {cache, chmod(0o777 | os.ModeSticky), true},
	"cache, like another user's /tmp":     {cache, func(t *testing.T, path string) { give(t, path); chmod(0o777|os.ModeSticky)(t, path) }, false},
	"what the cache is in, for the group": {above, chmod(0o775), false},
	"what the cache is in, its owner's":   {above, give, false},
}

// A link on the way to the cache is checked, too, and so is the place that it leads to.
func TestView_CacheReceiptsBehindALinkNeedPathsOfThisUser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, between, link string)
		want   bool
	}{
		"as it is":                      {func(*testing.T, string, string) {}, true},
		"link, another user's":          {func(t *testing.T, _, link string) { give(t, link) }, false},
		"where the link is, for all":    {func(t *testing.T, _, link string) { chmod(0o777)(t, filepath.Dir(link)) }, false},
		"where it leads first, for all": {func(t *testing.T, between, _ string) { chmod(0o777)(t, filepath.Dir(between)) }, false},
		"in a circle": {func(t *testing.T, between, link string) {
			must.Succeed(t, os.Remove(between))
			cachetest.LinkOrSkip(t, link, between)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := receipttest.New(t)
			between, link := filepath.Join(t.TempDir(), "between"), filepath.Join(t.TempDir(), "link")
			cachetest.LinkOrSkip(t, s.Root, between)
			cachetest.LinkOrSkip(t, filepath.Join("..", "..", filepath.Base(filepath.Dir(filepath.Dir(between))), filepath.Base(filepath.Dir(between)), "between"), link)
			if _, ok := viewOf(s, link).Known(receipttest.Name); !ok && name != "in a circle" {
				t.Fatal("the receipt is no good, so this test shows nothing")
			}
			c.change(t, between, link)
			if _, got := viewOf(s, link).Known(receipttest.Name); got != c.want {
				t.Errorf("the receipt counts: %t", got)
			}
		})
	}
}

// What root owns is safe from other users, and so is this user's cache in a directory of root's.
func TestView_CacheReceiptsAreForTheirUser(t *testing.T) {
	t.Parallel()
	s := receipttest.New(t)
	for _, path := range []string{s.Root, s.Dir, filepath.Join(s.Dir, cachetest.WidgetFile)} {
		give(t, path)
	}
	hashedAgain(t, s, viewOf(s, s.Root))
	for user, want := range map[int]bool{somebodyElse: true, somebodyElse + 1: false, os.Geteuid(): false} {
		at := viewOf(s, s.Root)
		at.Own.User = user
		if _, got := at.Known(receipttest.Name); got != want {
			t.Errorf("for %d: %t", user, got)
		}
	}
}

// A user who can write to a working directory can change its configuration anyway. So packages in
// it are known by their receipts, unless another user owns them.
func TestView_TargetReceiptsDontDependOnTheDirectoriesAbove(t *testing.T) {
	t.Parallel()
	s := receipttest.New(t)
	must.Succeed(t, os.Chmod(filepath.Dir(s.Root), 0o775))
	target := func() View {
		return ViewTarget(&Store{Dir: s.Root}, UsableState(s.State), time.Now, false)
	}
	if _, ok := target().Known(receipttest.Name); !ok {
		t.Error("the receipt doesn't count")
	}
	give(t, filepath.Join(s.Dir, cachetest.WidgetFile))
	hashedAgain(t, s, target())
	if _, ok := target().Known(receipttest.Name); ok {
		t.Error("it counts for another user's file")
	}
}
