package initcmd

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestSavePluginDirs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(dir, "plugin_path")
	record := func(dirs ...string) {
		t.Helper()
		must.Succeed(t, savePluginDirs(path, dirs))
	}
	record() // there is nothing to remove
	must.Refuse(os.Stat(dir))(t, "a directory was made for no record")

	record("a & b", "c")
	const want = "[\n  \"a \\u0026 b\",\n  \"c\"\n]" // Terraform's JSON has this escape
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("recorded %q, %v; want %q", got, err, want)
	}

	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	must.Succeed(t, os.Chtimes(path, old, old))
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

func TestSavePluginDirs_FailsWhereAFileIsInTheWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must.Write(t, dir, "")
	if err := savePluginDirs(filepath.Join(dir, "plugin_path"), []string{"a"}); err == nil {
		t.Error("no error, although a file is in the directory's place")
	}
}
