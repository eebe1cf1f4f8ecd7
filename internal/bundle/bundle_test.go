package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// anywhere makes every file a unit of its own, except for those in "tree".
func anywhere(name string) (string, bool) {
	if strings.HasPrefix(name, "tree/") {
		return "tree", true
	}
	return name, !strings.HasPrefix(name, "elsewhere/")
}

func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		must.Write(t, filepath.Join(dir, name), content)
	}
}

// content returns the files of a directory with their contents, and whether they are executable.
func content(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := peertest.Tree(t, dir)
	for name, text := range all {
		all[name] = strings.TrimPrefix(text, "x ")
	}
	return all
}

func equal(t *testing.T, got, want map[string]string) {
	t.Helper()
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(want))
}

var example = map[string]string{"a": "first", "tree/x": "in a tree", "tree/deep/y": "", "z/b": "last"}

func exampleTar(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	dir := t.TempDir()
	lay(t, dir, example)
	if entries == nil {
		entries = []Entry{{Path: "z/b"}, {Path: "tree/x", Executable: true}, {Path: "a"}, {Path: "tree/deep/y"}}
	}
	return exampleTarOf(t, dir, entries...)
}

func exampleTarOf(t testing.TB, dir string, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Get(Write(t.Context(), &b, dir, entries))(t)
	return b.Bytes()
}

func unpack(t testing.TB, archive []byte, dir string) error {
	t.Helper()
	_, err := Unpack(t.Context(), bytes.NewReader(archive), Options{Dir: dir, Unit: anywhere, Last: []string{"a"}})
	return err
}

func ExampleWrite() {
	dir, _ := os.MkdirTemp("", "bundle")
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o600)
	var archive bytes.Buffer
	manifest, err := Write(context.Background(), &archive, dir, []Entry{{Path: "file"}})
	fmt.Println(manifest.Files[0].SHA256[:8], manifest.Files[0].Size, err)
	// Output: ed7002b4 7 <nil>
}

func TestBundle_WhatIsPackedIsUnpacked(t *testing.T) {
	archive, dir := exampleTar(t), t.TempDir()
	must.EqualSlices(t, archive, exampleTar(t, []Entry{{Path: "a"}, {Path: "tree/deep/y"}, {Path: "tree/x", Executable: true}, {Path: "z/b"}}...), "the same files in another order have another archive")
	lay(t, dir, map[string]string{"a": "old", "tree/gone": "old", "mine": "old"})
	must.Succeed(t, unpack(t, archive, dir))
	want := map[string]string{"mine": "old"}
	for name, text := range example {
		want[name] = text
	}
	equal(t, content(t, dir), want)
	info := must.Get(os.Stat(filepath.Join(dir, "tree", "x")))(t)
	if runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("mode %v", info.Mode())
	}
	must.Succeed(t, unpack(t, archive, dir))
	equal(t, content(t, dir), want)
	t.Run("links", func(t *testing.T) {
		cachetest.LinkOrSkip(t, "nowhere", filepath.Join(t.TempDir(), "try"))
		must.Succeed(t, unpack(t, exampleTar(t, Entry{Path: "a"}, Entry{Path: "tree/x"}, Entry{Path: "tree/l", Link: "../a"}, Entry{Path: "z/l", Link: "../tree"}), dir))
		got := content(t, dir)
		must.Equal(t, got["tree/l"], "-> "+filepath.FromSlash("../a"))
		must.Equal(t, got["z/l"], "-> "+filepath.FromSlash("../tree"))
	})
	t.Run("hosts with ports", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("Windows has no such names")
		}
		const name = "tree/example.com:8443/acme/widget/x"
		from := must.WriteAll(t, t.TempDir(), map[string]string{name: "content"})
		must.Succeed(t, unpack(t, exampleTarOf(t, from, Entry{Path: name}), dir))
		must.Equal(t, content(t, dir)[name], "content")
	})
}

