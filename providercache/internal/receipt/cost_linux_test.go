package receipt

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// checksVariable makes the test program check one package of a state directory and a cache, a
// given number of times.
const checksVariable = "TFDEPS_TEST_CHECKS"

// TestReceipt_ACheckCostsOneLookAtEachEntry counts system calls with strace: a stat of the
// package's directory and one of each entry, and nothing else. Once for all checks, it stats the
// directories above, asks for the file system, and reads the file with receipts.
func TestReceipt_ACheckCostsOneLookAtEachEntry(t *testing.T) {
	if how := os.Getenv(checksVariable); how != "" {
		checkAsOftenAs(t, how)
		return
	}
	strace := peertest.LookProgram(t, "strace")
	s := keep(t)
	const checks, entries = 10, 6 // the directory itself, two files, two directories and a file in them
	trace := filepath.Join(t.TempDir(), "trace")
	traced := exec.CommandContext(t.Context(), strace, "-f", "-o", trace, os.Args[0], "-test.run=^TestReceipt_ACheckCostsOneLookAtEachEntry$")
	traced.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s:%s", checksVariable, checks, s.State, s.Root))
	if out, err := traced.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("ptrace")) {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	content := read(t, trace)
	must.Equal(t, strings.Count(content, s.Dir), checks*entries+1)
	must.Equal(t, strings.Count(content, `"`+filepath.Dir(s.Dir)+`"`), 1)
	if n := strings.Count(content, "statfs("); n < 1 || strings.Count(content, `statfs("`+s.Dir) != 1 {
		t.Errorf("the file system was asked for %d times", n)
	}
	must.Equal(t, strings.Count(content, filepath.Join(s.State, receiptsDir)+"/"), 1)
}

func checkAsOftenAs(t *testing.T, how string) {
	parts := strings.SplitN(how, ":", 3)
	n := must.Get(strconv.Atoi(parts[0]))(t)
	s := kept{State: parts[1], Root: parts[2]}
	r := OpenCache(s.State, s.Root)
	for range n {
		if _, ok := r.Known(packageName, filepath.Join(s.Root, packageName), time.Now()); !ok {
			t.Error("the receipt doesn't hold")
		}
	}
}
