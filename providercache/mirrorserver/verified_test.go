package mirrorserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// TestHandler_VerifiesBeforeItStores has a registry lie about each thing by which an archive is authenticated. No
// client takes the archive for a whole one, and nothing of it is kept; what the registry had right before is served on.
func TestHandler_VerifiesBeforeItStores(t *testing.T) {
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
			m := newMirroring(t)
			m.add("large", "1.0.0")
			content := contentOf("large", "1.0.0", linux)
			server := m.start()
			server.found(archive)
			server.settle()
			m.registry.Break(lie.kind, lie.fault)
			for range 2 {
				if got := server.get(large); got.StatusCode == http.StatusOK && got.err == nil || bytes.HasSuffix(got.body, content[len(content)-22:]) {
					t.Errorf("the client has %d bytes, %s, %v", len(got.body), got.Status, got.err)
				}
				server.settle()
			}
			keys := m.keys(".zip")
			must.Len(t, keys, 1)
			must.Contain(t, keys[0], "/acme/widget/")
			server.found(archive)
		})
	}
}

// TestHandler_BreaksOffWhatTurnsOutWrong: clients get bytes before the archive is
// complete, so only the end of the response can show that they were wrong.
func TestHandler_BreaksOffWhatTurnsOutWrong(t *testing.T) {
	m := newMirroring(t)
	m.add("large", "1.0.0")
	content := contentOf("large", "1.0.0", linux)
	server := m.start()
	m.registry.Break("archive", providertest.Fault{Body: func(b []byte) []byte { return slices.Concat(b[:1000], []byte{b[1000] ^ 1}, b[1001:]) }})
	got := server.get(large)
	server.settle()
	broken, failed := server.stat(`failures_total{kind="broken_off"}`), server.stat(`failures_total{kind="failed"}`)
	if got.StatusCode == http.StatusOK && (got.err == nil || got.ContentLength != int64(len(content)) || broken != 1) || broken+failed != 1 {
		t.Errorf("%s, %d of %d bytes, %v; %+v", got.Status, len(got.body), len(content), got.err, server.Stats())
	}
	must.Equal(t, server.stat("verify_failures_total"), 1)
	m.registry.Break("archive", providertest.Fault{})
	must.EqualSlices(t, server.found(large).body, content, "the archive isn't served although the registry has it again")
}

// TestHandler_SendsNothingOfWhatIsNoArchive: a registry can make the server
// request any address as an archive, and nobody may read what is there.
func TestHandler_SendsNothingOfWhatIsNoArchive(t *testing.T) {
	const secret = "AccessKeyId"
	for name, body := range map[string]string{
		"a document":                   `{"` + secret + `": "` + strings.Repeat("x", 100_000) + `"}`,
		"the beginning of a signature": "PK" + secret + strings.Repeat("x", 100_000),
		"another file of PKWARE":       "PK\x01\x02" + secret + strings.Repeat("x", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirroring(t)
			server := m.start()
			m.registry.Break("archive", providertest.Fault{Body: func([]byte) []byte { return []byte(body) }})
			for _, headers := range [][]string{nil, {"Range: bytes=0-99"}} {
				said := string(server.status(archive, http.StatusBadGateway, headers...).body)
				must.NotContain(t, said, secret)
				must.Contain(t, said, "errors")
			}
		})
	}
}

// TestHandler_SendsNoPartBeforeTheArchiveIsVerified: a part is a complete
// response, which can't show that the archive turned out wrong.
func TestHandler_SendsNoPartBeforeTheArchiveIsVerified(t *testing.T) {
	for _, asked := range []string{"bytes=0-0", "bytes=100-", "bytes=-2000", "bytes=0-150000"} {
		for _, ending := range []string{"right", "wrong"} {
			t.Run(asked+" "+ending, func(t *testing.T) {
				m := newMirroring(t)
				server, content, feed := m.serveLarge()
				got := server.asking(large, "Range: "+asked)
				must.Get(feed.Write(content[:len(content)-10]))(t)
				want, last := http.StatusPartialContent, slices.Clone(content[len(content)-10:])
				if ending == "wrong" {
					want, last[0] = http.StatusBadGateway, last[0]^1
				}
				must.Get(feed.Write(last))(t)
				feed.Close()
				part := <-got
				must.Equal(t, part.StatusCode, want)
				must.Equal(t, part.err, nil)
			})
		}
	}
}

// TestHandler_VerifiesAtTheFirstUse damages an archive of the bucket. A server that hasn't read it before notices, whether all of it
// is asked for or a part, sends nobody all of its bytes, and has it downloaded again for the next client.
func TestHandler_VerifiesAtTheFirstUse(t *testing.T) {
	content := contentOf("widget", "1.0.0", linux)
	for name, damaged := range map[string][]byte{
		"a byte":   append(append(bytes.Clone(content[:5000]), content[5000]^1), content[5001:]...),
		"its end":  content[:len(content)-1],
		"all":      {},
		"too long": append(bytes.Clone(content), 'x'),
	} {
		for _, headers := range [][]string{nil, {"Range: bytes=100-"}} {
			t.Run(fmt.Sprint(name, headers), func(t *testing.T) {
				m := newMirroring(t)
				server := m.start()
				server.found(archive)
				server.settle()
				server.found(archive)
				key := m.keys(".zip")[0]
				must.Get(m.bucket.Put(t.Context(), key, blob.Bytes(damaged), blob.PutOptions{}))(t)
				server = m.start()
				before := m.registry.Requests("archive")
				first := server.get(archive, headers...)
				want := content[len(content)-len(first.body):]
				if (first.err == nil && first.StatusCode < 300 || bytes.HasSuffix(first.body, content[len(content)-22:])) && !bytes.Equal(first.body, want) {
					t.Errorf("the client has %d bytes, %s, %v", len(first.body), first.Status, first.err)
				}
				must.Equal(t, string(server.found(archive).body), string(content))
				server.settle()
				must.Equal(t, server.stat("damaged_total"), 1)
				must.Equal(t, m.registry.Requests("archive"), before+1)
				stored, _, err := blob.ReadAll(t.Context(), m.bucket, key, 1<<20)
				must.Succeed(t, err)
				must.Equal(t, string(stored), string(content))
			})
		}
	}
}