func TestBundle_NamesNoUser(t *testing.T) {
	r := tar.NewReader(bytes.NewReader(exampleTar(t)))
	for i := 0; ; i++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Succeed(t, err)
		if i == 0 && h.Name != ManifestName {
			t.Errorf("the first entry is %s", h.Name)
		}
		if h.Uid+h.Gid != 0 || h.Uname+h.Gname != "" || h.ModTime.Unix() != 0 || len(h.PAXRecords) > 0 {
			t.Errorf("%+v", h)
		}
	}
}

// entry is an entry of a tar archive made by hand.
type entry struct {
	name, content, link string
	kind                byte
	mode                int64 // 0: 0644
	records             map[string]string
}

func x(name string) entry { return entry{name: name, content: "x"} }

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// forge makes an archive with a manifest, and with other entries than those in the manifest.
func forge(t testing.TB, files []Entry, entries ...entry) []byte {
	t.Helper()
	manifest := must.Get(json.Marshal(Manifest{FormatVersion: "1.0", Files: files}))(t)
	return forgeTar(t, append([]entry{{name: ManifestName, content: string(manifest)}}, entries...)...)
}

func forgeTar(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		must.Succeed(t, w.WriteHeader(&tar.Header{Name: e.name, Typeflag: e.kind, Size: int64(len(e.content)), Mode: cmp.Or(e.mode, 0o644), Linkname: e.link, PAXRecords: e.records}))
		must.Get(io.WriteString(w, e.content))(t)
	}
	must.Succeed(t, w.Close())
	return b.Bytes()
}

// sparse makes an archive whose only file is a hole of a megabyte, in the format that GNU tar calls 0.1.
func sparse(t testing.TB, name string) []byte {
	t.Helper()
	const size = 1 << 20
	hole := []Entry{{Path: name, Size: size, SHA256: sum(strings.Repeat("\x00", size))}}
	records := map[string]string{
		"XXX.sparse.size":      strconv.Itoa(size),
		"XXX.sparse.numblocks": "1",
		"XXX.sparse.map":       strconv.Itoa(size) + ",0",
	}
	archive := forge(t, hole, entry{name: name, records: records})
	return bytes.ReplaceAll(archive, []byte("XXX.sparse"), []byte("GNU.sparse")) // package tar doesn't write these
}

// TestBundle_FilesHaveToFit: nothing is written if the files are larger than the archive, or than the free disk.
func TestBundle_FilesHaveToFit(t *testing.T) {
	t.Parallel()
	m := Manifest{Files: []Entry{{Path: "a", Size: 600}, {Path: "b", Size: 400}}}
	for _, c := range []struct {
		archive, room int64
		want          string
	}{
		{archive: 1000, room: 1000},
		{archive: 0, room: 1000},
		{archive: 999, room: 5000, want: "the archive has only 999"},
		{archive: 5000, room: 999, want: "999 are free"},
	} {
		err := m.fits(c.archive, c.room)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}

	archive := forge(t, []Entry{{Path: "a", Size: 1 << 30, SHA256: sum("x")}}, x("a"))
	_, err := Unpack(t.Context(), bytes.NewReader(archive), Options{Dir: t.TempDir(), ArchiveBytes: int64(len(archive)), Unit: anywhere})
	must.Contain(t, err, "lists files of 1073741824 bytes")
}

