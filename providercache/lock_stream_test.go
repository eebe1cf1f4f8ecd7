package providercache

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// inMemory is an archive that comes from nowhere.
type inMemory struct {
	*bytes.Reader
	size int64
}

func (inMemory) Close() error    { return nil }
func (m inMemory) length() int64 { return m.size }

var testProvider = getproviders.Provider{Hostname: getproviders.DefaultHost, Namespace: "acme", Type: "widget"}

// passBy hashes content on its way.
func passBy(ctx context.Context, content []byte, size int64, limits Limits) (archive, unpacked, error) {
	in := &Installer{
		Fetcher: &Fetcher{Limits: limits},
	}
	t := task{Selection: Selection{Provider: testProvider}, Package: getproviders.Package{Location: getproviders.LocalArchive("x.zip")}}
	return in.Fetcher.pass(ctx, t, inMemory{bytes.NewReader(content), size}, par.NewLimit(1))
}

// checkPassing compares what comes of hashing on the way with what comes of
// unpacking by the archive's directory, unless the former isn't possible.
func checkPassing(tb testing.TB, content []byte, limits Limits) (onTheWay bool) {
	tb.Helper()
	received, got, err := passBy(tb.Context(), content, int64(len(content)), limits)
	if errors.Is(err, errOdd) {
		return false
	}
	path := filepath.Join(tb.TempDir(), "archive.zip")
	if err = errors.Join(err, os.WriteFile(path, content, 0o600)); err != nil {
		tb.Fatal(err)
	}
	whole := archive{Path: path, Size: int64(len(content))}
	opened, err := whole.open(testProvider, limits.withDefaults())
	if err != nil {
		tb.Fatalf("hashed on its way, and not unpacked: %v", err)
	}
	defer opened.file.Close()
	want, err := opened.unpack(tb.Context(), "")
	if err != nil || got != want || received.Size != whole.Size {
		tb.Fatalf("got %v, want %v, %v", got, want, err)
	}
	return true
}

func TestArchivesAreHashedOnTheWay(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"by Go":  archiveByGo(t, zip.Deflate),
		"good":   archiveOf(t, good),
		"prefix": append([]byte("#!/bin/sh\n"), archiveByGo(t, zip.Deflate)...),
		"cut":    archiveByGo(t, zip.Deflate)[:200],
		"empty":  {},
	} {
		want := name == "by Go" || name == "good"
		if got := checkPassing(t, content, Limits{}); got != want {
			t.Errorf("%s: on the way: %t, want %t", name, got, want)
		}
	}
	if checkPassing(t, archiveByGo(t, zip.Deflate), Limits{PackageFiles: 1}) {
		t.Error("more files than allowed pass by")
	}
	if checkPassing(t, archiveByGo(t, zip.Deflate), Limits{PackageBytes: 10}) {
		t.Error("more bytes than allowed pass by")
	}
}

func TestHashingOnTheWayNoticesTheEnd(t *testing.T) {
	t.Parallel()
	content := archiveByGo(t, zip.Deflate)
	if _, _, err := passBy(t.Context(), content, int64(len(content))+1, Limits{}); err == nil || errors.Is(err, errOdd) {
		t.Errorf("an archive that is shorter than promised: %v", err)
	}
	ctx, cancel := contextWithCause(t)
	cancel(errStopped)
	if _, _, err := passBy(ctx, content, int64(len(content)), Limits{}); !errors.Is(err, errStopped) {
		t.Errorf("after the end: %v", err)
	}
}

func FuzzPassing(f *testing.F) {
	f.Add(archiveByGo(f, zip.Deflate))
	f.Add(archiveByGo(f, zip.Store))
	f.Add(archiveOf(f, good))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, content []byte) {
		checkPassing(t, content, Limits{PackageFiles: 50, PackageBytes: 1 << 20})
	})
}
