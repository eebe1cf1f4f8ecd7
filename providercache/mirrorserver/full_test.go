//go:build linux || windows

package mirrorserver_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// TestHandler_FullDiskServesWhatIsStored: the disk for arriving archives has no room for a large one.
// Its request fails and leaves nothing behind; stored archives, and those that fit, are served.
func TestHandler_FullDiskServesWhatIsStored(t *testing.T) {
	m := newMirroring(t)
	m.add("large", "1.0.0")
	m.opts.Temporary = installtest.SmallDisk(t, "64k")
	server := m.start()
	server.found(archive)
	server.settle()
	for range 2 {
		if got := server.get(large); got.err == nil && (got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "") {
			t.Errorf("%s, %v, %d bytes", got.Status, got.Header, len(got.body))
		}
		server.settle()
		server.found(archive)
		server.found(strings.Replace(archive, "linux_amd64", "darwin_arm64", 1))
		server.settle()
	}
	if got := server.status(large, http.StatusServiceUnavailable, "Range: bytes=0-9"); got.Header.Get("Retry-After") == "" {
		t.Errorf("%v", got.Header)
	}
	server.settle()
	must.Equal(t, server.stat("disk_full_total"), 3)
	must.Equal(t, server.Ready(t.Context()), nil)
	must.Len(t, must.Get(os.ReadDir(m.opts.Temporary))(t), 0)
	keys := m.keys(".zip")
	must.Len(t, keys, 2)
	must.NotContain(t, strings.Join(keys, " "), "large")
}

// TestHandler_FullStore: clients get an archive that can't be stored.
func TestHandler_FullStore(t *testing.T) {
	m := newMirroring(t)
	m.add("large", "1.0.0")
	m.bucket = blob.NewDirectory(filepath.Join(installtest.SmallDisk(t, "64k"), "store")) // Wine takes a place of a mount for a link
	server := m.start()
	server.found(large)
	server.settle()
	must.Equal(t, server.stat("disk_full_total"), 1)
	must.Len(t, m.keys(".zip"), 0)
}