// refused are archives that must not be unpacked at all, by the reason.
func refused(t testing.TB) map[string][]byte {
	file := func(name string) Entry { return Entry{Path: name, Size: 1, SHA256: sum("x")} }
	a, empty := []Entry{file("a")}, []Entry{{Path: "a", SHA256: sum("")}}
	with := func(name string) []byte {
		return forge(t, []Entry{file(name)}, x(name))
	}
	link := func(target string) []byte {
		return forge(t, []Entry{file("a"), {Path: "z/l", Link: target}}, x("a"), entry{name: "z/l", link: target, kind: tar.TypeSymlink})
	}
	whole := exampleTar(t)
	changed := bytes.Replace(whole, []byte("in a tree"), []byte("in a Tree"), 1)
	all := map[string][]byte{
		"nothing": nil, "no archive": []byte("nonsense"), "cut": whole[:len(whole)/2], "cut at its end": whole[:len(whole)-1024-512],
		"changed": changed, "more behind it": append(bytes.Clone(whole), 'x'),
		"no manifest":       forgeTar(t, x("a")),
		"a broken one":      forgeTar(t, entry{name: ManifestName, content: "{"}),
		"another format":    forgeTar(t, entry{name: ManifestName, content: `{"format_version":"2.0","files":[]}`}),
		"an entry more":     forge(t, nil, x("a")),
		"an empty one more": forge(t, nil, entry{name: "a"}),
		"an entry less":     forge(t, a),
		"another entry":     forge(t, a, x("b")),
		"another size":      forge(t, a, entry{name: "a", content: "xx"}),
		"another content":   forge(t, a, entry{name: "a", content: "y"}),
		"another kind":      forge(t, a, entry{name: "a", link: "b", kind: tar.TypeSymlink}),
		"PAX records":       forge(t, a, entry{name: "a", content: "x", link: "b", records: map[string]string{"comment": "x"}}),
		"a directory":       forge(t, empty, entry{name: "a", kind: tar.TypeDir}),
		"a FIFO":            forge(t, empty, entry{name: "a", kind: tar.TypeFifo}),
		"a block device":    forge(t, empty, entry{name: "a", kind: tar.TypeBlock}),
		"a device":          forge(t, empty, entry{name: "a", kind: tar.TypeChar}),
		"a hard link":       forge(t, empty, entry{name: "a", link: "/etc/passwd", kind: tar.TypeLink}),
		"twice":             forge(t, []Entry{file("a"), file("a")}, x("a"), x("a")),
		"twice but case":    forge(t, []Entry{file("A"), file("a")}, x("A"), x("a")),
		"unsorted":          forge(t, []Entry{file("b"), file("a")}, x("b"), x("a")),
		"below a file":      forge(t, []Entry{file("a"), file("a/b")}, x("a"), x("a/b")),
		"through a link":    forge(t, []Entry{{Path: "l", Link: "z"}, file("l/b"), file("z/b")}, entry{name: "l", link: "z", kind: tar.TypeSymlink}, x("l/b"), x("z/b")),
		"no checksum":       forge(t, []Entry{{Path: "a", Size: 1}}, x("a")),
		"a negative size":   forge(t, []Entry{{Path: "a", Size: -1, SHA256: sum("")}}, entry{name: "a"}),
		"too many bytes":    forge(t, []Entry{{Path: "a", Size: 65 << 30, SHA256: sum("")}}, entry{name: "a"}),
		"an overflow":       forge(t, []Entry{{Path: "a", Size: 1<<63 - 1, SHA256: sum("")}, {Path: "b", Size: 1<<63 - 1, SHA256: sum("")}}, entry{name: "a"}),
		"an unwanted path":  with("elsewhere/x"),
		"a sparse file":     sparse(t, "a"),
	}
	for _, name := range []string{"../x", "/x", "a/../x", "./x", "a//x", ".", "", `a\x`, "c:x", "c:1", "example.com:x", "example.com:1:1/a", "example.com:70000/a", "a\nb", ".git/config", "z/.GIT/x", ManifestName} {
		all["the path "+name] = with(name)
	}
	for _, target := range []string{"/a", "../../a", "..", "../..", "b", "../b", "../z/../a", "./../a", `..\a`, "..//a"} {
		all["the link "+target] = link(target)
	}
	return all
}

func TestBundle_WhatIsRefusedChangesNothing(t *testing.T) {
	before := map[string]string{"a": "old", "tree/old": "old", "z/keep": "old"}
	for why, archive := range refused(t) {
		dir := filepath.Join(t.TempDir(), "dir")
		lay(t, dir, before)
		must.Refuse(unpack(t, archive, dir))(t, why)
		equal(t, content(t, filepath.Dir(dir)), map[string]string{"dir/a": "old", "dir/tree/old": "old", "dir/z/keep": "old"})
	}
	t.Run("through a link", func(t *testing.T) {
		outer := must.WriteAll(t, t.TempDir(), map[string]string{"dir/": "", "outside/": ""})
		dir := filepath.Join(outer, "dir")
		cachetest.LinkOrSkip(t, "../outside", filepath.Join(dir, "z"))
		must.Contain(t, unpack(t, exampleTar(t), dir), "but a link")
		equal(t, content(t, outer), map[string]string{"dir/z": "-> ../outside", "outside": "/"})
	})
}

