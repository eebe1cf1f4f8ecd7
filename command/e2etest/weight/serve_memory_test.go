package weight

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// A server needs at most its -memory, and the memory of an idle program.
const (
	serveMemory    = 160 << 20
	maxServeMemory = serveMemory + 64<<20
)

// largeLists are lists of versions that need much more memory when they are decoded. Real lists are smaller than a megabyte.
var largeLists = map[string]func(b *bytes.Buffer){
	"versions": func(b *bytes.Buffer) { fmt.Fprintf(b, `{"version":"1.0.%d"},`, b.Len()) },
	"platforms": func(b *bytes.Buffer) {
		fmt.Fprintf(b, `{"version":"1.0.%d","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"},{"os":"darwin","arch":"arm64"}]},`, b.Len())
	},
	"empty": func(b *bytes.Buffer) { b.WriteString(`{},`) },
}

// TestServe_HoldsItsMemoryBudget asks a server at once for twelve providers with lists of 2 MB; the slowest kind of list is only used
// in a full run. Each request is answered with
// the list, or with the status 503 and Retry-After. A provider with a list of usual size works afterwards.
func TestServe_HoldsItsMemoryBudget(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	for name, entry := range largeLists {
		if name == "versions" && !peertest.All() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var list bytes.Buffer
			for list.WriteString(`{"versions":[`); list.Len() < 2_000_000; {
				entry(&list)
			}
			list.WriteString(`{"version":"1.0.0"}]}`)
			registry, env := newRegistry(t, 12, nil)
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "usual", Version: "1.0.0"})
			registry.Break("versions", providertest.Fault{Path: "/acme/p", Body: func([]byte) []byte { return list.Bytes() }})
			server := exec.CommandContext(t.Context(), harness.Tfdeps(t), "serve", "-listen=127.0.0.1:0", fmt.Sprintf("-memory=%dB", serveMemory), t.TempDir())
			server.Env = append(env, "GOGC=100") // other tests turn the garbage collector off
			base := must.Get(harness.Serve(server))(t)
			defer func() {
				_ = server.Process.Kill()
				_ = server.Wait()
			}()
			var clients sync.WaitGroup
			for i := range 36 {
				clients.Go(func() {
					resp, err := http.Get(fmt.Sprintf("%stf.example.com/acme/p%d/%s", base, i%12, []string{"index.json", "versions"}[i%2]))
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					_, err = io.Copy(io.Discard, resp.Body)
					busy := resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != ""
					if err != nil || resp.StatusCode != http.StatusOK && !busy {
						t.Errorf("%s, %v", resp.Status, err)
					}
				})
			}
			clients.Wait()
			if resp, err := http.Get(base + "tf.example.com/acme/usual/index.json"); err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("%v, %v", resp, err)
			} else {
				resp.Body.Close()
			}
			peak := harness.PeakMemory(server.Process.Pid)
			t.Logf("%d MiB", peak>>20)
			if peak > maxServeMemory || peak == 0 && runtime.GOOS == "linux" {
				t.Errorf("the server had %d MiB, want at most %d", peak>>20, maxServeMemory>>20)
			}
		})
	}
}
