package servecmd

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/tfdeps/tfdeps/command/cli"
)

// firstInherited is the file descriptor at which systemd hands over the first socket.
const firstInherited = 3

// inherited returns the socket that systemd has opened for this process, whose descriptor is fd; nil if there is none.
// LISTEN_PID says for which process the sockets are: a child has the same variables.
func inherited(env cli.Environment, pid, fd int) (net.Listener, error) {
	if env.Get("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := env.Get("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("systemd has opened %q sockets (LISTEN_FDS), and there has to be one", n)
	}
	file := os.NewFile(uintptr(fd), "LISTEN_FDS")
	if file == nil {
		return nil, fmt.Errorf("the socket of LISTEN_FDS isn't there")
	}
	defer file.Close() // the listener has a copy, which no child gets
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("the socket of LISTEN_FDS: %w", err)
	}
	return listener, nil
}
