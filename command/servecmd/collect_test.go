package servecmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseSize_ReadsUnits(t *testing.T) {
	for text, want := range map[string]int64{"200GB": 200e9, "1.5TiB": 3 << 39, "7B": 7, "10 mb": 10e6, "512KiB": 512 << 10} {
		if got, err := parseSize(text); got != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "7", "GB", "1XB", "-1GB", "0", "1e30TB", "NaN", "Inf", "1 G B"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: %d, and no error", text, got)
		}
	}
}

func TestCollector_KeepsWhatLockFilesSelect(t *testing.T) {
	dir := t.TempDir()
	const hash = "zh:0000000000000000000000000000000000000000000000000000000000000001"
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	write("a/b/.terraform.lock.hcl", "provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = [\n    \""+hash+"\",\n  ]\n}\n")
	c := &collector{locked: []string{dir}}
	keep, err := c.lockedHashes()
	must.Succeed(t, err)
	other := getproviders.Hash("zh:0000000000000000000000000000000000000000000000000000000000000002")
	if !keep(getproviders.Provider{}, getproviders.Version{}, []getproviders.Hash{other, hash}) || keep(getproviders.Provider{}, getproviders.Version{}, []getproviders.Hash{other}) {
		t.Error("not what the lock file selects")
	}
	c.locked = append(c.locked, write("broken", "provider {"))
	if _, err := c.lockedHashes(); err == nil {
		t.Error("a lock file that can't be read is no error: what it selects would be removed")
	}
}

func TestServe_KeepsNothingWithoutALimit(t *testing.T) {
	m := &cli.Meta{Context: t.Context()}
	_, err := run(m, []string{"-keep-locked=.", "-include=no pattern", t.TempDir()})
	if usage, ok := errors.AsType[*cli.UsageError](err); !ok || !strings.Contains(usage.Text, "-max-size") {
		t.Errorf("%v", err)
	}
}
