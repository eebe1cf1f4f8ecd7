package mirrorserver_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// TestHandler_VerifiesBeforeItStores has a registry lie about each thing by which an archive is authenticated. No
// client takes the archive for a whole one, and nothing of it is kept; what the registry had right before is served on.
func TestHandler_VerifiesBeforeItStores(t *testing.T) {
	t.Parallel()
	lastByte := func(b []byte) []byte { return append(b[:len(b)-1:len(b)-1], b[len(b)-1]^1) }
	for name, lie := range map[string]struct {
		kind  string
		fault providertest.Fault
	}{
		"a byte of the archive":         {"archive", providertest.Fault{Body: lastByte}},
		"the end of the archive":        {"archive", providertest.Fault{Body: func(b []byte) []byte { return b[:len(b)-5] }}},
		"more behind the archive":       {"archive", providertest.Fault{Body: func(b []byte) []byte { return append(b, "more"...) }}},
		"a page in the archive's place": {"archive", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>Log in</html>") }}},
		"a checksum of the list": {"sums", providertest.Fault{Body: func(b []byte) []byte {
			return bytes.Replace(b, b[:8], []byte("00000000"), 1)
		}}},
		"the signature of the list": {"signature", providertest.Fault{Body: lastByte}},
		"no signature":              {"signature", providertest.Fault{Body: func([]byte) []byte { return nil }}},
		"the archive's checksum in the description": {"package", providertest.Fault{Body: func(b []byte) []byte {
			at := bytes.Index(b, []byte(`"shasum":"`)) + len(`"shasum":"`)
			return bytes.Replace(b, b[at:at+64], []byte(strings.Repeat("0", 64)), 1)
		}}},
		"another key": {"package", providertest.Fault{Body: func(b []byte) []byte {
			return bytes.Replace(b, []byte("BEGIN PGP"), []byte("BEGIN PG"), 1)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMirroring(t)
			m.add("large", "1.0.0")
			content := contentOf("large", "1.0.0", linux)
			server, front := m.serve(t, m.source())
			status(t, front, archive, http.StatusOK)
			settle(t, server)
			m.registry.Break(lie.kind, lie.fault)
			for range 2 {
				if resp, err := front.Client().Get(front.URL + large); err == nil { // there may be no status, either
					body, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if resp.StatusCode == http.StatusOK && err == nil || bytes.HasSuffix(body, content[len(content)-22:]) {
						t.Errorf("the client has %d bytes, %s, %v", len(body), resp.Status, err)
					}
				}
				settle(t, server)
			}
			if keys := keysIn(t, m.bucket, ".zip"); len(keys) != 1 || !strings.Contains(keys[0], "/acme/widget/") {
				t.Errorf("stored: %q", keys)
			}
			status(t, front, archive, http.StatusOK)
		})
	}
}

// TestHandler_SaysWhatIsWrongWithASmallArchive: of a page in an archive's place nothing was sent yet, so that the client is told.
func TestHandler_SaysWhatIsWrongWithASmallArchive(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	_, front := m.serve(t, m.source())
	m.registry.Break("archive", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>Log in</html>") }})
	if got := status(t, front, archive, http.StatusBadGateway); !strings.Contains(string(got.body), "errors") || len(got.body) < 40 {
		t.Errorf("%s", got.body)
	}
}

// TestHandler_BreaksOffWhatTurnsOutWrong: the bytes of an archive go to the client before all of them are there, so
// that the end of the response is what says that they were wrong.
func TestHandler_BreaksOffWhatTurnsOutWrong(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	m.add("large", "1.0.0")
	content := contentOf("large", "1.0.0", linux)
	server, front := m.serve(t, m.source())
	m.registry.Break("archive", providertest.Fault{Body: func(b []byte) []byte { return append([]byte{b[0] ^ 1}, b[1:]...) }})
	got := get(t, front, http.MethodGet, large)
	settle(t, server)
	stats := server.Stats()
	if got.StatusCode == http.StatusOK && (got.err == nil || got.ContentLength != int64(len(content)) || stats.Broken != 1) || stats.Broken+stats.Failed != 1 {
		t.Errorf("%s, %d of %d bytes, %v; %+v", got.Status, len(got.body), len(content), got.err, stats)
	}
}
