// Package cachetest has helpers that the tests of several packages share: provider archives, files
// and contexts. It is for tests only.
package cachetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// ErrStopped is the cause with which tests cancel contexts.
var ErrStopped = errors.New("stopped by the test")

// ContextWithCause is context.WithCancelCause; the context is cancelled when the test ends.
func ContextWithCause(tb testing.TB) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(tb.Context())
	tb.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

// HasLinks reports whether symlinks can be made: on Windows few users can.
func HasLinks(t *testing.T) bool { return must.Symlink("x", filepath.Join(t.TempDir(), "link")) == nil }

// LinkOrSkip makes a symlink, or skips the test if the system can't.
func LinkOrSkip(t *testing.T, to, at string) {
	t.Helper()
	if err := must.Symlink(to, at); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// WriteTo writes an executable file, and makes its directories.
func WriteTo(tb testing.TB, path, content string) {
	tb.Helper()
	must.Succeed(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Succeed(tb, os.WriteFile(path, []byte(content), 0o755))
}

// HashOf returns the h1 of a directory.
func HashOf(t *testing.T, dir string) getproviders.Hash {
	t.Helper()
	h1, err := treehash.Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return h1
}

// ContentOf reads a file.
func ContentOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
