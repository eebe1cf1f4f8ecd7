package providercache

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// checkStreaming unpacks an archive while it arrives, byte by byte or nearly
// so, and demands what came of unpacking it afterwards: the same error, or the
// same hashes and files.
func checkStreaming(tb testing.TB, from archive, want string, limits Limits, wantResult unpacked, wantErr error) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "package")
	result, _, err := unpackArriving(tb, from, dir, limits)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		tb.Errorf("unpacked while it arrives: %v; afterwards: %v", err, wantErr)
	}
	if err == nil && wantErr == nil {
		if result != wantResult {
			tb.Errorf("unpacked while it arrives: %v; afterwards: %v", result, wantResult)
		}
		sameTree(tb, dir, want)
	}
}

// unpackArriving reports also whether the result is that of unpacking while
// the archive arrived.
func unpackArriving(tb testing.TB, from archive, dir string, limits Limits) (result unpacked, onTheWay bool, err error) {
	tb.Helper()
	limits = limits.withDefaults()
	file, err := os.Open(from.Path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var mark par.Mark
	gate := par.NewLimit(1)
	step := max(1, from.Size/100)
	err = par.Together(tb.Context(),
		func(context.Context) error {
			for at := int64(0); at < from.Size; at += step {
				mark.Advance(min(step, from.Size-at))
			}
			mark.End(nil)
			return nil
		},
		func(ctx context.Context) error {
			behind := &follower{ctx: ctx, file: file, mark: &mark, place: &place{gate: gate}}
			from.Streamed = stream(behind, dir, limits)
			return nil
		},
	)
	if err != nil {
		tb.Fatal(err)
	}
	if release, err := gate.Acquire(tb.Context(), 0); err != nil {
		tb.Error(err)
	} else {
		release() // the place was given back
	}
	whole, err := from.open(widget, limits)
	if err != nil {
		return unpacked{}, false, err
	}
	defer whole.file.Close()
	if from.Streamed.agrees(whole.entries) {
		result, err = from.Streamed.finish(whole.entries, dir)
		return result, true, err
	}
	result, err = whole.unpack(tb.Context(), dir)
	return result, false, err
}

func arriving(tb testing.TB, content []byte) (onTheWay bool, err error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "archive.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	_, onTheWay, err = unpackArriving(tb, archive{Path: path, Size: int64(len(content))}, filepath.Join(tb.TempDir(), "package"), Limits{})
	return onTheWay, err
}

// TestOrdinaryArchivesAreUnpackedOnTheWay is about what publishers' programs
// make: with data descriptors or without, files stored or deflated.
func TestOrdinaryArchivesAreUnpackedOnTheWay(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"with descriptors":       archiveByGo(t, zip.Deflate),
		"sizes known, deflated":  archiveOf(t, item{name: widgetFile, raw: deflated(t, []byte("known")), content: "known", size: 5, method: zip.Deflate}),
		"sizes known, stored":    archiveOf(t, item{name: widgetFile, raw: []byte("known"), content: "known", size: 5}),
		"directories":            archiveOf(t, item{name: "docs/"}, item{name: "docs/a", content: "a"}, good),
		"a comment and an extra": archiveOf(t, item{name: "a", comment: "about a"}, good),
	} {
		if onTheWay, err := arriving(t, content); err != nil || !onTheWay {
			t.Errorf("%s: on the way: %t, %v", name, onTheWay, err)
		}
	}
}

// TestOddArchivesAreUnpackedAfterwards is about archives that are in order,
// but can be read in more than one way, or not from their beginning.
func TestOddArchivesAreUnpackedAfterwards(t *testing.T) {
	t.Parallel()
	ordinary := archiveByGo(t, zip.Deflate)
	for name, content := range map[string][]byte{
		"stored, with a descriptor":        archiveByGo(t, zip.Store),
		"something before the first entry": append([]byte("#!/bin/sh\n"), ordinary...),
		"another name in the header":       replaceFirst(t, ordinary, widgetFile, strings.ToUpper(widgetFile)),
		"another method in the header":     withHeader(ordinary, 8, 0),
		"another flag in the header":       withHeader(ordinary, 6, binary.LittleEndian.Uint16(ordinary[6:])|1<<4),
	} {
		if onTheWay, err := arriving(t, content); err != nil || onTheWay {
			t.Errorf("%s: on the way: %t, %v", name, onTheWay, err)
		}
	}
}

