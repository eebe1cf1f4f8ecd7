package receipt

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

func simpleReceipt(h1 string) Receipt {
	return Receipt{Provenance: Provenance{H1: getproviders.Hash("h1:" + h1)}, Record: StatRecord{Entries: []StatEntry{{Name: "."}}}}
}

// onlyFile is the one file with receipts in a state directory.
func onlyFile(t *testing.T, state string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, receiptsDir, "[0-9a-f]*[0-9a-f]"))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %q, %v", found, err)
	}
	return found[0]
}

// saveOne saves a receipt in a test that runs beside others.
func saveOne(t *testing.T) (state, root string) {
	t.Helper()
	t.Parallel()
	state, root = filepath.Join(t.TempDir(), "deep", "state"), t.TempDir()
	must.Succeed(t, saveIn(t, Open(state, root), "a"))
	must.Equal(t, has(Open(state, root), "a"), true, "nothing was saved, so this test shows nothing")
	return state, root
}

// saveIn saves one more receipt.
func saveIn(t *testing.T, r *Receipts, name string) error {
	r.Put(name, simpleReceipt(name))
	return r.File.Save(t.Context())
}

func TestReceipts_AreOnesOwn(t *testing.T) {
	state, root := saveOne(t)
	file := onlyFile(t, state)
	for path, want := range map[string]os.FileMode{state: os.ModeDir | 0o700, filepath.Dir(file): os.ModeDir | 0o700, file: 0o600} {
		must.Equal(t, owner.Exclusive(path), true, path)
		if info := must.Get(os.Stat(path))(t); runtime.GOOS != "windows" {
			must.Equal(t, info.Mode(), want, path, want)
		}
	}
	for _, path := range []string{state, filepath.Dir(file), file} {
		info := must.Get(os.Stat(path))(t)
		open, back := os.Chmod(path, info.Mode()|0o020), func() error { return os.Chmod(path, info.Mode()) }
		if runtime.GOOS == "windows" {
			open, back = cachetest.OpenToAll(path), func() error { return owner.Chmod(path, 0o700) }
		}
		must.Succeed(t, open)
		must.Equal(t, has(Open(state, root), "a"), false, path)
		must.Succeed(t, back())
	}
	must.Succeed(t, cachetest.OpenToAll(filepath.Dir(file)))
	must.Refuse(saveIn(t, Open(state, root), "b"))(t, "saved where others can write")
}

func TestReceipts_OfOthersDontCount(t *testing.T) {
	give := func(path string) error { return os.Chown(path, 12345, -1) }
	if runtime.GOOS == "windows" {
		give = cachetest.OpenToAll
	} else if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	state, root := saveOne(t)
	file := onlyFile(t, state)
	must.Succeed(t, give(file))
	r := Open(state, root)
	must.Equal(t, has(r, "a"), false, "another user's file was read")
	must.Succeed(t, saveIn(t, r, "b"))
	must.Equal(t, has(Open(state, root), "b"), true, "another user's file wasn't replaced")
	must.Equal(t, has(Open(state, root), "a"), false, "what another user wrote is there")
	must.Succeed(t, give(state))
	must.Equal(t, has(Open(state, root), "b"), false, "another user's state was read")
}

func TestReceipts_DamagedReceiptsCountAsNone(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(c []byte) []byte{
		"empty":          func([]byte) []byte { return nil },
		"cut":            func(c []byte) []byte { return c[:len(c)-5] },
		"one bit":        func(c []byte) []byte { c[len(c)-9] ^= 1; return c },
		"zeros":          func(c []byte) []byte { clear(c); return c },
		"a later format": func(c []byte) []byte { c[len(statefile.StateFormat)-1]++; return c },
		"of another directory": func([]byte) []byte {
			return statefile.EncodeState("/elsewhere", map[string][]byte{"a": encodeReceipt(simpleReceipt("x"))})
		},
		"a receipt of another shape": func(c []byte) []byte {
			about, _, _ := statefile.DecodeState(c)
			return statefile.EncodeState(about, map[string][]byte{"a": []byte("[]")})
		},
		"a link": nil,
	} {
		if damage == nil && runtime.GOOS == "windows" { // where links are followed
			continue
		}
		t.Run(name, func(t *testing.T) {
			state, root := saveOne(t)
			file := onlyFile(t, state)
			if damage == nil {
				must.Succeed(t, errors.Join(os.Rename(file, file+".old"), os.Symlink(file+".old", file)))
			} else {
				must.Succeed(t, os.WriteFile(file, damage([]byte(read(t, file))), 0o600))
			}
			r := Open(state, root)
			must.Equal(t, has(r, "a"), false, "it was read")
			must.Succeed(t, saveIn(t, r, "b"))
			must.Equal(t, has(Open(state, root), "b"), true, "it wasn't replaced")
		})
	}
}

