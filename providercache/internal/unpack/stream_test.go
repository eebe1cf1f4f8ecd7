package unpack

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fastzip "github.com/klauspost/compress/zip"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
)

// checkStreaming unpacks an archive while it arrives, in pieces of a few bytes, and checks that
// the result is that of unpacking it afterwards: the same error, or the same hashes and files.
func checkStreaming(tb testing.TB, content []byte, want string, limits Limits, wantResult Content, wantErr error) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "package")
	result, _, err := unpackArriving(tb, content, dir, limits)
	must.Equal(tb, fmt.Sprint(err), fmt.Sprint(wantErr))
	if err == nil && wantErr == nil {
		must.Equal(tb, result, wantResult)
		sameTree(tb, dir, want)
	}
}

// unpackArriving also reports whether the result came from the stream.
// the archive arrived.
func unpackArriving(tb testing.TB, content []byte, dir string, limits Limits) (result Content, onTheWay bool, err error) {
	tb.Helper()
	limits = withDefaults(limits)
	file, size := bytes.NewReader(content), int64(len(content))
	var mark par.Mark
	gate := par.NewLimit(1)
	step := max(1, size/100)
	var onArrival Streamed
	err = par.Together(tb.Context(),
		func(context.Context) error {
			for at := int64(0); at < size; at += step {
				mark.Advance(min(step, size-at))
			}
			mark.End(nil)
			return nil
		},
		func(ctx context.Context) error {
			behind := &TailReader{ctx: ctx, file: file, mark: &mark, slot: &Slot{gate: gate}}
			onArrival = Stream(behind, dir, limits)
			return nil
		},
	)
	must.Succeed(tb, err)
	if release, err := gate.Acquire(tb.Context(), 0); err != nil {
		tb.Error(err)
	} else {
		release() // the slot is free again
	}
	whole, err := Open(file, size, cachetest.Widget, limits)
	if err != nil {
		return Content{}, false, err
	}
	if result, onTheWay, err = whole.Finish(onArrival, dir); !onTheWay {
		result, err = whole.Unpack(tb.Context(), dir)
	}
	return result, onTheWay, err
}

// arrived reads content that has arrived already; all says that nothing follows.
func arrived(ctx context.Context, content []byte, all bool) *TailReader {
	mark := new(par.Mark)
	mark.Advance(int64(len(content)))
	if all {
		mark.End(nil)
	}
	return &TailReader{ctx: ctx, file: bytes.NewReader(content), mark: mark, slot: &Slot{gate: par.NewLimit(1)}}
}

func arriving(tb testing.TB, content []byte) (onTheWay bool, err error) {
	tb.Helper()
	_, onTheWay, err = unpackArriving(tb, content, filepath.Join(tb.TempDir(), "package"), Limits{})
	return onTheWay, err
}

// TestStream_UnpacksOnTheWay is about archives as publishers' programs make them: with data descriptors or without, files stored or
// deflated. Valid ones that can be read in more than one way, or not from their beginning, are unpacked afterwards.
func TestStream_UnpacksOnTheWay(t *testing.T) {
	t.Parallel()
	ordinary := archiveByGo(t, zip.Deflate)
	for want, archives := range map[bool]map[string][]byte{true: {
		"with descriptors":       ordinary,
		"sizes known, deflated":  deflatedSeed(t),
		"sizes known, stored":    archiveOf(t, item{Name: widgetFile, Raw: []byte("known"), Content: "known", Size: 5}),
		"directories":            archiveOf(t, item{Name: "docs/"}, item{Name: "docs/a", Content: "a"}, good),
		"a comment and an extra": archiveOf(t, item{Name: "a", Comment: "about a"}, good),
	}, false: {
		"stored, with a descriptor":  archiveByGo(t, zip.Store),
		"another flag in the header": withHeader(ordinary, 6, binary.LittleEndian.Uint16(ordinary[6:])|1<<4),
	}} {
		for name, content := range archives {
			if onTheWay, err := arriving(t, content); err != nil || onTheWay != want {
				t.Errorf("%s: on the way: %t, %v", name, onTheWay, err)
			}
		}
	}
}

// failing is a disk with write errors.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error)         { return 0, f.err }
func (f failing) ReadAt([]byte, int64) (int, error) { return 1, f.err }