func TestBundle_Limits(t *testing.T) {
	link := `{"path":"b","link":"a"},`
	for want, files := range map[string]string{
		"1000001 entries": strings.Repeat(link, 1_000_001), "68719476736 bytes": `{"path":"a","size":68719476737,"sha256":"` + sum("a") + `"},`,
	} {
		_, err := DecodeManifest([]byte(`{"format_version":"1.0","files":[` + strings.TrimSuffix(files, ",") + `]}`))
		must.Contain(t, err, want)
	}
}

func TestBundle_AFailureWhilePublishingTakesAllBack(t *testing.T) {
	dir := t.TempDir()
	before := map[string]string{"a": "old", "tree/gone": "old", "z": "a file where a directory belongs"}
	lay(t, dir, before)
	must.Refuse(unpack(t, exampleTar(t), dir))(t, "it was unpacked")
	equal(t, content(t, dir), before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Succeed(t, os.Remove(filepath.Join(dir, "z")))
	delete(before, "z")
	must.Fail(t, must.ErrorOf(Unpack(ctx, bytes.NewReader(exampleTar(t)), Options{Dir: dir, Unit: anywhere})), context.Canceled)
	equal(t, content(t, dir), before)
}

func TestBundle_WhatIsNotAcceptedChangesNothing(t *testing.T) {
	dir, no := t.TempDir(), errors.New("no")
	_, err := Unpack(t.Context(), bytes.NewReader(exampleTar(t)), Options{Dir: dir, Unit: anywhere, Accept: func(unpacked string) error {
		equal(t, content(t, unpacked), example)
		return no
	}})
	must.Fail(t, err, no, content(t, dir))
	must.Len(t, content(t, dir), 0, err)
}

func TestBundle_SetsNoUserID(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, unpack(t, forge(t, []Entry{{Path: "a", Size: 1, SHA256: sum("x")}}, entry{name: "a", content: "x", mode: 0o4755}), dir))
	must.Equal(t, must.Get(os.Stat(filepath.Join(dir, "a")))(t).Mode()&os.ModeSetuid, 0)
}

func TestBundle_ReportsWhatCannotBePacked(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, example)
	for _, e := range []Entry{{Path: "none"}, {Path: "../x"}, {Path: "l", Link: "/etc"}, {Path: "l", Link: "none"}, {Path: "tree"}} {
		must.Refuse(Write(t.Context(), io.Discard, dir, []Entry{e}))(t, e)
	}
}

func FuzzUnpack(f *testing.F) {
	for _, archive := range refused(f) {
		f.Add(archive)
	}
	f.Add(exampleTar(f))
	f.Fuzz(func(t *testing.T, archive []byte) {
		outer := t.TempDir()
		dir := filepath.Join(outer, "dir")
		must.Succeed(t, os.Mkdir(dir, 0o755))
		err := unpack(t, archive, dir)
		entries, _ := os.ReadDir(outer)
		must.Len(t, entries, 1, "there beside the directory")
		if got := content(t, dir); err != nil && len(got) > 0 {
			t.Errorf("%v, and there is %v", err, got)
		}
	})
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add([]byte(`{"format_version":"1.0","files":[{"path":"a","size":1,"sha256":"` + sum("x") + `"},{"path":"l","link":"a"}]}`))
	f.Add([]byte(`{"format_version":"1.1","files":null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := DecodeManifest(content)
		for _, e := range m.Files {
			if err == nil && (!filepath.IsLocal(filepath.FromSlash(e.Path)) || strings.HasPrefix(e.Link, "/")) {
				t.Errorf("%+v is accepted", e)
			}
		}
	})
}
