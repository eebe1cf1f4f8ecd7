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
	known, front := m.start(t)
	for _, path := range paths {
		found(t, front, path[:strings.LastIndex(path, "/")]+"/1.0.0.json") // the descriptions come from the bucket then
	}
	known.Close()
	source := newStalled(m.source(), "", nil)
	server, front := m.serve(t, source)
	first, second := asking(t, front, paths[0]), asking(t, front, paths[1])
	<-source.asked
	await(t, func() bool { return stat(server, "downloads_running") >= 2 })
	busy(t, front, paths[2], "too much to do")
	must.Equal(t, stat(server, `limited_total{limit="downloads"}`), 1)
	joined := asking(t, front, paths[0])
	await(t, func() bool { return stat(server, "coalesced_total") > 0 })
	close(source.let)
	for _, all := range []<-chan answered{first, second, joined} {
		got := <-all
		must.Equal(t, got.StatusCode, http.StatusOK)
		must.Equal(t, got.err, nil)
	}
	settle(t, server)
	found(t, front, paths[2])
}

// TestHandler_BoundsTheRequestsThatRun has one request wait for the source, and a second one refused meanwhile.
func TestHandler_BoundsTheRequestsThatRun(t *testing.T) {
	m := newMirroring(t)
	m.opts.Requests = 1
	source := newStalled(m.source(), providertest.Host, nil)
	server, front := m.serve(t, source)
	first := asking(t, front, dir+"index.json")
	<-source.asked
	status(t, front, dir+"index.json", http.StatusServiceUnavailable)
	status(t, front, "/nonsense", http.StatusServiceUnavailable)
	must.Equal(t, stat(server, `limited_total{limit="requests"}`), 2)
	close(source.let)
	must.Equal(t, (<-first).StatusCode, http.StatusOK)
	await(t, func() bool { return get(t, front, dir+"index.json").StatusCode == http.StatusOK }) // the client has the answer before the request has ended
}

// TestHandler_RefusesWhatTakesTooMuchMemory has a registry's list, and later the same list in the bucket, take more memory
// than the server may use: the client is told to come again, and the next provider is served.
func TestHandler_RefusesWhatTakesTooMuchMemory(t *testing.T) {
	m := newMirroring(t)
	m.add("gadget", "1.0.0")
	m.opts.MemoryBytes = 1 << 20
	list := `{"versions":[{"version":"1.0.0"}` + strings.Repeat(`,{"version":"1.0.0"}`, 5000) + `]}`
	m.registry.Break("versions", providertest.Fault{Path: "widget", Body: func([]byte) []byte { return []byte(list) }})
	_, front := m.serve(t, m.source())
	for range 2 {
		for _, path := range []string{dir + "index.json", dir + "versions"} {
			busy(t, front, path, "too much to do")
		}
		status(t, front, host+"acme/gadget/index.json", http.StatusOK)
	}
	must.Equal(t, m.registry.Requests("versions"), 5) // the refused requests ask again each time, and not several times
	m.registry.Break("versions", providertest.Fault{Path: "widget"})
	status(t, front, dir+"index.json", http.StatusOK)
	record := `{"asked":"2999-01-01T00:00:00Z","value":{"versions":["1.0.0"` + strings.Repeat(`,"1.0.0"`, 5000) + `]}}`
	must.Get(m.bucket.Put(t.Context(), "providers"+dir+"versions.json", blob.Bytes([]byte(record)), blob.PutOptions{}))(t)
	_, other := m.serve(t, m.source())
	status(t, other, dir+"index.json", http.StatusServiceUnavailable)
	status(t, other, host+"acme/gadget/index.json", http.StatusOK)
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
	server, front, content, feed := m.serveLarge(t)
	first := asking(t, front, large)
	must.Get(feed.Write(content[:1000]))(t)
	last := asking(t, front, strings.Replace(large, "linux_amd64", "darwin_arm64", 1))
	await(t, func() bool { return stat(server, "downloads_running") >= 2 })
	time.Sleep(50 * time.Millisecond) // in which the second one would begin
	must.Equal(t, stat(server, "downloads_total"), 1)
	must.Get(feed.Write(content[1000:]))(t)
	feed.Close()
	got := <-first
	must.Equal(t, got.StatusCode, http.StatusOK)
	must.Equal(t, got.err, nil)
	<-last // nothing is left at its source
	settle(t, server)
	must.Equal(t, stat(server, "downloads_total"), 2)
}

// TestHandler_StoresAFewAtOnce: an archive keeps its place among the downloads until it is stored, and the next one has no file before. Else a
// bucket that is slower than the sources would have the disk filled.
func TestHandler_StoresAFewAtOnce(t *testing.T) {
	m := newMirroring(t)
	m.limits.Downloads = 1
	held := holding(m.bucket, "/archives/")
	m.bucket = held
	server, front := m.start(t)
	found(t, front, archive)
	<-held.begun
	last := asking(t, front, strings.Replace(archive, "linux_amd64", "darwin_arm64", 1))
	await(t, func() bool { return stat(server, "downloads_running") >= 2 })
	time.Sleep(50 * time.Millisecond) // in which the second one would begin
	must.Len(t, must.Get(os.ReadDir(m.opts.Temporary))(t), 1)
	must.Equal(t, m.registry.Requests("archive"), 1)
	close(held.release)
	must.Equal(t, (<-last).StatusCode, http.StatusOK)
	settle(t, server)
	must.Len(t, keysIn(t, m.bucket, "/archives/"), 2)
}

// TestHandler_BoundsTheDisk has an archive refused that doesn't fit beside one that arrives, until that one has arrived.
func TestHandler_BoundsTheDisk(t *testing.T) {
	m := newMirroring(t)
	m.opts.DiskBytes = 215_000
	server, front, _, feed := m.serveLarge(t)
	all := asking(t, front, large)
	await(t, func() bool { return stat(server, "arriving_bytes") > 0 })
	busy(t, front, archive, "as much of the disk as they may")
	must.Equal(t, stat(server, `limited_total{limit="disk"}`), 1)
	feed.Write(contentOf("large", "1.0.0", linux))
	feed.Close()
	must.Equal(t, (<-all).err, nil)
	await(t, func() bool { return stat(server, "arriving_bytes") == 0 })
}
