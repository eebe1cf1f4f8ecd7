package providercache

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

var widget = getproviders.Provider{Hostname: getproviders.DefaultHost, Namespace: "acme", Type: "widget"}

const widgetFile = "terraform-provider-widget"

// item is an entry of an archive that a test makes. The zero fields make an
// ordinary file.
type item struct {
	name    string
	content string
	mode    fs.FileMode // 0: 0755
	method  uint16      // if raw is given
	raw     []byte      // the compressed data, as it is; nil: content, deflated
	size    uint64      // promised, if raw is given
	flags   uint16      // more flags
	comment string
}

func archiveOf(tb testing.TB, items ...item) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, it := range items {
		header := &zip.FileHeader{Name: it.name, Method: zip.Deflate, Flags: it.flags, Comment: it.comment}
		header.SetMode(cmpOr(it.mode, 0o755))
		if strings.HasSuffix(it.name, "/") && it.content == "" {
			header.Method = zip.Store
		}
		data, create := []byte(it.content), w.CreateHeader
		if it.raw != nil {
			data, create = it.raw, w.CreateRaw
			header.Method, header.UncompressedSize64, header.CompressedSize64 = it.method, it.size, uint64(len(data))
			header.CRC32 = crc32.ChecksumIEEE([]byte(it.content))
		}
		entry, err := create(header)
		if err == nil {
			_, err = entry.Write(data)
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

func cmpOr(mode, otherwise fs.FileMode) fs.FileMode {
	if mode == 0 {
		return otherwise
	}
	return mode
}

func deflated(tb testing.TB, content []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// unpackBytes unpacks an archive into a directory below a new one, so that a
// test sees whether anything lands beside it.
func unpackBytes(tb testing.TB, content []byte, limits Limits) (above string, result unpacked, err error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "archive.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	above = tb.TempDir()
	from := archive{Path: path, Size: int64(len(content))}
	result, err = unpackFile(tb.Context(), from, filepath.Join(above, "package"), limits)
	checkStreaming(tb, from, filepath.Join(above, "package"), limits, result, err)
	return above, result, err
}

// unpackFile unpacks an archive that is there as a whole.
func unpackFile(ctx context.Context, from archive, dir string, limits Limits) (unpacked, error) {
	whole, err := from.open(widget, limits.withDefaults())
	if err != nil {
		return unpacked{}, err
	}
	defer whole.file.Close()
	return whole.unpack(ctx, dir)
}

// wantRule checks an error of unpack, and that of hashing only, which goes by
// the same rules.
func wantRule(t *testing.T, content []byte, limits Limits, rule Rule, entry string) {
	t.Helper()
	above, _, err := unpackBytes(t, content, limits)
	broken, ok := errors.AsType[*UnpackError](err)
	if !ok || broken.Rule != rule || broken.Entry != entry {
		t.Fatalf("got %v (%T), want rule %d broken by entry %q", err, err, rule, entry)
	}
	if !errors.Is(err, rule) || errors.Is(err, rule+1) {
		t.Errorf("%v matches the wrong rules", err)
	}
	if entry != "" && !strings.Contains(err.Error(), fmt.Sprintf("%q", entry)) {
		t.Errorf("%q doesn't name the entry", err)
	}
	if beside, _ := os.ReadDir(above); len(beside) > 1 || len(beside) == 1 && beside[0].Name() != "package" {
		t.Errorf("something was written beside the package: %v", beside)
	}
	path := filepath.Join(t.TempDir(), "archive.zip")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, hashErr := unpackFile(t.Context(), archive{Path: path, Size: int64(len(content))}, "", limits)
	if hashErr == nil || hashErr.Error() != err.Error() {
		t.Errorf("hashing says %v, unpacking says %v", hashErr, err)
	}
}

var good = item{name: widgetFile, content: "the provider"}

// TestRule1 is about one whole archive.
func TestRule1(t *testing.T) {
	t.Parallel()
	whole := archiveOf(t, good)
	for name, content := range map[string][]byte{
		"nothing":                {},
		"a web page":             []byte("<!DOCTYPE html><title>Sign in</title>" + strings.Repeat(" ", 4096)),
		"cut before the end":     whole[:len(whole)-1],
		"cut in the directory":   whole[:len(whole)-endRecord-10],
		"half":                   whole[:len(whole)/2],
		"something after it":     append(bytes.Clone(whole), "trailing"...),
		"another end after it":   append(append(bytes.Clone(whole), whole[len(whole)-endRecord:]...), 0),
		"comment that is longer": patched(whole, len(whole)-2, 5),
		"directory that is gone": bytes.ReplaceAll(whole, []byte("PK\x01\x02"), []byte("PK\x00\x00")),
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, content, Limits{}, RuleArchive, "") })
	}
}

