package receipt

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/owner"
)

// imageCache makes a cache that only root can write to, as the build of an image does, with a
// receipt beside it. It isn't in /tmp, to which all users can write. The test runs beside others.
func imageCache(t *testing.T) (cache, dir string) {
	t.Helper()
	t.Parallel()
	if os.Getuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can make what is root's alone")
	}
	above, err := os.MkdirTemp("/var/lib", "tfdeps-test-")
	if err != nil {
		t.Skipf("no place for it: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(above) })
	if !RootsWithParents(above) {
		t.Skipf("%s is not root's alone", filepath.Dir(above))
	}
	cache = filepath.Join(above, "cache")
	dir = filepath.Join(cache, packageName)
	write(t, filepath.Join(dir, widgetFile), "the provider")
	write(t, filepath.Join(dir, "docs", "page"), "words")
	r := MakeImage(cache)
	r.Put(packageName, Receipt{Provenance: Provenance{H1: "h1:widget="}, Taken: time.Now(), Record: recordOf(t, dir)})
	must.Succeed(t, r.File.Save(t.Context()))
	if !imageIsKnown(cache) {
		t.Fatal("the receipt is no good, so this test shows nothing")
	}
	return cache, dir
}

// imageIsKnown reports whether the receipt counts for a user who can't write to the image.
func imageIsKnown(cache string) bool {
	rc, ok := ImageReceipts(cache, never).Known(packageName, filepath.Join(cache, packageName), time.Now())
	return ok && rc.H1 == "h1:widget="
}

func never(string) bool { return false }

// pushAndPull changes a tree as pushing and pulling an image does: new inodes and ctimes, and
// times in whole seconds.
func pushAndPull(t *testing.T, from, to string) {
	t.Helper()
	must.Succeed(t, os.CopyFS(to, os.DirFS(from)))
	var paths []string
	must.Succeed(t, filepath.Walk(from, func(path string, _ os.FileInfo, err error) error {
		paths = append(paths, path)
		return err
	}))
	for i := len(paths) - 1; i >= 0; i-- {
		info := must.Get(os.Stat(paths[i]))(t)
		name, err := filepath.Rel(from, paths[i])
		must.Succeed(t, errors.Join(err, os.Chmod(filepath.Join(to, name), info.Mode())))
		must.Succeed(t, os.Chtimes(filepath.Join(to, name), time.Time{}, info.ModTime().Truncate(time.Second)))
	}
}

func imageIsPulled(t *testing.T, cache, _ string) {
	pulled := cache + "-pulled"
	pushAndPull(t, cache, pulled)
	pushAndPull(t, cache+imageSuffix, pulled+imageSuffix)
	must.Equal(t, imageIsKnown(pulled), true)
}

func imageIsMadeAgain(t *testing.T, cache, dir string) {
	path := filepath.Join(cache+imageSuffix, "packages")
	first := read(t, path)
	again := cache + "-again"
	pushAndPull(t, cache, again)
	dir = again + dir[len(cache):]
	r := MakeImage(again)
	r.Put(packageName, Receipt{Provenance: Provenance{H1: "h1:widget="}, Taken: time.Now().Add(time.Hour), Record: recordOf(t, dir)})
	must.Succeed(t, r.File.Save(t.Context()))
	must.Equal(t, read(t, filepath.Join(again+imageSuffix, "packages")), first)
	must.Len(t, must.Get(os.ReadDir(again+imageSuffix))(t), 1)
}

func TestImageReceipts_CountOnlyWhereRootAloneWrites(t *testing.T) {
	t.Parallel()
	chmod := func(mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) { must.Succeed(t, os.Chmod(path, mode)) }
	}
	give := func(t *testing.T, path string) { must.Succeed(t, os.Chown(path, 12345, -1)) }
	for name, c := range map[string]struct {
		where  func(cache, dir string) string
		change func(*testing.T, string)
	}{
		"parent, for the group":      {func(cache, _ string) string { return filepath.Dir(cache) }, chmod(0o775)},
		"parent, another user's":     {func(cache, _ string) string { return filepath.Dir(cache) }, give},
		"cache, for all":             {func(cache, _ string) string { return cache }, chmod(0o757)},
		"between, for all":           {func(_, dir string) string { return filepath.Dir(dir) }, chmod(0o777)},
		"package, another user's":    {func(_, dir string) string { return dir }, give},
		"executable, for the group":  {func(_, dir string) string { return filepath.Join(dir, widgetFile) }, chmod(0o775)},
		"executable, other mode":     {func(_, dir string) string { return filepath.Join(dir, widgetFile) }, chmod(0o555)},
		"file below, another user's": {func(_, dir string) string { return filepath.Join(dir, "docs", "page") }, give},
		"receipts, for all":          {func(cache, _ string) string { return cache + imageSuffix }, chmod(0o777)},
		"receipts, another user's":   {func(cache, _ string) string { return filepath.Join(cache+imageSuffix, "packages") }, give},
		"content": {func(_, dir string) string { return filepath.Join(dir, widgetFile) }, func(t *testing.T, path string) {
			write(t, path, "another provider")
		}},
		"a file more, an hour later": {func(_, dir string) string { return dir }, func(t *testing.T, path string) {
			write(t, filepath.Join(path, "more"), "")
			must.Succeed(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cache, dir := imageCache(t)
			c.change(t, c.where(cache, dir))
			must.Equal(t, imageIsKnown(cache), false)
		})
	}
	for name, check := range map[string]func(t *testing.T, cache, dir string){
		"pushed and pulled": imageIsPulled, "made again": imageIsMadeAgain, "package, elsewhere": packageIsElsewhere, "this process can write": processCanWrite,
	} {
		t.Run(name, func(t *testing.T) {
			cache, dir := imageCache(t)
			check(t, cache, dir)
		})
	}
}

func packageIsElsewhere(t *testing.T, cache, dir string) {
	r := ImageReceipts(cache, never)
	moved := filepath.Join(filepath.Dir(cache), "elsewhere")
	must.Succeed(t, os.Rename(dir, moved))
	must.Succeed(t, os.Symlink(moved, dir))
	for _, path := range []string{moved, dir} {
		_, known := r.Known(packageName, path, time.Now())
		must.Equal(t, known, false, path)
	}

	forAll := t.TempDir()
	must.Succeed(t, os.Chmod(forAll, 0o777))
	must.Equal(t, ImageReceipts(forAll, never).File.Dir, "")
}

func processCanWrite(t *testing.T, cache, dir string) {
	for name, c := range map[string]struct {
		canWrite func(path string) bool
		want     bool
	}{
		"nowhere":         {never, true},
		"root":            {owner.CanWrite, false}, // this process is root
		"to the cache":    {func(path string) bool { return path == cache }, false},
		"to the receipts": {func(path string) bool { return path == cache+imageSuffix }, false},
		"to the package":  {func(path string) bool { return path == dir }, false},
	} {
		r := ImageReceipts(cache, c.canWrite)
		if _, got := r.Known(packageName, dir, time.Now()); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		if _, known := r.Find(packageName); known && name != "nowhere" && name != "to the package" {
			t.Errorf("%s: what they say is heard", name)
		}
	}
}
