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

// places are changes of modes and owners of a package and of the directories above it.
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

// What root owns is safe from other users, and so is this user's cache in a directory of root's. A link on the way to the cache is
// checked, too, and so is the place that it leads to.
func TestView_ReceiptsAreForTheirUser(t *testing.T) {
	t.Parallel()
	t.Run("of a cache", func(t *testing.T) {
		s := receipttest.New(t)
		for _, path := range []string{s.Root, s.Dir, filepath.Join(s.Dir, cachetest.WidgetFile)} {
			give(t, path)
		}
		hashedAgain(t, s, viewOf(s, s.Root))
		for user, want := range map[int]bool{somebodyElse: true, somebodyElse + 1: false, os.Geteuid(): false} {
			at := viewOf(s, s.Root)
			at.Own.User = user
			must.Equal(t, isKnown(at), want, user)
		}
	})
	// A user who can write to a working directory can change its configuration anyway.
	t.Run("of a target, whatever is above it", func(t *testing.T) {
		s := receipttest.New(t)
		must.Succeed(t, os.Chmod(filepath.Dir(s.Root), 0o775))
		target := func() View {
			return ViewTarget(&Store{Dir: s.Root}, UsableState(s.State), time.Now, false)
		}
		must.Equal(t, isKnown(target()), true)
		give(t, filepath.Join(s.Dir, cachetest.WidgetFile))
		hashedAgain(t, s, target())
		must.Equal(t, isKnown(target()), false, "another user's file")
	})
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
		t.Run("of a cache behind a link, "+name, func(t *testing.T) {
			t.Parallel()
			s := receipttest.New(t)
			between, link := filepath.Join(t.TempDir(), "between"), filepath.Join(t.TempDir(), "link")
			cachetest.LinkOrSkip(t, s.Root, between)
			cachetest.LinkOrSkip(t, filepath.Join("..", "..", filepath.Base(filepath.Dir(filepath.Dir(between))), filepath.Base(filepath.Dir(between)), "between"), link)
			if !isKnown(viewOf(s, link)) && name != "in a circle" {
				t.Fatal("the receipt is no good, so this test shows nothing")
			}
			c.change(t, between, link)
			must.Equal(t, isKnown(viewOf(s, link)), c.want)
		})
	}
}

func isKnown(at View) bool {
	_, known := at.Known(receipttest.Name)
	return known
}