// TestTheDirectoryDecides has archives that show one content to those who read
// from the beginning, and another one to those who begin at the directory.
func TestTheDirectoryDecides(t *testing.T) {
	t.Parallel()
	hidden := archiveOf(t, item{name: "hidden", content: "only in the beginning"})
	shown := archiveOf(t, good)
	end := bytes.Index(hidden, []byte{'P', 'K', 1, 2})
	path := filepath.Join(t.TempDir(), "archive.zip")
	content := append(bytes.Clone(hidden[:end]), shown...)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "package")
	_, onTheWay, err := unpackArriving(t, archive{Path: path, Size: int64(len(content))}, dir, Limits{})
	if err != nil || onTheWay {
		t.Fatalf("on the way: %t, %v", onTheWay, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != widgetFile {
		t.Errorf("unpacked %v, %v; want what the directory lists", entries, err)
	}
}

// TestStreamingKeepsTheLimits unpacks what would be too large while it can't
// be known yet.
func TestStreamingKeepsTheLimits(t *testing.T) {
	t.Parallel()
	content := archiveOf(t, item{name: widgetFile, content: strings.Repeat("0", 1<<20)})
	path := filepath.Join(t.TempDir(), "archive.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "package")
	_, onTheWay, err := unpackArriving(t, archive{Path: path, Size: int64(len(content))}, dir, Limits{PackageBytes: 1 << 16})
	if err == nil || onTheWay {
		t.Errorf("on the way: %t, %v", onTheWay, err)
	}
	if info, err := os.Stat(filepath.Join(dir, widgetFile)); err != nil || info.Size() > 1<<16+1 {
		t.Errorf("wrote %v, %v", info, err)
	}
}

func TestFollowerReadsWhatIsThereBeforeItsEnd(t *testing.T) {
	t.Parallel()
	var mark par.Mark
	mark.Advance(5)
	mark.End(nil)
	behind := &follower{ctx: t.Context(), file: strings.NewReader("hello"), mark: &mark, place: &place{gate: par.NewLimit(1)}}
	if got, err := io.ReadAll(behind); string(got) != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFollowerEndsWithItsContextWhateverIsThere(t *testing.T) {
	t.Parallel()
	ctx, cancel := contextWithCause(t)
	var mark par.Mark
	mark.Advance(5)
	behind := &follower{ctx: ctx, file: strings.NewReader("hello"), mark: &mark, place: &place{gate: par.NewLimit(1)}}
	if n, err := behind.Read(make([]byte, 2)); n != 2 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	cancel(errStopped)
	if n, err := behind.Read(make([]byte, 2)); n != 0 || err != errStopped {
		t.Errorf("got %d, %v", n, err)
	}
}

// TestStreamingCountsTheRootToo has no end of entries that make no file and no
// directory: what is known of each is kept.
func TestStreamingCountsTheRootToo(t *testing.T) {
	t.Parallel()
	content := archiveOf(t, item{name: "./"}, item{name: "./"}, good)
	var mark par.Mark
	mark.Advance(int64(len(content)))
	mark.End(nil)
	behind := &follower{ctx: t.Context(), file: bytes.NewReader(content), mark: &mark, place: &place{gate: par.NewLimit(1)}}
	if got := stream(behind, "", Limits{}.withDefaults()); got != nil {
		t.Errorf("got %d entries", len(got))
	}
}

func TestStreamingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := contextWithCause(t)
	var mark par.Mark
	gate := par.NewLimit(1)
	cancel(errStopped)
	behind := &follower{ctx: ctx, file: bytes.NewReader(nil), mark: &mark, place: &place{gate: gate}}
	if got := stream(behind, "", Limits{}.withDefaults()); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestStreamingStopsAtAnAbsurdRatio has zeros that inflate to a thousand times
// their size: no more of them is written than would do no harm.
func TestStreamingStopsAtAnAbsurdRatio(t *testing.T) {
	t.Parallel()
	content := archiveOf(t, item{name: widgetFile, content: strings.Repeat("\x00", 2*ratioFrom)})
	path := filepath.Join(t.TempDir(), "archive.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "package")
	_, onTheWay, err := unpackArriving(t, archive{Path: path, Size: int64(len(content))}, dir, Limits{})
	if err == nil || onTheWay {
		t.Errorf("on the way: %t, %v", onTheWay, err)
	}
	if info, err := os.Stat(filepath.Join(dir, widgetFile)); err != nil || info.Size() > ratioFrom+bufferBytes {
		t.Errorf("wrote %v, %v", info, err)
	}
}

// archiveByGo makes an archive as most publishers' programs do.
func archiveByGo(tb testing.TB, method uint16) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"LICENSE", widgetFile} {
		header := &zip.FileHeader{Name: name, Method: method}
		header.SetMode(0o755)
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(bytes.Repeat([]byte(name), 100))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func replaceFirst(tb testing.TB, content []byte, from, to string) []byte {
	tb.Helper()
	if !bytes.Contains(content, []byte(from)) {
		tb.Fatalf("no %q", from)
	}
	return bytes.Replace(content, []byte(from), []byte(to), 1)
}

// withHeader changes a field of two bytes in the header of the first entry.
func withHeader(content []byte, at int, value uint16) []byte {
	changed := bytes.Clone(content)
	binary.LittleEndian.PutUint16(changed[at:], value)
	return changed
}

func FuzzStream(f *testing.F) {
	for _, seed := range [][]byte{archiveByGo(f, zip.Deflate), archiveByGo(f, zip.Store), archiveOf(f, good), {}, deflatedSeed(f)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		limits := Limits{PackageBytes: 1 << 20, PackageFiles: 100}
		if int64(len(content)) > limits.PackageBytes {
			return
		}
		unpackBytes(t, content, limits) // compares both ways
	})
}

func deflatedSeed(tb testing.TB) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.HuffmanOnly)
	if err == nil {
		_, err = w.Write([]byte("seed"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return archiveOf(tb, item{name: widgetFile, raw: out.Bytes(), content: "seed", size: 4, method: zip.Deflate})
}
