package sources

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// tap passes connections on to a service, counts them and what the service sends, and breaks one of them off.
type tap struct {
	address string // 127.0.0.1:PORT
	target  string

	accepted, sent atomic.Int64 // the latter by the service
	cutAfter       atomic.Int64 // so many bytes of one connection; 0: never, or it has happened
}

func newTap(t *testing.T, target string) *tap {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &tap{address: listener.Addr().String(), target: target}
	var running sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.accepted.Add(1)
			running.Go(func() { p.pass(client) })
		}
	})
	return p
}

func (p *tap) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, client)
		server.Close()
	})
	defer up.Wait()
	defer client.Close()
	defer server.Close()
	buffer := make([]byte, 16<<10)
	for received := int64(0); ; {
		n, err := server.Read(buffer)
		received += int64(n)
		p.sent.Add(int64(n))
		if after := p.cutAfter.Load(); after > 0 && received >= after && p.cutAfter.CompareAndSwap(after, 0) {
			return
		}
		if _, failed := client.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

var loopback = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)

// tapped is a kind that is read through a tap.
func tapped(t *testing.T, k kind) (kind, *tap) {
	t.Helper()
	target := loopback.FindString(strings.Join(append([]string{k.mirror}, k.env...), " "))
	p := newTap(t, target)
	through := func(text string) string { return strings.ReplaceAll(text, target, p.address) }
	read := kind{mirror: through(k.mirror), pull: through(k.pull)}
	for _, each := range k.env {
		read.env = append(read.env, through(each))
	}
	return read, p
}

// throughTap publishes packages to a kind of place, and gets them from there through a tap by init and by cache pull, before each of which begin is called, and end afterwards
// with its name, the directory and the environment.
func throughTap(t *testing.T, start func(*testing.T, *providertest.CA) kind, packages []providertest.PackageSpec, begin func(*tap), end func(p *tap, command, dir string, env []string)) {
	t.Helper()
	program, ca := harness.Tfdeps(t), harness.NewCA(t)
	k := start(t, ca)
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	var needs []string
	for _, spec := range packages {
		spec.Namespace, spec.Version = "acme", "1.0.0"
		registry.Add(spec)
		needs = append(needs, "acme/"+spec.Type)
	}
	direct, config := harness.Redirect(t, registry, "registry.terraform.io"), requiring(strings.Join(needs, "\n"))
	machine := func(env []string) []string { // 60 seconds are for one on which all tests run at once
		return slices.Concat(direct, []string{"HOME=" + t.TempDir(), "TF_REGISTRY_CLIENT_TIMEOUT=60"}, env)
	}
	dir, first := harness.WorkDir(t, config), machine(k.env)
	for _, args := range [][]string{{"init"}, {"providers", "mirror", "-platform=" + expandNames("$PLATFORM"), k.publish}, {"cache", "push", k.push}} {
		harness.Run(t, dir, first, append([]string{program}, args...)...)
	}
	if filepath.IsAbs(k.publish) { // a time by which what is resumed can be told is not of the last seconds
		age(t, filepath.Dir(k.publish))
	}
	read, p := tapped(t, k)
	before := registry.Requests("archive")
	for _, args := range [][]string{{"init", "-mirror=" + read.mirror, "-mirror-fallback=exclusive"}, {"cache", "pull", read.pull}} {
		begin(p)
		again, env := harness.WorkDir(t, config), machine(read.env)
		must.Write(t, filepath.Join(again, ".terraform.lock.hcl"), harness.ReadLock(t, dir))
		harness.Run(t, again, env, append([]string{program}, args...)...)
		end(p, args[0], again, env)
	}
	must.Equal(t, registry.Requests("archive"), before)
}

// TestKinds_ResumeWhatIsCut breaks an archive of each kind of place off in its middle, for init and for cache pull: the
// same run gets the rest, and nothing twice.
func TestKinds_ResumeWhatIsCut(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	content := make([]byte, size)
	_, _ = rand.Read(content)
	archive := providertest.Zip(files{"terraform-provider-widget_v1.0.0": string(content)})
	for name, start := range kinds {
		if testing.Short() && (name == "gs" || name == "s3") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			throughTap(t, start, []providertest.PackageSpec{{Type: "widget", Archive: archive}}, func(p *tap) { p.cutAfter.Store(size / 2) }, func(p *tap, command, dir string, env []string) {
				if sent, cut := p.sent.Swap(0), p.cutAfter.Load() == 0; !cut || sent < size || sent > size+size/8 {
					t.Errorf("%s: %d bytes were sent for an archive of %d; broken off: %t", command, sent, len(archive), cut)
				}
				harness.Run(t, dir, env, harness.Tfdeps(t), "init", "-offline", "-lockfile=readonly")
			})
		})
	}
}

// age has all files in a directory be an hour old.
func age(t *testing.T, dir string) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		then := time.Now().Add(-time.Hour)
		return errors.Join(err, os.Chtimes(path, then, then))
	}))
}

// TestKinds_UseConnectionsAgain installs sixty providers from a kind of place, each of which takes two requests or
// more. An archive has a connection for itself while it is on its way, and the next one has the same; documents share
// others. 32 documents and 16 archives are asked for at once.
func TestKinds_UseConnectionsAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const providers, most = 60, 96
	var packages []providertest.PackageSpec
	for i := range providers {
		packages = append(packages, providertest.PackageSpec{Type: fmt.Sprintf("p%d", i)})
	}
	for name, start := range kinds {
		if name != "https" && !peertest.All() {
			continue // the others take longer
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			throughTap(t, start, packages, func(*tap) {}, func(p *tap, command, _ string, _ []string) {
				if accepted := p.accepted.Swap(0); accepted > most {
					t.Errorf("%s opens %d connections, want %d at most", command, accepted, most)
				}
			})
		})
	}
}
