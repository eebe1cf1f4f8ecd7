package unpack

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// What the tests of archives share, under short names.
type item = cachetest.Item

const widgetFile = cachetest.WidgetFile

var (
	archiveByGo = cachetest.ArchiveByGo
	archiveOf   = cachetest.ArchiveOf
	good        = cachetest.Good
)

// unpackBytes unpacks an archive into a directory below a new one, so that a test sees what is
// written beside it.
func unpackBytes(tb testing.TB, content []byte, limits Limits) (above string, result Content, err error) {
	tb.Helper()
	above = tb.TempDir()
	result, err = unpackFile(tb.Context(), content, filepath.Join(above, "package"), limits)
	checkStreaming(tb, content, filepath.Join(above, "package"), limits, result, err)
	return above, result, err
}

// withDefaults fills in what a test doesn't set.
func withDefaults(l Limits) Limits {
	usual := DefaultLimits()
	return Limits{cmp.Or(l.Bytes, usual.Bytes), cmp.Or(l.Files, usual.Files)}
}

// unpackFile unpacks an archive that is complete.
func unpackFile(ctx context.Context, content []byte, dir string, limits Limits) (Content, error) {
	whole, err := Open(bytes.NewReader(content), int64(len(content)), cachetest.Widget, withDefaults(limits))
	if err != nil {
		return Content{}, err
	}
	return whole.Unpack(ctx, dir)
}

// wantRule checks the error of unpacking, and that of only hashing, which follows the same rules.
func wantRule(t *testing.T, content []byte, limits Limits, rule Rule, entry string) {
	t.Helper()
	above, _, err := unpackBytes(t, content, limits)
	must.Equal(t, getproviders.CodeOf(err), "invalid_package", err)
	if entry != "" {
		must.Contain(t, err, fmt.Sprintf("invalid package archive: entry %q ", entry))
	} else {
		must.NotContain(t, err, "entry \"")
	}
	if !errors.Is(err, rule) || errors.Is(err, rule+1) {
		t.Errorf("%v matches the wrong rules", err)
	}
	if beside, _ := os.ReadDir(above); len(beside) > 1 || len(beside) == 1 && beside[0].Name() != "package" {
		t.Errorf("something was written beside the package: %v", beside)
	}
	_, hashErr := unpackFile(t.Context(), content, "", limits)
	if hashErr == nil || hashErr.Error() != err.Error() {
		t.Errorf("hashing says %v, unpacking says %v", hashErr, err)
	}
}

