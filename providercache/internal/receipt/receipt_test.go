package receipt

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
)

// What the tests of packages share, under short names.
var (
	write = cachetest.WriteTo
	read  = cachetest.ContentOf
)

const widgetFile = cachetest.WidgetFile

const packageName = "registry.example.com/acme/widget/1.0.0/linux_amd64"

// kept is a package in a directory of packages, and its receipts.
type kept struct {
	State, Root, Dir string
	Receipts         *Receipts
}

// keep makes a package with a good receipt. The test is skipped on file systems on which no
// receipt counts, and runs beside others.
func keep(t *testing.T) kept {
	t.Helper()
	t.Parallel()
	return keepBelow(t, t.TempDir())
}

// keepBelow makes packages and receipts in a directory.
func keepBelow(t *testing.T, dir string) kept {
	t.Helper()
	s := kept{State: filepath.Join(dir, "state"), Root: filepath.Join(dir, "cache")}
	s.Dir = filepath.Join(s.Root, packageName)
	write(t, filepath.Join(s.Dir, widgetFile), "the provider")
	write(t, filepath.Join(s.Dir, "LICENSE"), "free")
	write(t, filepath.Join(s.Dir, "docs", "deep", "page"), "words")
	s.Receipts = Open(s.State, s.Root)
	s.record(t, s.Receipts)
	if !s.isKnown() {
		t.Fatal("the receipt is no good, so this test shows nothing")
	}
	return s
}

// record records the package as it is now.
func (s kept) record(t *testing.T, in *Receipts) {
	t.Helper()
	in.Record(t.Context(), time.Now, Pending{Name: packageName, Dir: s.Dir, Receipt: Provenance{H1: "h1:widget="}.Receipt(recordOf(t, s.Dir))})
	must.Succeed(t, in.File.Save(t.Context()))
}

// has reports whether a name has a receipt, valid or not.
func has(r *Receipts, name string) bool {
	_, ok := r.Find(name)
	return ok
}

// isKnown reports whether the receipt counts for the next process.
func (s kept) isKnown() bool {
	rc, ok := Open(s.State, s.Root).Known(packageName, s.Dir, time.Now())
	return ok && rc.H1 == "h1:widget="
}

// copyTree copies a package.
func copyTree(t *testing.T, from, to string) error {
	_, _, err := link.Tree(t.Context(), from, to, []link.Mode{link.Copy})
	return err
}

func recordOf(t *testing.T, dir string) StatRecord {
	t.Helper()
	record, err := TakeRecord(dir)
	if errors.Is(err, errNotRecordable) {
		t.Skipf("no receipts here: %v", err)
	}
	must.Succeed(t, err)
	return record
}

// rewrite changes a file, and sets back all times that can be set.
func rewrite(t *testing.T, path, content string) {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	must.Succeed(t, errors.Join(os.WriteFile(path, []byte(content), info.Mode()), os.Chtimes(path, time.Time{}, info.ModTime())))
}

