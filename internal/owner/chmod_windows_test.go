package owner_test // cachetest uses owner

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/owner"
)

func TestChmod_GivesADirectoryToItsUserAlone(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, cachetest.OpenToAll(dir))
	must.Equal(t, owner.Exclusive(dir), false)
	must.Succeed(t, owner.Chmod(dir, 0o755))
	must.Equal(t, owner.Exclusive(dir), false, "another mode")
	must.Succeed(t, owner.Chmod(dir, 0o700))
	must.Equal(t, owner.Exclusive(dir), true)
	must.Equal(t, owner.Exclusive(filepath.Join(dir, "none")), false)
}
