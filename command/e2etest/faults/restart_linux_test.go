package faults

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// restartDrain is how long a replica still answers after /readyz fails.
const restartDrain = 3 * time.Second

// balancer forwards requests to the replicas that were ready at the last check. It retries a request only if
// the last check is older than restartDrain, which happens on a busy machine.
type balancer struct {
	to    []*httputil.ReverseProxy
	ready []atomic.Bool
	asked []atomic.Int64 // when the last successful check of each replica was sent, in nanoseconds
	next  atomic.Int64
	lost  atomic.Int64
}

func newBalancer(t *testing.T, addresses []string) *balancer {
	b := &balancer{ready: make([]atomic.Bool, len(addresses)), asked: make([]atomic.Int64, len(addresses))}
	for i, address := range addresses {
		proxy := httputil.NewSingleHostReverseProxy(must.Get(url.Parse("http://" + address))(t))
		proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 100}
		proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, err error) {
			age := time.Since(time.Unix(0, b.asked[i].Load()))
			t.Logf("replica %d, %s, ready %v ago: %v", i, r.URL.Path, age, err)
			if age > restartDrain {
				b.ready[i].Store(false)
				b.ServeHTTP(w, r)
				return
			}
			b.lost.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		}
		b.to = append(b.to, proxy)
	}
	return b
}

// ask checks which replicas are ready.
func (b *balancer) ask(addresses []string) {
	for i, address := range addresses {
		sent := time.Now().UnixNano()
		resp, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			resp.Body.Close()
		}
		ready := err == nil && resp.StatusCode == http.StatusOK
		if ready {
			b.asked[i].Store(sent)
		}
		b.ready[i].Store(ready)
	}
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first := b.next.Add(1)
	for n := range b.to {
		if i := (first + int64(n)) % int64(len(b.to)); b.ready[i].Load() {
			b.to[i].ServeHTTP(w, r)
			return
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// TestServe_RestartsWithoutALostRequest restarts both replicas one after the other, by SIGTERM, while 200 requests a second, or 50
// in a shorter run, come through a balancer that checks /readyz and never retries, and through nginx as the recipe configures it, without
// health checks.
func TestServe_RestartsWithoutALostRequest(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	t.Run("balancer", func(t *testing.T) {
		t.Parallel()
		restartReplicas(t, func(_ []string, b *balancer) string {
			front := httptest.NewServer(b)
			t.Cleanup(front.Close)
			return front.URL
		})
	})
	t.Run("nginx", func(t *testing.T) {
		t.Parallel()
		restartReplicas(t, func(addresses []string, _ *balancer) string {
			recipe := harness.ReadText(t, "../../../docs/fleet/nginx.conf")
			servers := regexp.MustCompile(`.*ssl_certificate.*\n`).ReplaceAllString(recipe, "")
			servers = strings.NewReplacer("listen 8443 ssl", "listen ADDRESS", "server serve:8080", "server "+strings.Join(addresses, " max_fails=0; server ")).Replace(servers)
			address, _ := harness.StartNginx(t, servers, nil)
			return "http://" + address
		})
	})
}

// restartReplicas does so with two replicas behind the balancer that start starts, which returns its URL.
func restartReplicas(t *testing.T, start func(addresses []string, b *balancer) (url string)) {
	r, archives := newReplicas(t, 2)
	r.options = []string{"-drain=" + restartDrain.String()} // the balancer checks many times meanwhile
	r.startAll(t)
	b := newBalancer(t, r.address)
	b.ask(r.address)
	front := start(r.address, b)
	done := make(chan struct{})
	var all, clients sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				b.ask(r.address)
			}
		}
	})
	paths := make([]string, 0, len(archives))
	for path := range archives {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	var asked, failed atomic.Int64
	all.Go(func() {
		tick := time.NewTicker(map[bool]time.Duration{false: 20, true: 5}[peertest.All()] * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			clients.Go(func() {
				path := paths[n%len(paths)]
				want := archives[path]
				if n%10 != 0 { // one of ten downloads an archive of a megabyte
					path, want = documentOf(path), nil
				}
				asked.Add(1)
				if err := getFrom(client, front+path, want); err != nil {
					failed.Add(1)
					t.Logf("%s: %v", path, err)
				}
			})
		}
	})
	for asked.Load() < 50 {
		time.Sleep(10 * time.Millisecond)
	}
	for i := range r.address {
		told := time.Now()
		must.Succeed(t, r.running[i].Process.Signal(syscall.SIGTERM))
		resp, err := http.Get("http://" + r.address[i] + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		if (err != nil || resp.StatusCode != http.StatusOK) && time.Since(told) < restartDrain {
			t.Errorf("a replica that ends isn't healthy: %v", err)
		}
		if err := r.running[i].Wait(); err != nil {
			t.Errorf("replica %d: %v", i, err)
		}
		r.start(t, i)
		for !b.ready[i].Load() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	close(done)
	all.Wait()
	clients.Wait()
	t.Logf("%d requests", asked.Load())
	if failed.Load() > 0 || b.lost.Load() > 0 {
		t.Errorf("of %d requests %d failed", asked.Load(), failed.Load())
	}
}
