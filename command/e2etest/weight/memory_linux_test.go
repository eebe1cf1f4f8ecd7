package weight

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// The peak resident memory of the program, including the pages of its own file, which the
// system caches anyway. It doesn't depend on the machine's load, except for read-ahead
// of the file.
const (
	maxVersionMemory = 17<<20 + 512<<10 // of "tfdeps version"; 16.3 to 16.8
	maxColdMemory    = 40 << 20         // of an init that downloads and unpacks ten packages
)

func TestProgram_TakesLittleMemoryToStart(t *testing.T) {
	t.Parallel()
	peak := peakMemory(t, t.TempDir(), harness.Env(t), harness.Tfdeps(t), "version")
	t.Logf("%.1f MiB", float64(peak)/(1<<20))
	if peak > maxVersionMemory {
		t.Errorf("tfdeps version has %d KiB, want at most %d", peak>>10, maxVersionMemory>>10)
	}
}

// The packages are as large as several of the buffers that they go through, so that
// larger ones take no more memory.
func TestProgram_TakesLittleMemoryToInstall(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	content := must.Get(os.ReadFile(program))(t)
	_, env := newRegistry(t, 10, func(name string, i int) []byte {
		return providertest.Zip(map[string]string{name: string(content[i<<21 : (i+1)<<21])})
	})
	dir := harness.WorkDir(t, requiring(10))
	peak := peakMemory(t, dir, env, program, "init")
	t.Logf("%.1f MiB", float64(peak)/(1<<20))
	if peak > maxColdMemory {
		t.Errorf("an init has %d KiB, want at most %d", peak>>10, maxColdMemory>>10)
	}
}

// peakMemory runs a program, which has to succeed, and returns its peak memory. It
// is read at the end of the process while that still exists, because the rusage
// of an ended process includes the memory of the process that started it.
func peakMemory(t *testing.T, dir string, env []string, program string, args ...string) int64 {
	t.Helper()
	const tries = 20 // the stop at the end isn't certain
	for range tries {
		if peak := peakIfStopped(t, dir, env, program, args...); peak > 0 {
			return peak
		}
	}
	t.Fatalf("%s never stopped at its end", program)
	return 0
}

func peakIfStopped(t *testing.T, dir string, env []string, program string, args ...string) (peak int64) {
	t.Helper()
	runtime.LockOSThread() // tracing belongs to a thread
	defer runtime.UnlockOSThread()
	output := must.Get(os.Create(filepath.Join(t.TempDir(), "output")))(t)
	defer output.Close()
	// The first of several values is used: other tests turn the garbage collector off.
	process, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Dir: dir, Env: append([]string{"GOGC=100"}, env...), Files: []*os.File{nil, output, output}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		t.Skipf("tracing isn't possible here: %v", err)
	}
	defer process.Release()
	var status syscall.WaitStatus
	wait := func() {
		must.Get(syscall.Wait4(process.Pid, &status, 0, nil))(t)
	}
	wait() // it stops before its first instruction
	must.Succeed(t, syscall.PtraceSetOptions(process.Pid, syscall.PTRACE_O_TRACEEXIT))
	for signal := 0; ; {
		if err := syscall.PtraceCont(process.Pid, signal); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
		wait()
		switch {
		case status.Exited() && status.ExitStatus() != 0 || status.Signaled():
			text, _ := os.ReadFile(output.Name())
			t.Fatalf("%s %q ended with %v:\n%s", program, args, status, text)
		case status.Exited():
			return peak
		case status.TrapCause() == syscall.PTRACE_EVENT_EXIT:
			peak, signal = harness.PeakMemory(process.Pid), 0
		default:
			signal = int(status.StopSignal())
		}
	}
}

// A server needs at most its -memory, and the memory of an idle program.
const (
	serveMemory    = 160 << 20
	maxServeMemory = serveMemory + 64<<20
)

// largeLists are lists of versions, each of which takes much more memory when it is read. Real ones have no megabyte.
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
				_ = server.Process.Signal(os.Interrupt)
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
			if peak > maxServeMemory || peak == 0 {
				t.Errorf("the server had %d MiB, want at most %d", peak>>20, maxServeMemory>>20)
			}
		})
	}
}