func TestReceipt_AReceiptSeesEveryChangeOfItsPackage(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, dir string){
		"content, mtime set back": func(t *testing.T, dir string) { rewrite(t, filepath.Join(dir, widgetFile), "the provider") },
		"content below, mtime set back": func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "docs", "deep", "page"), "WORDS")
		},
		"a file more": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "more"), "") },
		"a file more below, mtimes set back": func(t *testing.T, dir string) {
			below := filepath.Join(dir, "docs", "deep")
			info := must.Get(os.Stat(below))(t)
			write(t, filepath.Join(below, "more"), "")
			must.Succeed(t, os.Chtimes(below, time.Time{}, info.ModTime()))
		},
		"a directory more": func(t *testing.T, dir string) { must.Succeed(t, os.Mkdir(filepath.Join(dir, "more"), 0o755)) },
		"names exchanged": func(t *testing.T, dir string) {
			a, b := filepath.Join(dir, "LICENSE"), filepath.Join(dir, widgetFile)
			must.Succeed(t, errors.Join(os.Rename(a, a+".old"), os.Rename(b, a), os.Rename(a+".old", b)))
		},
		"moved away and back": func(t *testing.T, dir string) {
			must.Succeed(t, errors.Join(os.Rename(dir, dir+".old"), os.Rename(dir+".old", dir)))
		},
		"another directory": func(t *testing.T, dir string) {
			must.Succeed(t, errors.Join(copyTree(t, dir, dir+".new"), os.Rename(dir, dir+".old"), os.Rename(dir+".new", dir)))
		},
		"a directory below, another one": func(t *testing.T, dir string) {
			docs := filepath.Join(dir, "docs")
			must.Succeed(t, errors.Join(copyTree(t, docs, dir+".new"), os.RemoveAll(docs), os.Rename(dir+".new", docs)))
		},
		"a link in its place": func(t *testing.T, dir string) {
			must.Succeed(t, os.Rename(dir, dir+".old"))
			cachetest.LinkOrSkip(t, dir+".old", dir)
		},
		"a link in a file's place": func(t *testing.T, dir string) {
			path := filepath.Join(dir, widgetFile)
			must.Succeed(t, os.Rename(path, dir+".old"))
			cachetest.LinkOrSkip(t, dir+".old", path)
		},
		"gone":               func(t *testing.T, dir string) { must.Succeed(t, os.RemoveAll(dir)) },
		"a directory's mode": func(t *testing.T, dir string) { must.Succeed(t, os.Chmod(filepath.Join(dir, "docs"), 0o777)) },
		"set and back": func(t *testing.T, dir string) {
			must.Succeed(t, errors.Join(os.Chmod(filepath.Join(dir, "docs"), 0o777), os.Chmod(filepath.Join(dir, "docs"), 0o755)))
		},
		"another name": func(t *testing.T, dir string) {
			must.Succeed(t, os.Link(filepath.Join(dir, widgetFile), dir+".other"))
		},
		"a directory in a file's place": func(t *testing.T, dir string) {
			must.Succeed(t, errors.Join(os.Remove(filepath.Join(dir, "LICENSE")), os.Mkdir(filepath.Join(dir, "LICENSE"), 0o755)))
		},
	} {
		if runtime.GOOS == "windows" && slices.Contains([]string{"a directory's mode", "set and back", "another name"}, name) {
			continue // files have no such modes there, and their times don't tell of links
		}
		t.Run(name, func(t *testing.T) {
			s := keep(t)
			change(t, s.Dir)
			if s.isKnown() {
				t.Error("it wasn't seen")
			}
		})
	}
}

// Each field of a record matters alone.
func TestReceipt_EveryFieldOfARecordCounts(t *testing.T) {
	s := keep(t)
	good, _ := s.Receipts.Find(packageName)
	for i, entry := range good.Record.Entries {
		for field, change := range map[string]func(*StatEntry){
			"name":  func(e *StatEntry) { e.Name += "x" },
			"mode":  func(e *StatEntry) { e.Mode ^= 0o001 },
			"type":  func(e *StatEntry) { e.Mode ^= fs.ModeDir },
			"owner": func(e *StatEntry) { e.Owner++ },
			"inode": func(e *StatEntry) { e.Inode++ },
			"size":  func(e *StatEntry) { e.Size++ },
			"mtime": func(e *StatEntry) { e.Modified-- },
			"ctime": func(e *StatEntry) { e.Changed-- },
		} {
			rc := good
			rc.Record.Entries = slices.Clone(good.Record.Entries)
			change(&rc.Record.Entries[i])
			s.Receipts.Put(packageName, rc)
			if s.isKnownIn(s.Receipts) {
				t.Errorf("%s has another %s, and it counts", entry.Name, field)
			}
		}
	}
	s.Receipts.Put(packageName, good)
	must.Equal(t, s.isKnownIn(s.Receipts), true, "what it was before doesn't count, so this test shows nothing")
}

