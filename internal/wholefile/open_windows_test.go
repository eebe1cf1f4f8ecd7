package wholefile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// A process closes its new file before the rename: another one that waited for that would remove it.
func TestWrite_DoesNotWaitForWhatOthersMake(t *testing.T) {
	dir := t.TempDir()
	others := filepath.Join(dir, Prefix+"others")
	made := must.Get(os.Create(others))(t)
	closed := make(chan struct{})
	time.AfterFunc(time.Second, func() {
		made.Close()
		close(closed)
	})
	must.Succeed(t, Write(filepath.Join(dir, "file"), []byte("x"), 0o600))
	<-closed
	must.Succeed(t, must.ErrorOf(os.Stat(others)))
	must.Succeed(t, Write(filepath.Join(dir, "file"), []byte("y"), 0o600))
	must.Fail(t, must.ErrorOf(os.Stat(others)), os.ErrNotExist)
}
