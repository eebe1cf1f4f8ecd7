//go:build unix

package servecmd

import (
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestInherited_IsTheSocketOfSystemd(t *testing.T) {
	opened := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer opened.Close()
	file := must.Get(opened.(*net.TCPListener).File())(t)
	defer file.Close()
	fd, err := syscall.Dup(int(file.Fd())) // inherited closes it
	must.Succeed(t, err)
	mine := cli.Environment{"LISTEN_PID=" + strconv.Itoa(os.Getpid()), "LISTEN_FDS=1"}
	got, err := inherited(mine, os.Getpid(), fd)
	if err != nil || got.Addr().String() != opened.Addr().String() {
		t.Fatalf("%v, %v, want %v", got, err, opened.Addr())
	}
	got.Close()
	if got, err := inherited(mine, os.Getpid()+1, fd); got != nil || err != nil {
		t.Errorf("the socket of another process: %v, %v", got, err)
	}
	must.Refuse(inherited(append(mine[:1:1], "LISTEN_FDS=2"), os.Getpid(), fd))(t, "two sockets are no error")
	must.Refuse(inherited(mine, os.Getpid(), fd))(t, "a socket that isn't there is no error")
}

// FuzzInherited sets the variables of systemd to anything: without a socket, inherited returns none.
func FuzzInherited(f *testing.F) {
	f.Add("7", "1")
	f.Add("7", "-1")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, pid, fds string) {
		const closed = 1 << 20 // no process has that descriptor
		listener, err := inherited(cli.Environment{"LISTEN_PID=" + pid, "LISTEN_FDS=" + fds}, 7, closed)
		if listener != nil || (err != nil) != (pid == "7") {
			t.Errorf("%v, %v", listener, err)
		}
	})
}
