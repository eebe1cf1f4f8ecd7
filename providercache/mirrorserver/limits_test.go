package mirrorserver_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// TestHandler_BoundsTheArchivesThatWait has one download run, one wait and a third refused; clients of the first two
// may still join them, and when they have ended, the third one is possible.
func TestHandler_BoundsTheArchivesThatWait(t *testing.T) {
	m := newMirroring(t)
	m.limits.Downloads, m.opts.Waiting = 1, 1
	paths := []string{archive}
	for _, name := range []string{"gadget", "gizmo"} {
		m.add(name, "1.0.0")
		paths = append(paths, archiveOf(name))
	}
	known := m.start()
	for _, path := range paths {
		known.found(path[:strings.LastIndex(path, "/")] + "/1.0.0.json") // the descriptions come from the bucket then
	}
	known.Close()
	source := newStalled(m.source(), "", nil)
	server := m.serve(source)
	first, second := server.asking(paths[0]), server.asking(paths[1])
	<-source.asked
	await(t, func() bool { return server.stat("downloads_running") >= 2 })
	server.busy(paths[2], "too much to do")
	must.Equal(t, server.stat(`limited_total{limit="downloads"}`), 1)
	joined := server.asking(paths[0])
	await(t, func() bool { return server.stat("coalesced_total") > 0 })
	close(source.let)
	for _, all := range []<-chan answered{first, second, joined} {
		got := <-all
		must.Equal(t, got.StatusCode, http.StatusOK)
		must.Equal(t, got.err, nil)
	}
	server.settle()
	server.found(paths[2])
}

// TestHandler_BoundsTheRequestsThatRun has one request wait for the source, and a second one refused meanwhile.
func TestHandler_BoundsTheRequestsThatRun(t *testing.T) {
	m := newMirroring(t)
	m.opts.Requests = 1
	source := newStalled(m.source(), providertest.Host, nil)
	server := m.serve(source)
	first := server.asking(dir + "index.json")
	<-source.asked
	server.status(dir+"index.json", http.StatusServiceUnavailable)
	server.status("/nonsense", http.StatusServiceUnavailable)
	must.Equal(t, server.stat(`limited_total{limit="requests"}`), 2)
	close(source.let)
	must.Equal(t, (<-first).StatusCode, http.StatusOK)
	await(t, func() bool { return server.get(dir+"index.json").StatusCode == http.StatusOK }) // the client has the answer before the request has ended
}

// TestHandler_RefusesWhatTakesTooMuchMemory has a registry's list, and later the same list in the bucket, take more memory
// than the server may use: the client is told to come again, and the next provider is served.
func TestHandler_RefusesWhatTakesTooMuchMemory(t *testing.T) {
	m := newMirroring(t)
	m.add("gadget", "1.0.0")
	m.opts.MemoryBytes = 1 << 20
	list := `{"versions":[{"version":"1.0.0"}` + strings.Repeat(`,{"version":"1.0.0"}`, 5000) + `]}`
	m.registry.Break("versions", providertest.Fault{Path: "widget", Body: func([]byte) []byte { return []byte(list) }})
	server := m.serve(m.source())
	for range 2 {
		for _, path := range []string{dir + "index.json", dir + "versions"} {
			server.busy(path, "too much to do")
		}
		server.status(host+"acme/gadget/index.json", http.StatusOK)
	}
	must.Equal(t, m.registry.Requests("versions"), 5) // the refused requests ask again each time, and not several times
	m.registry.Break("versions", providertest.Fault{Path: "widget"})
	server.status(dir+"index.json", http.StatusOK)
	record := `{"asked":"2999-01-01T00:00:00Z","value":{"versions":["1.0.0"` + strings.Repeat(`,"1.0.0"`, 5000) + `]}}`
	must.Get(m.bucket.Put(t.Context(), "providers"+dir+"versions.json", blob.Bytes([]byte(record)), blob.PutOptions{}))(t)
	other := m.serve(m.source())
	other.status(dir+"index.json", http.StatusServiceUnavailable)
	other.status(host+"acme/gadget/index.json", http.StatusOK)
}

// TestHandler_BoundsDownloads: with one download at once, or one of a host, a second one waits until the first one has ended.
func TestHandler_BoundsDownloads(t *testing.T) {
	for what, limits := range map[string]providercache.Limits{"in all": {Downloads: 1, PerHost: 4}, "of one host": {Downloads: 4, PerHost: 1}} {
		t.Run(what, func(t *testing.T) { oneDownload(t, limits) })
	}
}

func oneDownload(t *testing.T, limits providercache.Limits) {
	m := newMirroring(t)
	m.limits = limits
	server, content, feed := m.serveLarge()
	first := server.asking(large)
	must.Get(feed.Write(content[:1000]))(t)
	last := server.asking(strings.Replace(large, "linux_amd64", "darwin_arm64", 1))
	await(t, func() bool { return server.stat("downloads_running") >= 2 })
	time.Sleep(50 * time.Millisecond) // in which the second one would begin
	must.Equal(t, server.stat("downloads_total"), 1)
	must.Get(feed.Write(content[1000:]))(t)
	feed.Close()
	got := <-first
	must.Equal(t, got.StatusCode, http.StatusOK)
	must.Equal(t, got.err, nil)
	<-last // nothing is left at its source
	server.settle()
	must.Equal(t, server.stat("downloads_total"), 2)
}

// TestHandler_StoresAFewAtOnce: an archive keeps its download slot until it is stored, and the next one has
// no file before. Otherwise a bucket that is slower than the sources would let the disk fill up.
func TestHandler_StoresAFewAtOnce(t *testing.T) {
	m := newMirroring(t)
	m.limits.Downloads = 1
	held := holding(m.bucket, "/archives/")
	m.bucket = held
	server := m.start()
	server.found(archive)
	<-held.begun
	last := server.asking(strings.Replace(archive, "linux_amd64", "darwin_arm64", 1))
	await(t, func() bool { return server.stat("downloads_running") >= 2 })
	time.Sleep(50 * time.Millisecond) // in which the second one would begin
	must.Len(t, must.Get(os.ReadDir(m.opts.Temporary))(t), 1)
	must.Equal(t, m.registry.Requests("archive"), 1)
	close(held.release)
	must.Equal(t, (<-last).StatusCode, http.StatusOK)
	server.settle()
	must.Len(t, m.keys("/archives/"), 2)
}

// TestHandler_BoundsTheDisk has an archive refused that doesn't fit beside one that arrives, until that one has arrived.
func TestHandler_BoundsTheDisk(t *testing.T) {
	m := newMirroring(t)
	m.opts.DiskBytes = 215_000
	server, _, feed := m.serveLarge()
	all := server.asking(large)
	await(t, func() bool { return server.stat("arriving_bytes") > 0 })
	server.busy(archive, "as much of the disk as they may")
	must.Equal(t, server.stat(`limited_total{limit="disk"}`), 1)
	feed.Write(contentOf("large", "1.0.0", linux))
	feed.Close()
	must.Equal(t, (<-all).err, nil)
	await(t, func() bool { return server.stat("arriving_bytes") == 0 })
}
