package weight

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// The most memory that the program has at any moment, the pages of its own file included, which the
// system has in memory anyway. What it has does not depend on the machine's load, but for the parts
// of its file that are read ahead.
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

// peakMemory runs a program, which has to succeed, and returns the most memory that it has had. It
// is looked up when the process has done all that it does and still exists, since what the system
// says of one that has ended begins with the memory of the process that started it.
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
	// The first of several values counts: other tests turn the collector off.
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