func TestReceipt_AReceiptCountsOnlyIfItsTimesWerePast(t *testing.T) {
	s := keep(t)
	s.Receipts.StrictTimes = true // else ctimes may be younger
	good, _ := s.Receipts.Find(packageName)
	granule := fineGranule
	if system, err := fileSystemOf(s.Dir); err == nil {
		granule = system.Granule
	}
	var last int64
	for _, entry := range good.Record.Entries {
		last = max(last, entry.Changed, entry.Modified)
	}
	newest := time.Unix(0, last)
	for name, c := range map[string]struct {
		taken, now time.Time
		want       bool
	}{
		"long after":               {newest.Add(time.Hour), newest.Add(2 * time.Hour), true},
		"just long enough":         {newest.Add(granule + 1), newest.Add(time.Hour), granule == fineGranule},
		"within the granule":       {newest.Add(granule), newest.Add(time.Hour), false},
		"before":                   {newest.Add(-time.Hour), newest.Add(time.Hour), false},
		"taken now":                {newest.Add(time.Hour), newest.Add(time.Hour), true},
		"the clock was set back":   {newest.Add(time.Hour), newest.Add(time.Hour - 1), false},
		"the clock was set far on": {newest.Add(1000 * time.Hour), newest.Add(time.Hour), false},
	} {
		rc := good
		rc.Taken = c.taken
		s.Receipts.Put(packageName, rc)
		if _, got := s.Receipts.Known(packageName, s.Dir, c.now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	rc := good
	rc.Record.FileSystem = "another"
	s.Receipts.Put(packageName, rc)
	must.Equal(t, s.isKnownIn(s.Receipts), false, "the file system is another one")
}

func (s kept) isKnownIn(r *Receipts) bool {
	_, ok := r.Known(packageName, s.Dir, time.Now())
	return ok
}

// Where a file system stores whole seconds, two changes within a second may have the same time.
func TestReceipt_WholeSecondsNeedMoreTime(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		changed time.Time
		taken   time.Duration
		want    bool
	}{
		"whole, soon":      {at, time.Second, false},
		"whole, late":      {at, 3 * time.Second, true},
		"fractional, soon": {at.Add(1), time.Second, true},
	} {
		record := StatRecord{Entries: []StatEntry{{Name: ".", Modified: c.changed.UnixNano(), Changed: c.changed.UnixNano()}}}
		must.Equal(t, record.settled(at.Add(c.taken), fineGranule, true), c.want, name)
	}
}

func TestReceipt_NoReceiptForWhatAnotherPlaceDecides(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "package")
	write(t, filepath.Join(dir, widgetFile), "x")
	recordOf(t, dir)
	must.Fail(t, must.ErrorOf(TakeRecord(filepath.Join(dir, widgetFile))), errNotRecordable)
	must.Fail(t, must.ErrorOf(TakeRecord(dir+".absent")), fs.ErrNotExist)
	t.Run("links", func(t *testing.T) {
		cachetest.LinkOrSkip(t, dir, dir+".link")
		must.Fail(t, must.ErrorOf(TakeRecord(dir+".link")), errNotRecordable)
		cachetest.LinkOrSkip(t, widgetFile, filepath.Join(dir, "link"))
		must.Fail(t, must.ErrorOf(TakeRecord(dir)), errNotRecordable)
	})
}

func TestReceipt_AReceiptIsMadeOnlyOfWhatWasChecked(t *testing.T) {
	s := keep(t)
	before := recordOf(t, s.Dir)
	moved := s.Dir + ".moved"
	must.Succeed(t, os.Rename(s.Dir, moved))
	known := func(h1 getproviders.Hash, linked bool) bool {
		s.Receipts.Record(t.Context(), time.Now, Pending{Name: packageName, Dir: moved, Receipt: Provenance{H1: h1}.Receipt(before), Linked: linked})
		rc, ok := s.Receipts.Known(packageName, moved, time.Now())
		return ok && rc.H1 == h1
	}
	must.Equal(t, known("h1:moved=", false), true, "the rename to its place voids a package's receipt")
	rewrite(t, filepath.Join(moved, "LICENSE"), "FREE")
	must.Equal(t, known("h1:moved=", false), false, "there is a receipt for what has changed since it was checked")
	write(t, filepath.Join(moved, "LICENSE"), "FREE") // with another mtime, which counts although links were made
	must.Equal(t, known("h1:moved=", true), false, "the receipt is renewed over a change")
	must.Equal(t, has(s.Receipts, packageName), true, "it is forgotten what the package was")
	known("h1:other=", false)
	must.Equal(t, has(s.Receipts, packageName), false, "there is a receipt for what another package has replaced")
}

func TestReceipt_WhatWasTooYoungWhenItWasHashedGetsNoReceipt(t *testing.T) {
	s := keep(t)
	rc := Provenance{H1: "h1:widget="}.Receipt(recordOf(t, s.Dir))
	newest := time.Unix(0, rc.Record.Entries[0].Changed)
	for taken, want := range map[time.Duration]bool{time.Hour: true, fineGranule / 2: false, -time.Hour: false} {
		s.Receipts.File.Remove(packageName)
		rc.Record.ReadFrom = newest.Add(taken)
		s.Receipts.Record(t.Context(), time.Now, Pending{Name: packageName, Dir: s.Dir, Receipt: rc})
		must.Equal(t, s.isKnownIn(s.Receipts), want, taken)
	}
}

func TestReceipt_AnInterruptedRecordingMakesNone(t *testing.T) {
	s := keep(t)
	write(t, filepath.Join(s.Dir, "new"), "")
	info := must.Get(os.Stat(filepath.Join(s.Dir, "new")))(t)
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	s.Receipts.File.Remove(packageName)
	now := info.ModTime // a change in this very moment might not move any time, so that recording has to wait
	s.Receipts.Record(ctx, now, Pending{Name: packageName, Dir: s.Dir, Receipt: Provenance{H1: "h1:widget="}.Receipt(recordOf(t, s.Dir))})
	must.Equal(t, has(s.Receipts, packageName), false)
}

