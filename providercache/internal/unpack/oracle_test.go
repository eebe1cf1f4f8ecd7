package unpack

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestUnpack_AgreesWithTheStandardLibrary unpacks archives by this package and
// by archive/zip, and hashes them by Go's own directory hash.
func TestUnpack_AgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	cases := map[string][]item{
		"one file":             {good},
		"empty files":          {good, {Name: "a"}, {Name: "b"}},
		"stored":               {good, {Name: "s", Raw: []byte("as it is"), Content: "as it is", Size: 8}},
		"directories":          {{Name: "docs/"}, {Name: "docs/empty/"}, {Name: "docs/a", Content: "a"}, good},
		"only in names":        {{Name: "a/b/c/d", Content: "deep"}, {Name: "a/b.txt"}, {Name: "a-b"}, good},
		"beyond ASCII":         {{Name: "größe.txt", Content: "size"}, {Name: "文件"}, good},
		"dots":                 {{Name: ".hidden"}, {Name: "a...b", Content: "three"}, {Name: "a..b"}, good},
		"directory afterwards": {{Name: "d/a"}, {Name: "d/"}, good},
		"comments":             {{Name: "a", Comment: "about a"}, good},
	}
	for i := range 20 {
		cases[fmt.Sprintf("random %d", i)] = randomItems(random)
	}
	for name, items := range cases {
		t.Run(name, func(t *testing.T) {
			content := archiveOf(t, items...)
			above, result, err := unpackBytes(t, content, Limits{})
			must.Succeed(t, err)
			checkHashes(t, content, filepath.Join(above, "package"), result)
			want := filepath.Join(t.TempDir(), "package")
			must.Succeed(t, os.CopyFS(want, must.Get(zip.NewReader(bytes.NewReader(content), int64(len(content))))(t)))
			sameTree(t, filepath.Join(above, "package"), want)
		})
	}
}

// randomItems makes files of random content, much of it repeated, of sizes
// around that of the buffer.
func randomItems(random *rand.Rand) []item {
	items := []item{good}
	for i := range 1 + random.IntN(6) {
		content := make([]byte, random.IntN(3*chunks.Size))
		for at := 0; at < len(content); at += 1 + random.IntN(100) {
			content[at] = byte(random.Uint32())
		}
		items = append(items, item{Name: fmt.Sprintf("d%d/f%d", i%2, i), Content: string(content)})
	}
	return items
}

// checkHashes compares with golang.org/x/mod/sumdb/dirhash.
func checkHashes(tb testing.TB, content []byte, dir string, result Content) {
	tb.Helper()
	h1, err := dirhash.HashDir(dir, "", dirhash.Hash1)
	if err != nil || getproviders.Hash(h1) != result.H1 {
		tb.Errorf("h1 of the files is %s, want %s (%v)", result.H1, h1, err)
	}
	path := filepath.Join(tb.TempDir(), "again.zip")
	must.Succeed(tb, os.WriteFile(path, content, 0o600))
	h1, err = dirhash.HashZip(path, dirhash.Hash1)
	if err != nil || getproviders.Hash(h1) != result.H1Archive {
		tb.Errorf("h1 of the archive is %s, want %s (%v)", result.H1Archive, h1, err)
	}
}

func sameTree(tb testing.TB, got, want string) {
	tb.Helper()
	must.Equal(tb, describeTree(tb, got), describeTree(tb, want))
}

func describeTree(tb testing.TB, dir string) string {
	tb.Helper()
	var lines []string
	must.Succeed(tb, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		line := fmt.Sprintf("%s %v", filepath.ToSlash(name), info.IsDir())
		if err == nil && !info.IsDir() {
			var data []byte
			data, err = os.ReadFile(path)
			line += fmt.Sprintf(" %d %x", len(data), data[:min(len(data), 64)])
		}
		lines = append(lines, line)
		return err
	}))
	return strings.Join(lines, "\n")
}

// FuzzUnpack: whatever the bytes are, nothing is written beside the package, and an archive that
// is accepted has the content that the standard library finds.
func FuzzUnpack(f *testing.F) {
	whole := archiveOf(f, good, item{Name: "d/"}, item{Name: "d/a", Content: strings.Repeat("a", 1000)})
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(archiveOf(f, good, item{Name: "../evil", Content: "evil"}))
	f.Add(archiveOf(f, good, item{Name: "/evil", Content: "evil"}))
	f.Add(archiveOf(f, good, item{Name: "link", Content: "/etc", Mode: os.ModeSymlink | 0o777}))
	f.Add(archiveOf(f, item{Name: widgetFile, Raw: []byte("stored"), Content: "stored", Size: 6}))
	f.Add(directoryField(whole, 1, fieldOffset, 0))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	limits := Limits{Bytes: 1 << 20, Files: 50}
	f.Fuzz(func(t *testing.T, content []byte) {
		above, result, err := unpackBytes(t, content, limits)
		beside, readErr := os.ReadDir(above)
		if readErr != nil || len(beside) > 1 {
			t.Fatalf("beside the package: %v, %v", beside, readErr)
		}
		if err == nil {
			checkHashes(t, content, filepath.Join(above, "package"), result)
		}
	})
}
