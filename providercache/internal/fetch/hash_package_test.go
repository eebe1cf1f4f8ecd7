package fetch_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

func TestHashPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := map[string]string{"terraform-provider-widget_v1.0.0": "x", "docs/page": "words"}
	archive := installtest.ZipOf(t, map[string]string{"terraform-provider-widget_v1.0.0": "x", "docs/": "", "docs/page": "words"})
	for name, text := range content {
		cachetest.WriteTo(t, filepath.Join(dir, "tree", name), text)
	}
	cachetest.WriteTo(t, filepath.Join(dir, "any.zip"), string(archive))
	cachetest.WriteTo(t, filepath.Join(dir, "text.zip"), "no archive")
	cachetest.WriteTo(t, filepath.Join(dir, "other.zip"), string(installtest.ZipOf(t, map[string]string{"README": "no provider"})))
	want := installtest.H1Of(t, content)
	for name, zh := range map[string]getproviders.Hash{"tree": "", "any.zip": getproviders.ZH(sha256.Sum256(archive))} {
		gotH1, gotZH, err := fetch.HashPackage(t.Context(), filepath.Join(dir, name))
		if err != nil || gotH1 != want || gotZH != zh {
			t.Errorf("%s: %s %s %v, want %s %s", name, gotH1, gotZH, err, want, zh)
		}
	}
	for name, rule := range map[string]unpack.Rule{"text.zip": unpack.RuleArchive, "other.zip": unpack.RuleExecutable} {
		must.Fail(t, must.ErrorOf(fetch.HashPackage(t.Context(), filepath.Join(dir, name))), rule, name)
	}
	must.Fail(t, must.ErrorOf(fetch.HashPackage(t.Context(), filepath.Join(dir, "nothing"))), os.ErrNotExist)
}