// patched returns content with other bytes at a position.
func patched(content []byte, at int, with ...byte) []byte {
	changed := bytes.Clone(content)
	copy(changed[at:], with)
	return changed
}

// TestRule2 is about the number of entries.
func TestRule2(t *testing.T) {
	t.Parallel()
	var many []item
	for i := range 12 {
		many = append(many, item{name: fmt.Sprintf("f%02d", i)})
	}
	huge := []item{{name: widgetFile, comment: strings.Repeat("x", 60_000)}}
	for i := range 4 {
		huge = append(huge, item{name: fmt.Sprint(i), comment: strings.Repeat("x", 60_000)})
	}
	limits := Limits{PackageFiles: 10}
	t.Run("none", func(t *testing.T) { wantRule(t, archiveOf(t), limits, RuleEntries, "") })
	t.Run("many", func(t *testing.T) { wantRule(t, archiveOf(t, many...), limits, RuleEntries, "f10") })
	t.Run("deep", func(t *testing.T) {
		wantRule(t, archiveOf(t, good, item{name: strings.Repeat("d/", 10)}), limits, RuleEntries, strings.Repeat("d/", 10))
	})
	t.Run("large directory", func(t *testing.T) { wantRule(t, archiveOf(t, huge...), limits, RuleEntries, "") })
	t.Run("as many as may be", func(t *testing.T) {
		if _, _, err := unpackBytes(t, archiveOf(t, append(many[:9], good)...), limits); err != nil {
			t.Error(err)
		}
	})
}

// TestRule3 is about names being text.
func TestRule3(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a\nb", "a\x00b", "a\rb", "\x7f", "a\u0085b", "caf\xe9", strings.Repeat("x", maxName+1)} {
		t.Run(fmt.Sprintf("%.10q", name), func(t *testing.T) {
			wantRule(t, archiveOf(t, good, item{name: name}), Limits{}, RuleNameText, name)
		})
	}
}

// TestRule4 is about names that lead out of the directory.
func TestRule4(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"../evil", "a/../../evil", "a/..", "..", "../", "/etc/passwd", "//server/share", `a\b`, `..\evil`, `\\server\share`,
		"C:/evil", "c:evil", ".",
	} {
		t.Run(name, func(t *testing.T) {
			wantRule(t, archiveOf(t, good, item{name: name}), Limits{}, RuleNamePath, name)
		})
	}
}

// TestRule5 is about what entries are.
func TestRule5(t *testing.T) {
	t.Parallel()
	for name, it := range map[string]item{
		"symlink":          {mode: fs.ModeSymlink | 0o777, content: "/etc/passwd"},
		"symlink inside":   {mode: fs.ModeSymlink | 0o777, content: widgetFile},
		"device":           {mode: fs.ModeDevice | 0o666},
		"character device": {mode: fs.ModeDevice | fs.ModeCharDevice | 0o666},
		"pipe":             {mode: fs.ModeNamedPipe | 0o666},
		"socket":           {mode: fs.ModeSocket | 0o666},
	} {
		t.Run(name, func(t *testing.T) {
			it.name = name
			wantRule(t, archiveOf(t, good, it), Limits{}, RuleKind, name)
		})
	}
	t.Run("directory with content", func(t *testing.T) {
		content := archiveOf(t, good, item{name: "d/"})
		wantRule(t, directoryField(content, 1, fieldSize, 7), Limits{}, RuleKind, "d/")
	})
}

