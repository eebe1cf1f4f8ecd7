package wholefile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/must"
)

// The next write removes a killed process's new file, and leaves another process's.
func TestSave_LeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	left, held := filepath.Join(dir, Prefix+"1"), filepath.Join(dir, Prefix+"2")
	other := filepath.Join(dir, Prefix+"directory")
	for _, path := range []string{left, held} {
		must.Succeed(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	must.Succeed(t, os.Mkdir(other, 0o700))
	file := must.Get(os.OpenFile(held, os.O_RDWR, 0))(t)
	defer file.Close()
	if err := filelock.TryFile(file); err != nil {
		t.Skip(err)
	}
	must.Succeed(t, Write(filepath.Join(dir, "file"), []byte("x"), 0o644))
	for path, want := range map[string]bool{left: false, held: true, other: true} {
		must.Equal(t, must.ErrorOf(os.Lstat(path)) == nil, want, path)
	}
}

// Many processes may write concurrently: none of them removes another one's new file.
func TestSave_ManyWriteToOneDirectory(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				must.Equal(t, Write(filepath.Join(dir, fmt.Sprint("file", i%4)), []byte("content"), 0o644), nil)
			}
		})
	}
	all.Wait()
	must.Len(t, must.Get(os.ReadDir(dir))(t), 4)
}

func TestRead_NamesTheFileThatIsNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	_, err := Read(filepath.Join(file, "below", "it"), 1)
	if runtime.GOOS == "windows" { // which says that a path below a file does not exist
		must.Fail(t, err, fs.ErrNotExist)
	} else if err == nil || !strings.HasPrefix(err.Error(), file+" is a file, and has to be a directory") {
		t.Errorf("got %v", err)
	}
}
