package installtest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"golang.org/x/mod/sumdb/dirhash"
)

// ZipOf makes an archive of files. A name that ends with a slash is a directory.
func ZipOf(tb testing.TB, files map[string]string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, content := range files {
		if len(content) > 1<<20 { // below that, zip's pooled compressors are faster
			w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		header.SetMode(0o755)
		must.Get(io.WriteString(must.Get(w.CreateHeader(header))(tb), files[name]))(tb)
	}
	must.Succeed(tb, w.Close())
	return out.Bytes()
}

// Tree lists all files and directories below dir, slash-separated and sorted: "a", "a/b", "c ->
// target". For a directory that doesn't exist the list is empty.
func Tree(tb testing.TB, dir string) []string {
	tb.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if target, linkErr := os.Readlink(path); linkErr == nil {
			name += " -> " + target
		}
		names = append(names, name)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	return names
}

// Files lists the files of Tree, without directories.
func Files(tb testing.TB, dir string) []string {
	return slices.DeleteFunc(Tree(tb, dir), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.IsDir() && !strings.Contains(name, " -> ")
	})
}

// Read returns the content of a file.
func Read(tb testing.TB, path string) string {
	tb.Helper()
	return string(must.Get(os.ReadFile(path))(tb))
}

// HTTPArchive returns the archive at a URL.
func HTTPArchive(tb testing.TB, rawURL string) getproviders.HTTPArchive {
	tb.Helper()
	return getproviders.HTTPArchive{URL: must.Get(url.Parse(rawURL))(tb)}
}

// Noise returns random bytes, which can't be compressed.
func Noise(size int) string {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(content)
	return string(content)
}

// H1Of returns the h1 of a package with these files, as golang.org/x/mod computes it.
func H1Of(tb testing.TB, content map[string]string) getproviders.Hash {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range content {
		cachetest.WriteTo(tb, filepath.Join(dir, name), text)
	}
	return getproviders.Hash(must.Get(dirhash.HashDir(dir, "", dirhash.Hash1))(tb))
}

// NeedsReceipts skips a test on systems where a file's status can't prove that it is unchanged, or
// without file locks.
func NeedsReceipts(tb testing.TB) {
	tb.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		tb.Skip("packages are hashed each time on this system")
	}
}
