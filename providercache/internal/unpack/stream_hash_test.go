package unpack

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
)

// passBy hashes content as a stream.
func passBy(ctx context.Context, content []byte, limits Limits) (HashedStream, Content, error) {
	limits = withDefaults(limits)
	if int64(len(content)) > limits.Bytes {
		return HashedStream{}, Content{}, ErrNotStreamable
	}
	received, err := HashStream(ctx, bytes.NewReader(content), par.NewLimit(1), int64(len(content)), limits)
	if err != nil {
		return HashedStream{}, Content{}, err
	}
	found, err := received.Content(cachetest.TestProvider, limits)
	return received, found, err
}

// checkPassing compares hashing a stream with unpacking by the
// archive's directory, unless the archive isn't streamable.
func checkPassing(tb testing.TB, content []byte, limits Limits) (onTheWay bool) {
	tb.Helper()
	received, got, err := passBy(tb.Context(), content, limits)
	if errors.Is(err, ErrNotStreamable) {
		return false
	}
	must.Succeed(tb, err)
	opened := must.Get(Open(bytes.NewReader(content), int64(len(content)), cachetest.TestProvider, withDefaults(limits)))(tb)
	want, err := opened.Unpack(tb.Context(), "")
	if err != nil || got != want || received.Size != int64(len(content)) {
		tb.Fatalf("got %v, want %v, %v", got, want, err)
	}
	return true
}

func TestStream_ArchivesAreHashedOnTheWay(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"by Go":  archiveByGo(t, zip.Deflate),
		"good":   archiveOf(t, good),
		"prefix": append([]byte("#!/bin/sh\n"), archiveByGo(t, zip.Deflate)...),
		"cut":    archiveByGo(t, zip.Deflate)[:200],
		"empty":  {},
	} {
		want := name == "by Go" || name == "good"
		must.Equal(t, checkPassing(t, content, Limits{}), want, name)
	}
	if checkPassing(t, archiveByGo(t, zip.Deflate), Limits{Files: 1}) {
		t.Error("more files than allowed pass by")
	}
	if checkPassing(t, archiveByGo(t, zip.Deflate), Limits{Bytes: 10}) {
		t.Error("more bytes than allowed pass by")
	}
}

func FuzzPassing(f *testing.F) {
	f.Add(archiveByGo(f, zip.Deflate))
	f.Add(archiveByGo(f, zip.Store))
	f.Add(archiveOf(f, good))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, content []byte) {
		checkPassing(t, content, Limits{Files: 50, Bytes: 1 << 20})
	})
}
