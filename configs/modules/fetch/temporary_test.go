package fetch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

// A run that is killed leaves modules, and maybe a key for ssh, among the temporary files. The
// next one removes them.
func TestTemporary_RemovesWhatKilledRunsHaveLeft(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks tell here which process lives")
	}
	t.Setenv("TMPDIR", t.TempDir())
	killed, err := scratch.Make(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed.Path, "key"), []byte("secret"), 0o600); err != nil || !killed.Abandon() {
		t.Fatal(err)
	}
	other, err := scratch.Make(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own, err := temporary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(killed.Path); err == nil {
		t.Error("what a killed run had left is still there")
	}
	for _, dir := range []*scratch.Dir{other, own} {
		if info, err := os.Lstat(dir.Path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir.Path, info, err)
		}
		dir.Remove()
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPrintable_LeavesOutWhatATerminalObeys(t *testing.T) {
	if got := printable("abort: \x1b]0;evil\a\u009b31mno such\r\nhost\u202e \n"); got != "abort: ]0;evil31mno such\nhost" {
		t.Errorf("got %q", got)
	}
}
