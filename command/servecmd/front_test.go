package servecmd

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

func TestTokenFile_IsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	write := func(content string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	file := &tokenFile{path: path, log: slog.New(slog.DiscardHandler)}
	allowed := func(header string) bool {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		return file.allow(r)
	}
	if err := file.read(); err == nil {
		t.Error("there is no file, and no error")
	}
	write("# no token\n\n", time.Unix(1, 0))
	if err := file.read(); err == nil {
		t.Error("there is no token, and no error")
	}
	write("# of ci\n one \ntwo\n", time.Unix(2, 0))
	if err := file.read(); err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]bool{"Bearer one": true, "bearer two": true, "Bearer three": false, "Bearer ": false, "Basic one": false, "": false, "Bearer # of ci": false} {
		if allowed(header) != want {
			t.Errorf("%q is allowed: %v, want %v", header, !want, want)
		}
	}
	write("three\n", time.Unix(3, 0))
	if allowed("Bearer one") || !allowed("Bearer three") {
		t.Error("the file isn't read again when it has changed")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !allowed("Bearer three") {
		t.Error("the tokens are forgotten when the file can't be read")
	}
}

func TestSigningKey_IsTheSameForAllServersOfABucket(t *testing.T) {
	dir := t.TempDir()
	one, err := signingKey(t.Context(), blob.NewDirectory(dir))
	if err != nil || len(one) != 32 {
		t.Fatalf("%d bytes, %v", len(one), err)
	}
	two, err := signingKey(t.Context(), blob.NewDirectory(dir))
	if err != nil || !slices.Equal(one, two) {
		t.Errorf("another key: %v", err)
	}
	if other, err := signingKey(t.Context(), blob.NewDirectory(t.TempDir())); err != nil || slices.Equal(one, other) {
		t.Errorf("another bucket has the same key: %v", err)
	}
}

func TestRenewed_MakesItsSourceAgain(t *testing.T) {
	now, made := time.Unix(1_800_000_000, 0), 0
	source, err := newRenewed(func() (getproviders.Source, error) {
		made++
		return getproviders.MultiSource{}, nil
	}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	source.Unwrap()
	now = now.Add(renewAfter)
	if source.Unwrap(); made != 1 {
		t.Errorf("made %d times, want once", made)
	}
	now = now.Add(time.Second)
	source.Unwrap()
	if source.Unwrap(); made != 2 {
		t.Errorf("made %d times, want twice", made)
	}
}
