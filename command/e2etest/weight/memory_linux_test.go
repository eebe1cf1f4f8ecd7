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

// The peak resident memory of the program, including the pages of its own file, which the
// system caches anyway. It doesn't depend on the machine's load, except for read-ahead
// of the file.
const (
	maxVersionMemory = 17<<20 + 512<<10 // of "tfdeps version"; 16.3 to 16.8
	maxColdMemory    = 40 << 20         // of an init that downloads and unpacks ten packages
)

// The packages of the init are as large as several of the buffers that they go through, so that
// larger ones take no more memory.
func TestProgram_TakesLittleMemory(t *testing.T) {
	t.Parallel()
	program := harness.Tfdeps(t)
	content := must.Get(os.ReadFile(program))(t)
	_, env := newRegistry(t, 10, func(name string, i int) []byte {
		return providertest.Zip(map[string]string{name: string(content[i<<20 : (i+1)<<20])})
	})
	for command, most := range map[string]int64{"version": maxVersionMemory, "init": maxColdMemory} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			peak := peakMemory(t, harness.WorkDir(t, requiring(10)), env, program, command)
			t.Logf("%.1f MiB", float64(peak)/(1<<20))
			if peak > most {
				t.Errorf("it has %d KiB, want at most %d", peak>>10, most>>10)
			}
		})
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

// memoryOf returns the peak memory of a process in bytes.
func memoryOf(ended *os.ProcessState) int64 { return ended.SysUsage().(*syscall.Rusage).Maxrss << 10 }
