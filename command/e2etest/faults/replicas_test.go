package faults

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// replicas are servers of one bucket, which are killed and started again.
type replicas struct {
	program  string
	env      []string
	bucket   string
	address  []string
	running  []*exec.Cmd
	registry *providertest.Registry
	options  []string

	// retrying is held by clients while they retry, so that no server is killed meanwhile. They
	// ask a running server, as behind a balancer: down is the server that doesn't run, or -1.
	retrying sync.RWMutex
	down     int
}

// start starts a server, and returns when it is ready.
func (r *replicas) start(t *testing.T, number int) {
	t.Helper()
	for range 20 { // the address may not be free at once
		cmd := exec.Command(r.program, slices.Concat([]string{"serve", "-listen=" + r.address[number]}, r.options, []string{r.bucket})...)
		cmd.Env = r.env
		if _, err := harness.Serve(cmd); err == nil {
			r.running[number] = cmd
			return
		}
		_ = cmd.Wait()
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no server starts at %s", r.address[number])
}

// newReplicas starts a registry of ten archives, and returns these by their paths on the servers.
func newReplicas(t *testing.T, servers int) (r *replicas, archives map[string][]byte) {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	archives = map[string][]byte{}
	plat := getproviders.CurrentPlatform()
	for i := range 10 {
		content := make([]byte, 1<<20)
		rand.NewChaCha8([32]byte{byte(i)}).Read(content)
		name := fmt.Sprint("p", i)
		archive := harness.ZipOf(t, []harness.ZipEntry{{Name: "terraform-provider-" + name, Mode: 0o755, Stored: true, Content: string(content)}})
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Platform: plat, Archive: archive})
		archives["/mirror/registry.terraform.io/acme/"+name+"/terraform-provider-"+name+"_1.0.0_"+plat.String()+".zip"] = archive
	}
	r = &replicas{down: -1, registry: registry, address: make([]string, servers), running: make([]*exec.Cmd, servers), program: harness.Tfdeps(t), bucket: t.TempDir(), env: append(harness.Redirect(t, registry, "registry.terraform.io"), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())}
	return r, archives
}

// startAll starts both, until the test ends.
func (r *replicas) startAll(t *testing.T) {
	t.Helper()
	for i := range r.address {
		listener, err := net.Listen("tcp", "127.0.0.2:0") // Linux takes no ports of clients from this address
		if err != nil {
			listener = must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		}
		r.address[i] = listener.Addr().String()
		listener.Close()
	}
	for i := range r.address {
		r.start(t, i)
		t.Cleanup(func() { r.kill(i) })
	}
}

func (r *replicas) kill(number int) {
	_ = r.running[number].Process.Kill()
	_ = r.running[number].Wait()
}

// killedInTurn kills one server after the other at random moments until the context ends, and
// removes archives from the bucket.
func (r *replicas) killedInTurn(ctx context.Context, t *testing.T) (kills int) {
	for ctx.Err() == nil {
		time.Sleep(rand.N(150 * time.Millisecond))
		if archives := archivesIn(t, r.bucket); len(archives) > 0 && rand.N(2) == 0 {
			_ = os.Remove(archives[rand.N(len(archives))])
		}
		number := rand.N(2)
		r.retrying.Lock()
		r.kill(number)
		_ = os.RemoveAll(filepath.Join(r.bucket, "serve/downloads")) // as if the leases of both servers had expired
		r.down = number
		r.retrying.Unlock()
		kills++
		r.start(t, number)
		r.retrying.Lock()
		r.down = -1
		r.retrying.Unlock()
	}
	return kills
}

func archivesIn(t *testing.T, bucket string) []string {
	return filesWith(t, bucket, func(path string) bool { return strings.HasSuffix(path, ".zip") && !strings.Contains(path, "/.tfdeps-") })
}

// filesWith lists the paths below a directory for which wanted is true. Other processes may remove some meanwhile.
func filesWith(t *testing.T, dir string, wanted func(path string) bool) (paths []string) {
	must.Succeed(t, patient.Try(func() error { // on Windows a directory that is being removed can't be listed
		paths = nil
		return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && wanted(path) {
				paths = append(paths, path)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
	}))
	return paths
}

// get downloads an archive from one of the servers, and retries with the other one if that fails.
func (r *replicas) get(client *http.Client, path string, want []byte) error {
	first := rand.N(2)
	err := getFrom(client, "http://"+r.address[first]+path, want)
	if err == nil {
		return nil
	}
	r.retrying.RLock()
	defer r.retrying.RUnlock()
	second := 1 - first
	if r.down == second {
		second = first
	}
	if again := getFrom(client, "http://"+r.address[second]+path, want); again != nil {
		return fmt.Errorf("%s: first %w, then %w", path, err, again)
	}
	return nil
}

// documentOf is the path of the document about the archive at a path.
func documentOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] + "1.0.0.json" }

var errOther = errors.New("other bytes, in an answer that is complete")

func getFrom(client *http.Client, url string, want []byte) error {
	body, err := fetch(client, url)
	if err == nil && want != nil && !bytes.Equal(body, want) {
		return errOther
	}
	return err
}

func fetch(client *http.Client, url string) ([]byte, error) {
	resp, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", resp.Status, body)
	}
	return body, err
}

// TestServe_ReplicasAreKilled has clients of two servers of one bucket, which are killed at random
// times for some seconds, or for TFDEPS_TEST_REPLICAS: no client fails that retries
// once, and the bucket has no stray objects at the end.
func TestServe_ReplicasAreKilled(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	length := 2 * time.Second
	if given := os.Getenv("TFDEPS_TEST_REPLICAS"); given != "" {
		length = must.Get(time.ParseDuration(given))(t)
	}
	r, archives := newReplicas(t, 2)
	r.startAll(t)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var clients sync.WaitGroup
	asked := make([]int, 4)
	for c := range asked {
		clients.Go(func() {
			client := &http.Client{Transport: new(http.Transport)}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				for path, want := range archives { // in any order
					if err := errors.Join(r.get(client, documentOf(path), nil), r.get(client, path, want)); err != nil {
						t.Error(err)
					}
					asked[c]++
				}
			}
		})
	}
	kills := r.killedInTurn(ctx, t)
	clients.Wait()
	for _, path := range archivesIn(t, r.bucket) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(content)
		must.Equal(t, strings.Split(filepath.Base(path), ".")[1], hex.EncodeToString(sum[:]))
	}
	t.Logf("%d kills, %v archives were taken", kills, asked)
	if kills == 0 || asked[0] == 0 {
		t.Error("nothing happened")
	}
}