// TestRule6 is about names that are there twice.
func TestRule6(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"a", "a"}, {"a", "./a"}, {"a/", "a/"}, {"d/a", "d//a"}, {"README", "readme"}, {"d/a", "D/b"}, {"straße/a", "STRAẞE/b"},
		{"./", "./"}, {"./", ".//"},
		{"k", "\u212a"}, {"σ", "ς"},
	} {
		t.Run(pair[0]+" "+pair[1], func(t *testing.T) {
			wantRule(t, archiveOf(t, good, item{name: pair[0]}, item{name: pair[1]}), Limits{}, RuleUnique, pair[1])
		})
	}
}

// TestRule7 is about files where directories are needed.
func TestRule7(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"a", "a/b"}, {"a/b", "a"}, {"a", "a/"}, {"a/", "a"}, {"a/b", "a/b/c/d"}} {
		t.Run(pair[0]+" "+pair[1], func(t *testing.T) {
			wantRule(t, archiveOf(t, good, item{name: pair[0]}, item{name: pair[1]}), Limits{}, RuleTree, pair[1])
		})
	}
}

// TestRule8 is about encryption and methods.
func TestRule8(t *testing.T) {
	t.Parallel()
	raw := []byte("data")
	for name, it := range map[string]item{
		"password":       {raw: raw, flags: 1 << 0},
		"strong":         {raw: raw, flags: 1 << 6},
		"masked":         {raw: raw, flags: 1 << 13},
		"bzip2":          {raw: raw, method: 12},
		"zstd":           {raw: raw, method: 93},
		"shrunk (1989)":  {raw: raw, method: 1},
		"deflate64":      {raw: raw, method: 9},
		"AES (method 99": {raw: raw, method: 99},
	} {
		t.Run(name, func(t *testing.T) {
			it.name, it.size = name, 4
			wantRule(t, archiveOf(t, good, it), Limits{}, RuleMethod, name)
		})
	}
}

// directoryField changes a field of an entry's record in the directory, which
// begins with the signature PK\1\2.
func directoryField(content []byte, entry, offset int, value uint32) []byte {
	at := 0
	for range entry + 1 {
		at += bytes.Index(content[at:], []byte("PK\x01\x02")) + 1
	}
	return patched(content, at-1+offset, binary.LittleEndian.AppendUint32(nil, value)...)
}

const (
	fieldCRC        = 16
	fieldCompressed = 20
	fieldSize       = 24
	fieldOffset     = 42
)

// TestRule9 is about where entries' data is.
func TestRule9(t *testing.T) {
	t.Parallel()
	two := archiveOf(t, good, item{name: "second", content: "something else"})
	t.Run("two entries share their data", func(t *testing.T) {
		wantRule(t, directoryField(two, 1, fieldOffset, 0), Limits{}, RuleData, "second")
	})
	t.Run("one reaches into the next", func(t *testing.T) {
		wantRule(t, directoryField(two, 0, fieldCompressed, 60), Limits{}, RuleData, "second")
	})
	t.Run("one goes beyond the end", func(t *testing.T) {
		wantRule(t, directoryField(two, 1, fieldCompressed, 1<<20), Limits{}, RuleData, "second")
	})
	t.Run("no header of its own", func(t *testing.T) {
		wantRule(t, directoryField(two, 1, fieldOffset, 3), Limits{}, RuleData, "second")
	})
}

// TestRule10 is about sizes. None of the archives may cost time or disk: each
// is refused before it is inflated, which the missing directory shows.
func TestRule10(t *testing.T) {
	t.Parallel()
	zeros := deflated(t, make([]byte, 1<<20))
	bomb := func(size uint64) item { return item{name: widgetFile, method: zip.Deflate, raw: zeros, size: size} }
	for name, c := range map[string]struct {
		content []byte
		limits  Limits
		entry   string
	}{
		"a terabyte":           {archiveOf(t, bomb(1<<40)), Limits{}, widgetFile},
		"all there can be":     {archiveOf(t, bomb(1<<64-2)), Limits{}, widgetFile},
		"two that overflow":    {archiveOf(t, item{name: "a", method: zip.Deflate, raw: zeros, size: 1 << 63}, bomb(1<<63)), Limits{}, "a"},
		"more than the limit":  {archiveOf(t, good, item{name: "more", content: "12345"}), Limits{PackageBytes: 16}, "more"},
		"a ratio beyond sense": {archiveOf(t, bomb(1<<30)), Limits{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			wantRule(t, c.content, c.limits, RuleSize, c.entry)
			above, _, _ := unpackBytes(t, c.content, c.limits)
			if made, _ := os.ReadDir(above); len(made) > 0 {
				t.Errorf("%v was made", made)
			}
		})
	}
	t.Run("small packages may compress well", func(t *testing.T) {
		if _, _, err := unpackBytes(t, archiveOf(t, item{name: widgetFile, content: strings.Repeat("\x00", 4<<20)}), Limits{}); err != nil {
			t.Error(err)
		}
	})
}

