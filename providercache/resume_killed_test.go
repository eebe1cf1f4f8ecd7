package providercache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// installFromWeb is the program that is killed. Its arguments are the target directory, the cache,
// the archive's URL and the checksum.
func installFromWeb() {
	target, cache, from := os.Args[1], os.Args[2], os.Args[3]
	at, err := url.Parse(from)
	sum, sumErr := hex.DecodeString(os.Args[4])
	if err != nil || sumErr != nil {
		os.Exit(2)
	}
	source := &memorySource{Packages: map[getproviders.Provider]map[getproviders.Version]getproviders.Package{}}
	source.Add("acme/widget", "1.0.0", getproviders.HTTPArchive{URL: at})
	source.Trust("acme/widget", "1.0.0", expected(sum))
	in := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Platform: linux, Product: product},
		Target:  &providercache.Store{Dir: target}, Cache: &providercache.Store{Dir: cache},
	}
	if _, _, err := in.Install(context.Background(), widgets, nil, providercache.Normal); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// paced serves an archive in small pieces. It is never ahead of what has been written to a file by
// more than a given number of bytes, like a network that is slower than a disk.
type paced struct {
	archive []byte
	written string
	ahead   int64
	sent    atomic.Int64
}

func (p *paced) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Etag", `"archive"`)
	http.ServeContent(pacedWriter{w, req, p}, req, "", time.Time{}, bytes.NewReader(p.archive))
}

type pacedWriter struct {
	http.ResponseWriter
	req *http.Request
	of  *paced
}

func (w pacedWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		piece := b[n:min(n+64<<10, len(b))]
		m, err := w.ResponseWriter.Write(piece)
		n += m
		if err == nil {
			err = http.NewResponseController(w.ResponseWriter).Flush()
		}
		if err != nil {
			return n, err
		}
		begun := w.begun() + w.of.count(m, w.req)
		for w.req.Context().Err() == nil && begun-w.size() > w.of.ahead {
			time.Sleep(time.Millisecond)
		}
	}
	return n, nil
}

// begun is where the part begins that an answer has.
func (w pacedWriter) begun() (from int64) {
	_, _ = fmt.Sscanf(w.req.Header.Get("Range"), "bytes=%d-", &from)
	return from
}

func (w pacedWriter) size() int64 {
	info, err := os.Stat(w.of.written)
	if err != nil {
		return 0
	}
	return info.Size()
}

// count adds to the number of bytes sent in all, and returns how many this answer has sent.
func (p *paced) count(n int, req *http.Request) int64 {
	p.sent.Add(int64(n))
	own := req.Context().Value(sentKey{}).(*int64)
	*own += int64(n)
	return *own
}

type sentKey struct{}

// TestResume_AKilledProcessLeavesWhatItReceived kills the program at random moments, and lets the
// next run resume. Only bytes that were on their way, or in a buffer, are sent again.
func TestResume_AKilledProcessLeavesWhatItReceived(t *testing.T) {
	if testing.Short() {
		t.Skip("installs 24 MB, three times")
	}
	t.Parallel()
	_, in, _, _ := newResumable(t)
	const size, kills, ahead = 24 << 20, 2, 512 << 10
	p := &paced{archive: zipOf(t, map[string]string{"terraform-provider-widget": noise(size)}), ahead: ahead}
	sum := sha256.Sum256(p.archive)
	p.written = filepath.Join(in.Cache.Dir, "partial", hex.EncodeToString(sum[:]))
	server, err := providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		p.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), sentKey{}, new(int64))))
	})})
	succeed(t, err)
	t.Cleanup(server.Close)
	run := func() (*exec.Cmd, *bytes.Buffer) {
		said := new(bytes.Buffer)
		cmd := exec.CommandContext(t.Context(), os.Args[0], in.Target.Dir, in.Cache.Dir, server.BaseURL()+"/widget.zip", hex.EncodeToString(sum[:]))
		cmd.Env, cmd.Stderr = append(os.Environ(), dieVariable+"=outside", "NO_PROXY=*"), said
		succeed(t, cmd.Start())
		return cmd, said
	}
	for range kills {
		until := p.sent.Load() + rand.Int64N(int64(len(p.archive)/(kills+1)))
		cmd, said := run()
		for begun := time.Now(); p.sent.Load() <= until; time.Sleep(time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("%d bytes were sent: nobody receives them", p.sent.Load())
			}
		}
		succeed(t, cmd.Process.Kill())
		if _ = cmd.Wait(); said.Len() > 0 {
			t.Fatal(said)
		}
	}
	cmd, said := run()
	must.Succeed(t, cmd.Wait(), said)
	twice := p.sent.Load() - int64(len(p.archive))
	if most := int64(kills * (ahead + 64<<10)); twice > most || twice > int64(len(p.archive)/20) {
		t.Errorf("%d bytes of %d were sent twice, over %d kills", twice, len(p.archive), kills)
	}
	must.Equal(t, stagingDirs(tree(t, in.Target.Dir)), 0)
	installed, err := os.ReadFile(widgetIn(in.Target.Dir))
	if err != nil || string(installed) != noise(size) {
		t.Errorf("it isn't what was sent: %v", err)
	}
	must.Equal(t, stagingDirs(tree(t, in.Cache.Dir)), 0)
}