func TestReceipts_ProcessesDontLoseEachOthersReceipts(t *testing.T) {
	state, root := saveOne(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { must.Equal(t, saveIn(t, Open(state, root), fmt.Sprint("package ", i)), nil) })
	}
	all.Wait()
	r := Open(state, root)
	if runtime.GOOS == "windows" { // there are no locks here
		return
	}
	for i := range 20 {
		must.Equal(t, has(r, fmt.Sprint("package ", i)), true, i)
	}
	must.Equal(t, has(r, "a"), true)
}

func TestReceipts_WhatIsDroppedIsGone(t *testing.T) {
	state, root := saveOne(t)
	other := Open(state, root)
	other.Put("b", simpleReceipt("second"))
	r := Open(state, root)
	r.File.Remove("a")
	must.Equal(t, has(r, "a"), false, "it is still there")
	must.Succeed(t, errors.Join(other.File.Save(t.Context()), r.File.Save(t.Context())))
	must.Equal(t, has(Open(state, root), "a"), false, "it is there again")
	must.Equal(t, has(Open(state, root), "b"), true, "what another process wrote meanwhile is gone")
}

func TestReceipts_NothingIsWrittenWithoutAChange(t *testing.T) {
	state, root := saveOne(t)
	before := must.Get(os.Stat(onlyFile(t, state)))(t)
	r := Open(state, root)
	r.File.Remove("never there")
	must.Succeed(t, r.File.Save(t.Context()))
	after := must.Get(os.Stat(onlyFile(t, state)))(t)
	if !os.SameFile(before, after) {
		t.Error("the file was written again")
	}
	left, err := os.ReadDir(filepath.Join(state, receiptsDir))
	if err != nil || len(left) > 2 { // the file and the lock
		t.Errorf("there is %v, %v", left, err)
	}
}

func TestReceipts_NoStateKeepsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, state := range []string{"", file} {
		r := Open(state, t.TempDir())
		must.Succeed(t, saveIn(t, r, "a"))
		must.Equal(t, has(r, "a"), false, state)
		memo := OpenContents(state)
		memo.RememberArchive("zh:aa", "h1:x=")
		must.Succeed(t, memo.Save(t.Context()))
	}
}

func TestReceipts_SavingEndsWithItsContext(t *testing.T) {
	state, root := saveOne(t)
	r := Open(state, root)
	r.Put("b", simpleReceipt("x"))
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Fail(t, r.File.Save(ctx), cachetest.ErrStopped)
	if held, err := filelock.Try(filepath.Join(state, receiptsDir, "lock")); err == nil {
		defer held.Close()
		ctx, cancel := cachetest.ContextWithCause(t)
		waiting := make(chan error, 1)
		go func() { waiting <- r.File.Save(ctx) }()
		cancel(cachetest.ErrStopped)
		must.Fail(t, <-waiting, cachetest.ErrStopped)
	}
}

func TestReceipts_OneDirectoryHasOneSetOfReceipts(t *testing.T) {
	state, root := saveOne(t)
	name, link := root, filepath.Join(t.TempDir(), "link")
	t.Run("by a link", func(t *testing.T) {
		cachetest.LinkOrSkip(t, root, link)
		name = link
		must.Equal(t, has(Open(state, name), "a"), true, "the directory has none under another name")
	})
	must.Equal(t, has(Open(state, filepath.Join(root, "below")), "a"), false, "another directory has the same")
	must.Succeed(t, saveIn(t, Open(state, filepath.Join(name, "not", "there")), "b"))
	must.Succeed(t, os.MkdirAll(filepath.Join(root, "not", "there"), 0o755))
	must.Equal(t, has(Open(state, filepath.Join(root, "not", "there")), "b"), true, "the directory that was made later has none")
}

