package unpack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
)

// A file that is unpacked while the archive arrives gets its mode from the archive's directory,
// without bits that set users.
func TestStream_DropsSetuidBits(t *testing.T) {
	t.Parallel()
	content := cachetest.ArchiveOf(t, cachetest.Item{Name: cachetest.WidgetFile, Content: "as root", Mode: os.ModeSetuid | os.ModeSetgid | os.ModeSticky | 0o755})
	dir := filepath.Join(t.TempDir(), "package")
	_, onTheWay, err := unpackArriving(t, content, dir, Limits{})
	if err != nil || !onTheWay {
		t.Fatalf("on the way: %t, %v", onTheWay, err)
	}
	if info, err := os.Stat(filepath.Join(dir, cachetest.WidgetFile)); err != nil || info.Mode() != 0o755 && os.PathSeparator == '/' {
		t.Errorf("got %v, %v", info, err)
	}
}