// TestRule11 is about promises that aren't kept.
func TestRule11(t *testing.T) {
	t.Parallel()
	one := archiveOf(t, item{name: widgetFile, content: strings.Repeat("the provider", 1000)})
	for name, content := range map[string][]byte{
		"smaller than promised": directoryField(one, 0, fieldSize, 12_001),
		"larger than promised":  directoryField(one, 0, fieldSize, 11_999),
		"nothing was promised":  directoryField(one, 0, fieldSize, 0),
		"wrong checksum":        directoryField(one, 0, fieldCRC, 1),
		"damaged data":          patched(one, 30+len(widgetFile)+2, 0xff, 0xff, 0xff, 0xff),
		"not deflated at all":   archiveOf(t, item{name: widgetFile, method: zip.Deflate, raw: []byte("\xff\xff\xff"), size: 3}),
		"a terabyte in secret":  archiveOf(t, item{name: widgetFile, method: zip.Deflate, raw: deflated(t, make([]byte, 32<<20)), size: 10}),
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, content, Limits{}, RuleContent, widgetFile) })
	}
	t.Run("what is written ends soon", func(t *testing.T) {
		content := archiveOf(t, item{name: widgetFile, method: zip.Deflate, raw: deflated(t, make([]byte, 32<<20)), size: 10})
		above, _, _ := unpackBytes(t, content, Limits{})
		info, err := os.Stat(filepath.Join(above, "package", widgetFile))
		if err != nil || info.Size() > 11 {
			t.Errorf("%v, %v; want a file of 11 bytes at most", info, err)
		}
	})
}

// TestRule12 is about the executable.
func TestRule12(t *testing.T) {
	t.Parallel()
	for name, items := range map[string][]item{
		"another provider's": {{name: "terraform-provider-other"}},
		"another name":       {{name: "terraform-provider-widgets"}},
		"not at the top":     {{name: "bin/" + widgetFile}},
		"a directory":        {{name: widgetFile + "/"}},
		"source code":        {{name: "widget-1.0.0/main.go"}, {name: "widget-1.0.0/go.mod"}},
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, archiveOf(t, items...), Limits{}, RuleExecutable, "") })
	}
	for _, name := range []string{widgetFile, widgetFile + "_v1.0.0_x5", widgetFile + "_v1.0.0.exe", widgetFile + ".exe"} {
		if _, _, err := unpackBytes(t, archiveOf(t, item{name: name}), Limits{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnpackKeepsModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes on Windows")
	}
	modes := map[string]fs.FileMode{
		widgetFile: 0o755, "private": 0o600, "readonly": 0o444, "open": 0o777, "dir/inside": 0o640, "root's": fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o755,
	}
	var items []item
	for name, mode := range modes {
		items = append(items, item{name: name, mode: mode, content: name})
	}
	above, _, err := unpackBytes(t, archiveOf(t, items...), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range modes {
		info, err := os.Stat(filepath.Join(above, "package", name))
		if err != nil || info.Mode() != mode.Perm() {
			t.Errorf("%s: %v, %v; want %v", name, info, err, mode.Perm())
		}
	}
}

func TestUnpackEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.zip")
	if err := os.WriteFile(path, archiveOf(t, good), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextWithCause(t)
	cancel(errStopped)
	_, err := unpackFile(ctx, archive{Path: path, Size: fileSize(t, path)}, "", Limits{})
	if !errors.Is(err, errStopped) {
		t.Errorf("got %v, want the context's cause", err)
	}
}

func TestUnpackTellsADiskThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.zip")
	if err := os.WriteFile(path, archiveOf(t, good), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := unpackFile(t.Context(), archive{Path: path, Size: fileSize(t, path)}, filepath.Join(t.TempDir(), "missing", "package"), Limits{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is no place for the directory", err)
	}
}
