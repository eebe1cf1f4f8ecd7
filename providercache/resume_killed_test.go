package providercache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// installFromWeb is the program that is killed. Its last argument is the archive's checksum.
func installFromWeb() {
	at, err := url.Parse(os.Args[1])
	sum, sumErr := hex.DecodeString(os.Args[5])
	in, _ := ofArguments(getproviders.HTTPArchive{URL: at}, expected(sum))
	if err = errors.Join(err, sumErr); err == nil {
		_, _, err = in.Install(context.Background(), widgets, nil, providercache.Normal)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// paced serves an archive in small pieces. It is never ahead of what has been written to a
// file by more than a given number of bytes, like a network that is slower than a disk.
type paced struct {
	archive []byte
	written string
	ahead   int64
	sent    atomic.Int64 // of all answers
}

func (p *paced) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Etag", `"archive"`)
	answer := &pacedWriter{ResponseWriter: w, req: req, of: p}
	_, _ = fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-", &answer.at)
	http.ServeContent(answer, req, "", time.Time{}, bytes.NewReader(p.archive))
}

type pacedWriter struct {
	http.ResponseWriter
	req *http.Request
	of  *paced
	at  int64 // how much of the archive the client has with this answer
}

func (w *pacedWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		m, err := w.ResponseWriter.Write(b[n:min(n+64<<10, len(b))])
		n += m
		if err == nil {
			err = http.NewResponseController(w.ResponseWriter).Flush()
		}
		if err != nil {
			return n, err
		}
		w.at += int64(m)
		w.of.sent.Add(int64(m))
		for w.req.Context().Err() == nil && w.at-w.size() > w.of.ahead {
			time.Sleep(time.Millisecond)
		}
	}
	return n, nil
}

func (w *pacedWriter) size() int64 {
	info, err := os.Stat(w.of.written)
	if err != nil {
		return 0
	}
	return info.Size()
}

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
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Plain: true, Handler: p}))(t)
	t.Cleanup(server.Close)
	run := func() (*exec.Cmd, *bytes.Buffer) {
		said := new(bytes.Buffer)
		cmd := exec.CommandContext(t.Context(), os.Args[0], server.BaseURL()+"/widget.zip", in.Target.Dir, in.Cache.Dir, "", hex.EncodeToString(sum[:]))
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
	succeed(t, cmd.Wait(), said)
	twice := p.sent.Load() - int64(len(p.archive))
	if most := int64(kills * (ahead + 64<<10)); twice > most || twice > int64(len(p.archive)/20) {
		t.Errorf("%d bytes of %d were sent twice, over %d kills", twice, len(p.archive), kills)
	}
	noStages(t, in.Target.Dir, in.Cache.Dir)
	must.Equal(t, read(t, widgetIn(in.Target.Dir)) == noise(size), true, "it isn't what was sent")
}