// TestStream_ReportsADiskThatFails: what is written last has been counted, and is in the checksum, before it
// turns out that the disk has no room for it.
func TestStream_ReportsADiskThatFails(t *testing.T) {
	t.Parallel()
	disk := failing{errors.New("no room")}
	stored := []byte("content")
	for method, data := range map[uint16][]byte{zip.Store: stored, zip.Deflate: append([]byte{1, 7, 0, 0xf8, 0xff}, stored...)} {
		s := newStreamer(nil, DefaultLimits())
		s.in = bufio.NewReader(bytes.NewReader(data))
		header := fastzip.FileHeader{Method: method, CompressedSize64: uint64(len(stored))}
		must.Equal(t, s.inflate(&guard{s, t.Context(), disk, 0}, header), disk.err, method)
	}
}

func TestHashFile_ReportsADiskThatFails(t *testing.T) {
	t.Parallel()
	disk := failing{errors.New("broken")}
	must.Contain(t, must.ErrorOf(readEntries(disk, 100, cachetest.Widget, DefaultLimits())), "broken")
}

func TestTailReader_ReadsWhatIsThereBeforeItsEnd(t *testing.T) {
	t.Parallel()
	must.Equal(t, string(must.Get(io.ReadAll(arrived(t.Context(), []byte("hello"), true)))(t)), "hello")
}

func TestTailReader_EndsWithItsContextWhateverIsThere(t *testing.T) {
	t.Parallel()
	ctx, cancel := cachetest.ContextWithCause(t)
	behind := arrived(ctx, []byte("hello"), false)
	must.Equal(t, must.Get(behind.Read(make([]byte, 2)))(t), 2)
	cancel(cachetest.ErrStopped)
	n, err := behind.Read(make([]byte, 2))
	must.Equal(t, n, 0)
	must.Equal(t, err, cachetest.ErrStopped)
}

// TestStream_StreamingCountsTheRootToo has endlessly many entries that make no file and no
// directory: each of them takes memory.
func TestStream_StreamingCountsTheRootToo(t *testing.T) {
	t.Parallel()
	content := archiveOf(t, item{Name: "./"}, item{Name: "./"}, good)
	must.Equal(t, Stream(arrived(t.Context(), content, true), "", DefaultLimits()) == nil, true)
}

func TestStream_StreamingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Equal(t, Stream(arrived(ctx, nil, false), "", DefaultLimits()) == nil, true)
}

// deflatedZeros is what MiBs of zeros are compressed to. Each after the first looks the same.
func deflatedZeros(t *testing.T, mebibytes int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(flate.NewWriter(&out, flate.BestCompression))(t)
	var ends [3]int
	for i := range ends {
		must.Get(w.Write(make([]byte, 1<<20)))(t)
		must.Succeed(t, w.Flush())
		ends[i] = out.Len()
	}
	first, second, third := out.Bytes()[:ends[0]], out.Bytes()[ends[0]:ends[1]], out.Bytes()[ends[1]:ends[2]]
	must.EqualSlices(t, second, third, "the second MiB isn't compressed as the third")
	return slices.Concat(first, bytes.Repeat(second, mebibytes-1), []byte{1, 0, 0, 0xff, 0xff}) // an empty block ends it
}

// TestStream_StreamingKeepsTheLimits unpacks archives that turn out to be too large only while they are unpacked; one has zeros that inflate
// to a thousand times their size. Only as much is written as does no harm.
func TestStream_StreamingKeepsTheLimits(t *testing.T) {
	t.Parallel()
	for most, it := range map[int64]item{
		1<<16 + 1:               {Content: strings.Repeat("0", 1<<20)},
		ratioFrom + chunks.Size: {Method: zip.Deflate, Raw: deflatedZeros(t, 2*ratioFrom>>20), Size: 2 * ratioFrom},
	} {
		it.Name = widgetFile
		var limits Limits
		if it.Raw == nil {
			limits.Bytes = most - 1
		}
		dir := filepath.Join(t.TempDir(), "package")
		_, onTheWay, err := unpackArriving(t, archiveOf(t, it), dir, limits)
		if err == nil || onTheWay {
			t.Errorf("on the way: %t, %v", onTheWay, err)
		}
		if info, err := os.Stat(filepath.Join(dir, widgetFile)); err != nil || info.Size() > most {
			t.Errorf("wrote %v, %v", info, err)
		}
	}
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

// FuzzStream: an archive that the stream accepts is accepted by its directory,
// with the same content, and the standard library finds that content, too.
func FuzzStream(f *testing.F) {
	for _, seed := range [][]byte{archiveByGo(f, zip.Deflate), archiveByGo(f, zip.Store), archiveOf(f, good), {}, deflatedSeed(f)} {
		f.Add(seed)
	}
	limits, slots := Limits{Bytes: 1 << 20, Files: 100}, par.NewLimit(1)
	f.Fuzz(func(t *testing.T, content []byte) {
		if int64(len(content)) > limits.Bytes {
			return
		}
		complete, err := unpackFile(t.Context(), content, "", limits)
		if stream, broken := HashStream(t.Context(), bytes.NewReader(content), slots, 1, limits); broken == nil {
			arrived, differs := stream.Content(cachetest.Widget, limits)
			if differs == nil && (err != nil || arrived != complete) {
				t.Errorf("on the way %v, by the directory %v, %v", arrived, complete, err)
			}
		}
		if err == nil {
			must.Equal(t, must.Get(hashByGo(content))(t), complete.H1Archive)
		}
	})
}

// hashByGo is the h1 of an archive by the standard library.
func hashByGo(content []byte) (getproviders.Hash, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", err
	}
	var names []string
	files := map[string]*zip.File{}
	for _, file := range archive.File {
		names = append(names, file.Name)
		files[file.Name] = file
	}
	h1, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
	return getproviders.Hash(h1), err
}