// TestUnpack_Rule1 is about one whole archive.
func TestUnpack_Rule1(t *testing.T) {
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

// TestUnpack_Rule2 is about the number of entries.
func TestUnpack_Rule2(t *testing.T) {
	t.Parallel()
	var many []item
	for i := range 12 {
		many = append(many, item{Name: fmt.Sprintf("f%02d", i)})
	}
	huge := []item{{Name: widgetFile, Comment: strings.Repeat("x", 60_000)}}
	for i := range 4 {
		huge = append(huge, item{Name: fmt.Sprint(i), Comment: strings.Repeat("x", 60_000)})
	}
	limits := Limits{Files: 10}
	deep := strings.Repeat("d/", 10)
	for entry, items := range map[string][]item{"f10": many, deep: {good, {Name: deep}}} {
		t.Run(entry, func(t *testing.T) { wantRule(t, archiveOf(t, items...), limits, RuleEntries, entry) })
	}
	for name, items := range map[string][]item{"none": nil, "large directory": huge} {
		t.Run(name, func(t *testing.T) { wantRule(t, archiveOf(t, items...), limits, RuleEntries, "") })
	}
	must.Equal(t, must.ErrorOf(unpackBytes(t, archiveOf(t, append(many[:9], good)...), limits)), nil, "as many as may be")
}

// TestUnpack_Rules3And4 are about names being text, and about names that lead out of the directory.
func TestUnpack_Rules3And4(t *testing.T) {
	t.Parallel()
	for rule, names := range map[Rule][]string{
		RuleNameText: {"a\nb", "a\x00b", "a\rb", "\x7f", "a\u0085b", "caf\xe9", strings.Repeat("x", maxName+1)},
		RuleNamePath: {
			"../evil", "a/../../evil", "a/..", "..", "../", "/etc/passwd", "//server/share", `a\b`, `..\evil`, `\\server\share`,
			"C:/evil", "c:evil", ".",
		},
	} {
		for _, name := range names {
			t.Run(fmt.Sprintf("%.15q", name), func(t *testing.T) {
				wantRule(t, archiveOf(t, good, item{Name: name}), Limits{}, rule, name)
			})
		}
	}
}

// TestUnpack_Rule5 is about what entries are.
func TestUnpack_Rule5(t *testing.T) {
	t.Parallel()
	for name, it := range map[string]item{
		"symlink":          {Mode: fs.ModeSymlink | 0o777, Content: "/etc/passwd"},
		"symlink inside":   {Mode: fs.ModeSymlink | 0o777, Content: widgetFile},
		"device":           {Mode: fs.ModeDevice | 0o666},
		"character device": {Mode: fs.ModeDevice | fs.ModeCharDevice | 0o666},
		"pipe":             {Mode: fs.ModeNamedPipe | 0o666},
		"socket":           {Mode: fs.ModeSocket | 0o666},
	} {
		t.Run(name, func(t *testing.T) {
			it.Name = name
			wantRule(t, archiveOf(t, good, it), Limits{}, RuleKind, name)
		})
	}
	t.Run("directory with content", func(t *testing.T) {
		content := archiveOf(t, good, item{Name: "d/"})
		wantRule(t, directoryField(content, 1, fieldSize, 7), Limits{}, RuleKind, "d/")
	})
}

// TestUnpack_Rules6And7 are about names that are there twice, and about files where directories are needed.
func TestUnpack_Rules6And7(t *testing.T) {
	t.Parallel()
	for rule, pairs := range map[Rule]string{
		RuleUnique: "a,a a,./a a/,a/ d/a,d//a README,readme d/a,D/b straße/a,STRAẞE/b ./,./ ./,.// k,\u212a σ,ς",
		RuleTree:   "a,a/b a/b,a a,a/ a/,a a/b,a/b/c/d",
	} {
		for pair := range strings.FieldsSeq(pairs) {
			t.Run(pair, func(t *testing.T) {
				first, second, _ := strings.Cut(pair, ",")
				wantRule(t, archiveOf(t, good, item{Name: first}, item{Name: second}), Limits{}, rule, second)
			})
		}
	}
}

// TestUnpack_Rule8 is about encryption and methods.
func TestUnpack_Rule8(t *testing.T) {
	t.Parallel()
	raw := []byte("data")
	for name, it := range map[string]item{
		"password":       {Raw: raw, Flags: 1 << 0},
		"strong":         {Raw: raw, Flags: 1 << 6},
		"masked":         {Raw: raw, Flags: 1 << 13},
		"bzip2":          {Raw: raw, Method: 12},
		"zstd":           {Raw: raw, Method: 93},
		"shrunk (1989)":  {Raw: raw, Method: 1},
		"deflate64":      {Raw: raw, Method: 9},
		"AES (method 99": {Raw: raw, Method: 99},
	} {
		t.Run(name, func(t *testing.T) {
			it.Name, it.Size = name, 4
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

// TestUnpack_Rule9 is about where entries' data is.
func TestUnpack_Rule9(t *testing.T) {
	t.Parallel()
	two := archiveOf(t, good, item{Name: "second", Content: "something else"})
	for name, content := range map[string][]byte{
		"two entries share their data": directoryField(two, 1, fieldOffset, 0),
		"one reaches into the next":    directoryField(two, 0, fieldCompressed, 60),
		"one goes beyond the end":      directoryField(two, 1, fieldCompressed, 1<<20),
		"no header of its own":         directoryField(two, 1, fieldOffset, 3),
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, content, Limits{}, RuleData, "second") })
	}
}

// TestUnpack_Rule10 is about sizes. None of the archives may cost time or disk: each is refused
// before it is inflated, so that no directory is made.
func TestUnpack_Rule10(t *testing.T) {
	t.Parallel()
	zeros := cachetest.Deflated(t, make([]byte, 1<<20))
	bomb := func(size uint64) item {
		return item{Name: widgetFile, Method: zip.Deflate, Raw: zeros, Size: size}
	}
	for name, c := range map[string]struct {
		content []byte
		limits  Limits
		entry   string
	}{
		"a terabyte":           {archiveOf(t, bomb(1<<40)), Limits{}, widgetFile},
		"all there can be":     {archiveOf(t, bomb(1<<64-2)), Limits{}, widgetFile},
		"two that overflow":    {archiveOf(t, item{Name: "a", Method: zip.Deflate, Raw: zeros, Size: 1 << 63}, bomb(1<<63)), Limits{}, "a"},
		"more than the limit":  {archiveOf(t, good, item{Name: "more", Content: "12345"}), Limits{Bytes: 16}, "more"},
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
		must.Equal(t, must.ErrorOf(unpackBytes(t, archiveOf(t, item{Name: widgetFile, Content: strings.Repeat("\x00", 4<<20)}), Limits{})), nil)
	})
}

// TestUnpack_Rule11 is about content that isn't what the headers say.
func TestUnpack_Rule11(t *testing.T) {
	t.Parallel()
	one := archiveOf(t, item{Name: widgetFile, Content: strings.Repeat("the provider", 1000)})
	secret := item{Name: widgetFile, Method: zip.Deflate, Raw: deflatedZeros(t, 32), Size: 10}
	for name, content := range map[string][]byte{
		"smaller than promised": directoryField(one, 0, fieldSize, 12_001),
		"larger than promised":  directoryField(one, 0, fieldSize, 11_999),
		"nothing was promised":  directoryField(one, 0, fieldSize, 0),
		"wrong checksum":        directoryField(one, 0, fieldCRC, 1),
		"damaged data":          patched(one, 30+len(widgetFile)+2, 0xff, 0xff, 0xff, 0xff),
		"not deflated at all":   archiveOf(t, item{Name: widgetFile, Method: zip.Deflate, Raw: []byte("\xff\xff\xff"), Size: 3}),
		"a terabyte in secret":  archiveOf(t, secret),
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, content, Limits{}, RuleContent, widgetFile) })
	}
	t.Run("what is written ends soon", func(t *testing.T) {
		above, _, _ := unpackBytes(t, archiveOf(t, secret), Limits{})
		info, err := os.Stat(filepath.Join(above, "package", widgetFile))
		if err != nil || info.Size() > 11 {
			t.Errorf("%v, %v; want a file of 11 bytes at most", info, err)
		}
	})
}

