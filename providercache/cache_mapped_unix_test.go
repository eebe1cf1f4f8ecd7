//go:build linux || darwin

package providercache_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/providercache"
)

// mapVariable makes the test program map the file that it names, write to it so that the system
// notes the time, and write again when its standard input says so.
const mapVariable = "TFDEPS_TEST_MAP"

func mapAndWrite(t *testing.T, path string) {
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	info := must.Get(file.Stat())(t)
	mapped := must.Get(unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))(t)
	first := mapped[0]
	mapped[0] = 'x'
	mapped[0] = first
	_, _ = os.Stdout.WriteString("mapped\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	copy(mapped, strings.Repeat("x", len(mapped)))
}

// mappedBy makes another user map a file that this user owns. The
// returned function makes that user write to it.
func mappedBy(t *testing.T, program, file string) (write func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestCache_BesideOtherUsers$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Env, cmd.Dir = append(os.Environ(), mapVariable+"="+file), "/"
	in := must.Get(cmd.StdinPipe())(t)
	out, err := cmd.StdoutPipe()
	succeed(t, errors.Join(err, cmd.Start()))
	must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	return func() {
		_, err := io.WriteString(in, "\n")
		succeed(t, errors.Join(err, cmd.Wait()))
	}
}

func TestCache_BesideOtherUsers(t *testing.T) {
	if file := os.Getenv(mapVariable); file != "" {
		mapAndWrite(t, file)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user as well")
	}
	t.Run("of an image", ofAnImage)
	// A process that has mapped a file into memory can write to it without setting a time. So a file
	// that another user owns is known only by reading it.
	t.Run("who writes through memory", func(t *testing.T) {
		needsReceipts(t)
		m := sharedMachine(t)
		program := filepath.Join(filepath.Dir(m.Cache), "program")
		content, err := os.ReadFile(os.Args[0]) // other users may not enter the directory that it is in
		succeed(t, errors.Join(err, peertest.WriteProgram(program, content)))
		locks, _ := m.first()
		_, file := packageA(t, m.Cache)
		succeed(t, os.Chown(file, nobody, nobody))
		write := mappedBy(t, program, file)
		age()
		m.install(m.directory(), locks) // which makes a receipt, as the owner has changed
		before := timesOf(t, file)
		write()
		if timesOf(t, file) != before {
			t.Skip("the system has written the page back meanwhile, and so noted the time")
		}
		if got := read(t, file); !strings.HasPrefix(got, "xxx") {
			t.Fatalf("there is %q, so this test shows nothing", got)
		}
		fresh := m.directory()
		fresh.Link = providercache.LinkCopy
		_, did := m.install(fresh, locks)
		must.Contain(t, did, "archive 1")
		must.Contain(t, did, "read")
		must.NotContain(t, treeOf(t, fresh.Target.Dir), "xxx")
	})
	// With sudo, the home directory is another user's. Nothing is written there, and nothing there is trusted.
	t.Run("in whose home nothing is written", func(t *testing.T) {
		m, home := newMachine(t), t.TempDir()
		succeed(t, os.Chown(home, nobody, nobody))
		for _, named := range []bool{false, true} { // under sudo, the command line doesn't ask for one there
			must.Get(providercache.OpenCache(filepath.Join(home, "cache"), named))(t)
		}
		m.State = filepath.Join(home, "state")
		d := m.directory()
		locks, _ := m.install(d, nil)
		must.Len(t, tree(t, home), 0)
		_, did := m.install(d, locks)
		must.Equal(t, did, "read 2") // as there are no receipts
	})
}

// timesOf is everything that the system says of a file.
func timesOf(t *testing.T, path string) unix.Stat_t {
	t.Helper()
	var stat unix.Stat_t
	succeed(t, unix.Lstat(path, &stat))
	return stat
}