// Archives in which programs that read from the beginning see another package than programs that
// read the directory, or that some programs refuse.
func TestUnpack_RefusesWhatReadersDisagreeAbout(t *testing.T) {
	t.Parallel()
	ordinary := archiveByGo(t, zip.Deflate)
	stored := archiveOf(t, item{Name: widgetFile, Raw: []byte("as it is"), Content: "as it is", Size: 8})
	hidden := archiveOf(t, item{Name: "hidden", Content: "only in the beginning"})
	rest := uint32(bytes.Index(stored, []byte("PK\x05\x06")) - localHeader - len(widgetFile))
	for name, test := range map[string]struct {
		content []byte
		rule    Rule
	}{
		"something before the first entry": {append([]byte("#!/bin/sh\n"), ordinary...), RuleArchive},
		"two archives":                     {slices.Concat(ordinary, stored), RuleArchive},
		"an archive twice":                 {slices.Concat(ordinary, ordinary), RuleArchive},
		"two archives with one directory":  {slices.Concat(hidden[:bytes.Index(hidden, []byte("PK\x01\x02"))], ordinary), RuleArchive},
		"another name in the header":       {replaceFirst(t, ordinary, widgetFile, strings.ToUpper(widgetFile)), RuleData},
		"another method in the header":     {withHeader(ordinary, 8, 0), RuleData},
		"no descriptor by the header":      {withHeader(ordinary, 6, binary.LittleEndian.Uint16(ordinary[6:])&^flagDescriptor), RuleData},
		"a descriptor by the header":       {withHeader(stored, 6, binary.LittleEndian.Uint16(stored[6:])|flagDescriptor), RuleData},
		"no checksum":                      {directoryField(withHeader(withHeader(stored, 14, 0), 16, 0), 0, fieldCRC, 0), RuleContent},
		"data over the directory":          {directoryField(directoryField(stored, 0, fieldCompressed, rest), 0, fieldSize, rest), RuleData},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must.Fail(t, must.ErrorOf(unpackFile(t.Context(), test.content, "", Limits{})), test.rule)
			if onTheWay, err := arriving(t, test.content); err == nil || onTheWay {
				t.Errorf("on the way: %t, %v", onTheWay, err)
			}
		})
	}
}

func deflatedSeed(tb testing.TB) []byte {
	tb.Helper()
	return archiveOf(tb, item{Name: widgetFile, Raw: cachetest.Deflated(tb, []byte("seed")), Content: "seed", Size: 4, Method: zip.Deflate})
}

// Entries that the directory doesn't list would be unpacked, but no other program would see them.
func TestStreamed_DisagreesWithADirectoryThatListsLess(t *testing.T) {
	t.Parallel()
	must.Equal(t, (Streamed{30: {}}).agrees(nil) || (Streamed)(nil).agrees(nil), false, "an entry that isn't listed is accepted")
	must.Equal(t, (Streamed{}).agrees(nil), true, "an archive without entries is not what it lists")
}

// A file that is unpacked while the archive arrives gets its mode from the archive's directory,
// without bits that set users.
func TestStream_DropsSetuidBits(t *testing.T) {
	t.Parallel()
	content := archiveOf(t, item{Name: widgetFile, Content: "as root", Mode: os.ModeSetuid | os.ModeSetgid | os.ModeSticky | 0o755})
	dir := filepath.Join(t.TempDir(), "package")
	_, onTheWay, err := unpackArriving(t, content, dir, Limits{})
	if err != nil || !onTheWay {
		t.Fatalf("on the way: %t, %v", onTheWay, err)
	}
	if info, err := os.Stat(filepath.Join(dir, widgetFile)); err != nil || info.Mode() != 0o755 && os.PathSeparator == '/' {
		t.Errorf("got %v, %v", info, err)
	}
}
