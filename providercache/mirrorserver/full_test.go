//go:build linux || windows

package mirrorserver_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestHandler_FullDiskServesWhatIsStored: where archives arrive, there is no room for a large one. It fails, leaves
// nothing behind, and what is in the bucket, or fits, is served.
func TestHandler_FullDiskServesWhatIsStored(t *testing.T) {
	m := newMirroring(t)
	m.add("large", "1.0.0")
	m.opts.Temporary = installtest.SmallDisk(t, "64k")
	server, front := m.start(t)
	found(t, front, archive)
	settle(t, server)
	for range 2 {
		if resp, err := front.Client().Get(front.URL + large); err == nil {
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			must.Equal(t, resp.StatusCode == http.StatusOK && err == nil, false, n)
			if resp.StatusCode != http.StatusOK && (resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "") {
				t.Errorf("%s, %v", resp.Status, resp.Header)
			}
		}
		settle(t, server)
		found(t, front, archive)
		found(t, front, strings.Replace(archive, "linux_amd64", "darwin_arm64", 1))
		settle(t, server)
	}
	if got := status(t, front, large, http.StatusServiceUnavailable, "Range: bytes=0-9"); got.Header.Get("Retry-After") == "" {
		t.Errorf("%v", got.Header)
	}
	settle(t, server)
	must.Equal(t, stat(server, "disk_full_total"), 3)
	must.Equal(t, server.Ready(t.Context()), nil)
	must.Len(t, must.Get(os.ReadDir(m.opts.Temporary))(t), 0)
	keys := keysIn(t, m.bucket, ".zip")
	must.Len(t, keys, 2)
	must.NotContain(t, strings.Join(keys, " "), "large")
}
