package faults

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestServe_FleetOnThreeReplicas has fifteen clients, a hundred in a full run, or TFDEPS_TEST_FLEET, which download ten archives each from three servers of
// one bucket, while the registry is slow, fails and sends wrong bytes, one server is killed and one restarted. Each client gets all
// archives, each good archive is stored and not requested again, inits with a lock file pass while the registry is down, and no server needs more than 150 MiB.
func TestServe_FleetOnThreeReplicas(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	number := peertest.Rounds(15, 100)
	if given := os.Getenv("TFDEPS_TEST_FLEET"); given != "" {
		number = must.Get(strconv.Atoi(given))(t)
	}
	r, archives := newReplicas(t, 3)
	r.options = []string{"-drain=100ms"}
	r.startAll(t)
	r.registry.Break("archive", providertest.Fault{Rate: 1 << 20})
	r.registry.Break("archive", providertest.Fault{Path: "provider-p1_", Times: 2, Status: http.StatusServiceUnavailable})
	r.registry.Break("archive", providertest.Fault{Path: "provider-p2_", Times: 1, Body: func(b []byte) []byte {
		b = append([]byte(nil), b...)
		b[len(b)/2] ^= 1
		return b
	}})
	const faults = 3
	var clients sync.WaitGroup
	var again, wrong atomic.Int64
	transport := &http.Transport{MaxConnsPerHost: 200, MaxIdleConnsPerHost: 200}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for range number {
		clients.Go(func() {
			for path, want := range archives { // in any order
				for t.Context().Err() == nil { // retries, as clients do
					from := "http://" + r.address[rand.N(len(r.address))]
					err := errors.Join(getFrom(client, from+documentOf(path), nil), getFrom(client, from+path, want))
					if err == nil {
						break
					}
					if errors.Is(err, errOther) {
						wrong.Add(1)
					}
					again.Add(1)
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	for r.registry.Requests("archive") < 5 {
		time.Sleep(time.Millisecond)
	}
	begun := int(r.registry.Requests("archive"))
	memory := func(replica *exec.Cmd) int64 { return harness.PeakMemory(replica.Process.Pid) >> 20 }
	peaks := []int64{memory(r.running[0]), memory(r.running[1])}
	r.kill(0) // while it downloads
	must.Succeed(t, harness.End(r.running[1]))
	r.start(t, 1)
	r.start(t, 0)
	clients.Wait()
	for _, replica := range r.running {
		peaks = append(peaks, memory(replica))
	}
	t.Logf("the most memory of the servers, of the first two before they ended, in MiB: %d", peaks)
	if slices.Max(peaks) > 150 || slices.Min(peaks) == 0 && runtime.GOOS == "linux" {
		t.Error("a server took more than 150 MiB, or it isn't known")
	}
	asked := int(r.registry.Requests("archive"))
	t.Logf("%d clients repeated %d requests; the registry was asked for %d archives, %d of them when a server was killed", number, again.Load(), asked, begun)
	if most := len(archives) + faults + begun; asked > most {
		t.Errorf("the registry was asked for archives %d times, want at most %d", asked, most)
	}
	dir := harness.WorkDir(t, harness.LockConfig("p0", "", "p9", ""))
	initBy := func(replica int) {
		must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
		harness.Run(t, dir, append(slices.Clone(r.env), "HOME="+t.TempDir()), r.program, "init", "-mirror=http://"+r.address[replica]+"/mirror/")
	}
	initBy(0) // for the lock file
	harness.TakeDown(r.registry)
	for replica := range r.address {
		initBy(replica)
	}
	if wrong.Load() > 0 || len(archivesIn(t, r.bucket)) != len(archives) {
		t.Errorf("%d answers were wrong, %d archives are stored", wrong.Load(), len(archivesIn(t, r.bucket)))
	}
}