func TestReceipt_ReceiptsKeepWhatTheySay(t *testing.T) {
	s := keep(t)
	good, _ := s.Receipts.Find(packageName)
	rc := Receipt{
		Provenance: Provenance{
			H1: "h1:x=", ZH: "zh:aa", Origin: "https://example.com/v1/providers/", ArchiveBytes: 12,
			RegistryHashes: map[getproviders.Platform]getproviders.Hash{{OS: "plan9", Arch: "386"}: "h1:y="},
		},
		Signed: []getproviders.Hash{"zh:aa", "zh:bb"}, TrustLevel: getproviders.LevelPartner, KeyID: "ABCD", Taken: good.Taken, Record: good.Record,
	}
	s.Receipts.Put(packageName, rc)
	must.Succeed(t, s.Receipts.File.Save(t.Context()))
	got, ok := Open(s.State, s.Root).Find(packageName)
	if !ok || string(encodeReceipt(got)) != string(encodeReceipt(rc)) || !got.Record.equal(rc.Record) || !got.Taken.Equal(rc.Taken) {
		t.Errorf("got %+v, want %+v", got, rc)
	}
}

// TestReceipt_KeepsTheNamesOfEarlierVersions has what an earlier version has written. Both read the receipts of one cache.
func TestReceipt_KeepsTheNamesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	const recorded = `{"h1":"h1:x=","zh":"zh:aa","signed":["zh:aa","zh:bb"],"tier":3,"key":"ABCD","origin":"https://example.com/v1/providers/","registry":true,"h1a":"h1:z=","bytes":12,` +
		`"released":"2023-11-14T22:13:20Z","told":{"plan9_386":"h1:y="},"taken":"2027-01-15T08:00:00Z","record":{"fs":"ef53:1","entries":[{"n":".","m":2147484141,"o":1000,"i":7,"mt":1,"ct":2},` +
		`{"n":"a","m":420,"i":8,"s":3,"mt":4,"ct":5}],"ReadFrom":"0001-01-01T00:00:00Z"}}`
	got := must.Get(decodeReceipt([]byte(recorded)))(t)
	var ours, theirs map[string]any
	must.Succeed(t, errors.Join(json.Unmarshal(encodeReceipt(got), &ours), json.Unmarshal([]byte(recorded), &theirs)))
	must.DeepEqual(t, ours, theirs)
	must.DeepEqual(t, got.Claims(), Provenance{
		Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelPartner, KeyID: "ABCD", Signed: []getproviders.Hash{"zh:aa", "zh:bb"}},
		H1:             "h1:x=", H1Archive: "h1:z=", ZH: "zh:aa", Origin: "https://example.com/v1/providers/", FromRegistry: true, ArchiveBytes: 12, Files: 1,
		Released: time.Unix(1_700_000_000, 0).UTC(), RegistryHashes: map[getproviders.Platform]getproviders.Hash{{OS: "plan9", Arch: "386"}: "h1:y="},
	})
}

func FuzzReceipt(f *testing.F) {
	f.Add([]byte(`{"h1":"h1:x=","taken":"2026-01-01T00:00:00Z","record":{"fs":"ef53:1","entries":[{"n":".","m":2147484141,"mt":1,"ct":2},{"n":"a/b","s":3}]}}`))
	f.Add([]byte(`{"h1":"h1:x=","record":{"entries":[{"n":"."},{"n":"../x"}]}}`))
	f.Add([]byte(`{"h1":"zh:x","record":{"entries":[{"n":"."}]}}`))
	f.Add([]byte(`{"h1":"h1:x=","told":{"":"h1:y=","plan9_386":null,"plan9":"h1:z="},"record":{"entries":[{"n":"."}]}}`))
	f.Add([]byte(`{"record":{"entries":[null]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		rc, err := decodeReceipt(content)
		if err != nil {
			return
		}
		for _, entry := range rc.Record.Entries {
			if !filepath.IsLocal(filepath.FromSlash(entry.Name)) {
				t.Errorf("%q leads out of the package", entry.Name)
			}
		}
		again, err := decodeReceipt(encodeReceipt(rc))
		if err != nil || !again.Record.equal(rc.Record) || again.H1 != rc.H1 {
			t.Errorf("%+v became %+v, %v", rc, again, err)
		}
		rc.Record.settled(rc.Taken, fineGranule, true)
	})
}

// A package on a file system that isn't local is hashed, whatever its record says.
func TestReceipt_NoReceiptCountsOnAFileSystemOfOthers(t *testing.T) {
	s := keep(t)
	device := must.Get(Lstat(s.Dir))(t)
	r := Open(s.State, s.Root)
	rc, _ := r.Find(packageName)
	for _, local := range []bool{true, false} {
		r.systems[device.Device] = fileSystem{ID: rc.Record.FileSystem, Local: local, Granule: fineGranule}
		must.Equal(t, s.isKnownIn(r), local)
	}
}