// TestReceipts_StateDoesntGrowForEver: what doesn't fit is forgotten, except what this process
// records.
func TestReceipts_StateDoesntGrowForEver(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	f := statefile.Open(dir, "file", "tests", UsersOwn)
	for i := range 4 {
		f.Set(fmt.Sprint("key", i), bytes.Repeat([]byte("x"), statefile.MaxStateBytes/5))
	}
	must.Succeed(t, f.Save(t.Context()))
	f = statefile.Open(dir, "file", "tests", UsersOwn)
	f.Set("new", bytes.Repeat([]byte("y"), statefile.MaxStateBytes/3))
	must.Succeed(t, f.Save(t.Context()))
	f = statefile.Open(dir, "file", "tests", UsersOwn)
	if _, ok := f.Get("new"); !ok || len(f.Read) != 1 {
		t.Errorf("%d keys are there, the new one: %t", len(f.Read), ok)
	}
	f.Set("larger", bytes.Repeat([]byte("z"), statefile.MaxStateBytes))
	if f.Save(t.Context()) == nil {
		t.Error("no error")
	}
}

func TestReceipts_ArchivesAreRemembered(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	memo := OpenContents(state)
	memo.RememberArchive("zh:aa", "h1:x=")
	memo.RememberArchive("zh:bb", "zh:cc")
	memo.RememberArchive("h1:x=", "h1:x=")
	must.Succeed(t, memo.Save(t.Context()))
	memo = OpenContents(state)
	if h1, ok := memo.KnownH1("zh:aa"); !ok || h1 != "h1:x=" {
		t.Errorf("got %q", h1)
	}
	for _, zh := range []getproviders.Hash{"zh:bb", "h1:x=", "", "zh:unknown"} {
		if h1, ok := memo.KnownH1(zh); ok {
			t.Errorf("%q: got %q", zh, h1)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add(statefile.EncodeState("/a/b", map[string][]byte{"a": []byte("{}"), "b": []byte("[1]")}))
	f.Add(statefile.EncodeState("", nil))
	f.Add([]byte(statefile.StateFormat + " \n"))
	f.Add([]byte(strings.Repeat("\n", 9)))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _, _ = statefile.DecodeState(content)
		// Whatever the lines are, if the checksum is right the rest of them is read.
		head := statefile.EncodeState("x", nil)
		sealed := bytes.Replace(head, sumOf(nil), sumOf(content), 1)
		about, entries, err := statefile.DecodeState(append(sealed, content...))
		if err != nil {
			return
		}
		again, same, err := statefile.DecodeState(statefile.EncodeState(about, entries))
		if err != nil || again != "x" || !maps.EqualFunc(entries, same, bytes.Equal) {
			t.Errorf("%q became %q, %v", entries, same, err)
		}
	})
}

func sumOf(body []byte) []byte { return fmt.Appendf(nil, "%x", sha256.Sum256(body)) }

func TestReceipts_SayWhichDirectoriesUseAPackage(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	want := map[string][]string{}
	for root, names := range map[string][]string{"one": {"a", "b"}, "two": {"b"}} {
		root = filepath.Join(t.TempDir(), root)
		must.Succeed(t, os.Mkdir(root, 0o755))
		r := Open(state, root)
		for _, name := range names {
			r.Put(name, simpleReceipt("x"))
		}
		must.Succeed(t, r.File.Save(t.Context()))
		root := must.Get(filepath.EvalSymlinks(root))(t)
		want[root] = names
	}
	memo := OpenContents(state)
	memo.RememberArchive("zh:aa", "h1:x=")
	must.Succeed(t, memo.Save(t.Context()))
	if got := ReceiptRoots(state); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q, want %q", got, want)
	}
	for root := range want {
		if filepath.Base(root) == "two" {
			must.Succeed(t, os.RemoveAll(root))
			delete(want, root)
		}
	}
	SweepReceipts(state)
	if got := ReceiptRoots(state); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("after sweeping: got %q, want %q", got, want)
	}
	if _, ok := OpenContents(state).KnownH1("zh:aa"); !ok {
		t.Error("the archives were swept")
	}
	for _, none := range []string{"", filepath.Join(state, "absent")} {
		must.Len(t, ReceiptRoots(none), 0, none)
	}
}

func TestEachStateFile_LeavesDirectoriesThatOthersCanWriteTo(t *testing.T) {
	state, _ := saveOne(t)
	count := func() (read int) {
		EachStateFile(state, receiptsDir, func(string, string, map[string][]byte) { read++ })
		return read
	}
	must.Equal(t, count(), 1)
	must.Succeed(t, cachetest.OpenToAll(Below(state, receiptsDir)))
	must.Equal(t, count(), 0)
}
