//go:build unix

package inflate_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack/inflate"
)

// BenchmarkCopy_BesideOthers reports the processor time for what Go's tools are compressed to, and its ratio to that of other programs, as far as they
// are there, which take the same bytes in turn. Each is the best of the runs. The budget of libdeflate-ratio is 1.4.
func BenchmarkCopy_BesideOthers(b *testing.B) {
	var content []byte
	root := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())(b)))
	tools := must.Get(filepath.Glob(filepath.Join(root, "pkg", "tool", "*", "*")))(b)
	for _, tool := range append(tools, filepath.Join(root, "bin", "go")) {
		content = append(content, must.Get(os.ReadFile(tool))(b)...)
	}
	stream := compress(b, content, flate.DefaultCompression)
	path := filepath.Join(b.TempDir(), "content.gz")
	trailer := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(content)), uint32(len(content)))
	must.Write(b, path, bytes.Join([][]byte{[]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), stream, trailer}, nil))
	best := map[string]time.Duration{}
	note := func(name string, took time.Duration) {
		if best[name] == 0 || took < best[name] {
			best[name] = took
		}
	}
	d := inflate.New()
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		before := spent(b)
		must.Succeed(b, d.Copy(io.Discard, bufio.NewReader(bytes.NewReader(stream))))
		note("ours", spent(b)-before)
		for _, name := range []string{"libdeflate-gunzip", "igzip"} {
			if program, err := exec.LookPath(name); err == nil {
				cmd := exec.Command(program, "-d", "-c", path) // to nowhere
				must.Succeed(b, cmd.Run())
				note(name, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			}
		}
	}
	b.ReportMetric(float64(best["ours"].Nanoseconds()), "cpu-ns/op")
	for name, took := range best {
		b.ReportMetric(float64(best["ours"])/float64(took), name+"-ratio")
	}
}

// spent returns the processor time of this process so far.
func spent(b *testing.B) time.Duration {
	var usage syscall.Rusage
	must.Succeed(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
