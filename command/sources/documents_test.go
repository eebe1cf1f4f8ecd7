package sources

import (
	"os"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestDocuments_OfOthersAreNotUsed: whoever can write to the directory could offer old lists of versions, or have a
// registry's answer taken for another one.
func TestDocuments_OfOthersAreNotUsed(t *testing.T) {
	m := &cli.Meta{StateDir: t.TempDir(), Remembers: true, Now: time.Now}
	open := func() documents { // as a run does
		d, ok := keptDocuments(m)
		must.Equal(t, ok, true)
		return d
	}
	open().Put("key", hosts.Remembered{Tag: "tag", Body: []byte("{}")})
	found, ok := open().Get("key")
	must.Equal(t, ok, true)
	must.Equal(t, string(found.Body), "{}")

	must.Succeed(t, cachetest.OpenToAll(open().dir))
	_, ok = open().Get("key")
	must.Equal(t, ok, false)
	open().Put("other", hosts.Remembered{Tag: "tag", Body: []byte("{}")})
	must.Len(t, must.Get(os.ReadDir(open().dir))(t), 1)
}
