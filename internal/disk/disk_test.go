package disk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestProbe_LeavesNothingButTheDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	made, err := Probe(dir)
	if err != nil || len(made) != 2 {
		t.Fatalf("made %q, %v", made, err)
	}
	must.Len(t, must.Get(os.ReadDir(dir))(t), 0)
	must.Len(t, must.Get(Probe(dir))(t), 0)
}

func TestProbe_SaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	if made, err := Probe(filepath.Join(file, "a")); err == nil || len(made) > 0 {
		t.Errorf("below a file: made %q, %v", made, err)
	}
}

func TestRoom_CountsAFileSystemOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, known := Room(dir)
	if !known {
		t.Skipf("%s doesn't tell", runtime.GOOS)
	}
	if one <= 0 {
		t.Errorf("%d bytes are free", one)
	}
	two, known := Room(dir, filepath.Join(dir, "missing", "too"))
	if !known || two > one+one/2 {
		t.Errorf("one file system has %d bytes, and twice the same %d (%t)", one, two, known)
	}
}

func TestKind_IsThatOfTheDeepestMount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kind := Kind(dir)
	must.Equal(t, Kind(filepath.Join(dir, "missing", "too")), kind)
	switch {
	case runtime.GOOS == "linux" && Kind("/proc/self") != "proc":
		t.Errorf("/proc is %q", Kind("/proc/self"))
	case kind == "" && (runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows"):
		t.Error("it isn't known")
	}
}
