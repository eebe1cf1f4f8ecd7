package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
)

// TestDownload_TakesWhatAnEarlierRunLeft starts with a partial file as large as an archive may be:
// that is the whole archive, and nothing is requested. A file with one byte more is no archive.
func TestDownload_TakesWhatAnEarlierRunLeft(t *testing.T) {
	for left, requests := range map[string]int{"archive": 0, "archive+": 1} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			io.WriteString(w, "archive")
		}))
		at := must.Get(url.Parse(server.URL + "/a.zip"))(t)
		dir := t.TempDir()
		sum := sha256.Sum256([]byte("archive"))
		must.Succeed(t, os.WriteFile(filepath.Join(dir, hex.EncodeToString(sum[:])), []byte(left), 0o600))
		received, err := Download(t.Context(), Request{
			Opening:  Opening{Location: getproviders.HTTPArchive{URL: at}, Known: true},
			Expected: sum, Limit: int64(len("archive")), PartialDir: dir, Path: filepath.Join(t.TempDir(), "archive"), Now: time.Now,
			Received: func() {}, Restart: func() error { return nil },
			Follow: func(ctx context.Context, _ io.ReaderAt, mark *par.Mark, _ int64) { _, _ = mark.Beyond(ctx, 1<<40) },
		})
		server.Close()
		if err != nil || received.SHA256 != sum || received.Size != 7 || asked != requests {
			t.Errorf("%q: %d bytes with %d requests, want 7 with %d: %v", left, received.Size, asked, requests, err)
		}
		received.Discard()
	}
}