// TestUnpack_Rule12 is about the executable.
func TestUnpack_Rule12(t *testing.T) {
	t.Parallel()
	for name, items := range map[string][]item{
		"another provider's": {{Name: "terraform-provider-other"}},
		"another name":       {{Name: "terraform-provider-widgets"}},
		"not at the top":     {{Name: "bin/" + widgetFile}},
		"a directory":        {{Name: widgetFile + "/"}},
		"source code":        {{Name: "widget-1.0.0/main.go"}, {Name: "widget-1.0.0/go.mod"}},
	} {
		t.Run(name, func(t *testing.T) { wantRule(t, archiveOf(t, items...), Limits{}, RuleExecutable, "") })
	}
	for _, name := range []string{widgetFile, widgetFile + "_v1.0.0_x5", widgetFile + "_v1.0.0.exe", widgetFile + ".exe"} {
		must.Equal(t, must.ErrorOf(unpackBytes(t, archiveOf(t, item{Name: name}), Limits{})), nil, name)
	}
}

func TestUnpack_KeepsModes(t *testing.T) {
	t.Parallel()
	modes := map[string]fs.FileMode{
		widgetFile: 0o755, "private": 0o600, "readonly": 0o444, "open": 0o777, "dir/inside": 0o640, "root's": fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o755,
	}
	var items []item
	for name, mode := range modes {
		items = append(items, item{Name: name, Mode: mode, Content: name})
	}
	above, _, err := unpackBytes(t, archiveOf(t, items...), Limits{})
	must.Succeed(t, err)
	for name, mode := range modes {
		want := mode.Perm()
		if runtime.GOOS == "windows" { // where a file may be read-only, and has no other mode
			want = 0o444 | mode&0o200 | mode&0o200>>3 | mode&0o200>>6
		}
		must.Equal(t, must.Get(os.Stat(filepath.Join(above, "package", name)))(t).Mode(), want, name)
	}
}

func TestUnpack_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Fail(t, must.ErrorOf(unpackFile(ctx, archiveOf(t, good), "", Limits{})), cachetest.ErrStopped)
}

func TestUnpack_ReportsADiskThatFails(t *testing.T) {
	t.Parallel()
	content := archiveOf(t, good)
	must.Fail(t, must.ErrorOf(unpackFile(t.Context(), content, filepath.Join(t.TempDir(), "missing", "package"), Limits{})), fs.ErrNotExist)
	whole := must.Get(Open(bytes.NewReader(content), int64(len(content)), cachetest.Widget, DefaultLimits()))(t)
	must.Fail(t, must.ErrorOf(whole.Finish(Stream(arrived(t.Context(), content, true), "", DefaultLimits()), t.TempDir())), fs.ErrNotExist)
}
