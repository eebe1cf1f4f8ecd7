package command

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRecordPluginDirs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(dir, "plugin_path")
	m := &Meta{Env: Environment{"TF_DATA_DIR=" + dir}}
	record := func(dirs ...string) {
		t.Helper()
		if err := m.recordPluginDirs(dirs); err != nil {
			t.Fatal(err)
		}
	}
	record() // there is nothing to remove
	if _, err := os.Stat(dir); err == nil {
		t.Error("a directory was made for no record")
	}

	record("a & b", "c")
	const want = "[\n  \"a \\u0026 b\",\n  \"c\"\n]" // the real tool's JSON has this escape
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("recorded %q, %v; want %q", got, err, want)
	}

	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	record("a & b", "c")
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the same record was written again: %v", err)
	}

	record()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestRecordPluginDirsFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Meta{Env: Environment{"TF_DATA_DIR=" + dir}}
	if err := m.recordPluginDirs([]string{"a"}); err == nil {
		t.Error("no error, although a file is in the directory's place")
	}
}
