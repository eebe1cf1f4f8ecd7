package link

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestJunction_OneThatLeadsNowhereIsRemoved(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "none"), filepath.Join(dir, "to")
	if err := junction(from, to); !errors.As(err, new(*os.LinkError)) {
		t.Error(err)
	}
	must.Fail(t, must.ErrorOf(os.Lstat(to)), os.ErrNotExist)
}
