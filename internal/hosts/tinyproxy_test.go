package hosts

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// TestClient_ThroughTinyproxy does the same with tinyproxy.
func TestClient_ThroughTinyproxy(t *testing.T) {
	program, err := exec.LookPath("tinyproxy")
	if err != nil {
		if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
			t.Fatal("tinyproxy is not installed")
		}
		t.Skip("tinyproxy is not installed")
	}
	if runtime.GOOS == "darwin" {
		t.Skip("relies on 0.0.0.0 being this machine")
	}
	o := startOrigin(t)
	address, logFile := startTinyproxy(t, program, o.port)
	must.Equal(t, must.Get(fetch(t, o.at(originAddress), o.trusted(), "HTTPS_PROXY=http://"+address))(t), fetched)
	said, _ := os.ReadFile(logFile)
	must.Contain(t, string(said), "CONNECT "+originAddress+":"+o.port, "it did not come through the proxy, whose log is")
	must.Equal(t, must.Get(fetch(t, o.at(originAddress), o.trusted(), "HTTPS_PROXY=http://"+address, "NO_PROXY=localhost"))(t), fetched)
}

// startTinyproxy returns the address of a proxy that connects to one port only, and its log.
func startTinyproxy(t *testing.T, program, port string) (address, logFile string) {
	t.Helper()
	dir := t.TempDir()
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address = free.Addr().String()
	free.Close()
	_, own, _ := net.SplitHostPort(address)
	logFile = filepath.Join(dir, "log")
	config := filepath.Join(dir, "conf")
	must.Write(t, config, fmt.Appendf(nil,
		"Listen 127.0.0.1\nPort %s\nAllow 127.0.0.1\nConnectPort %s\nTimeout 60\nMaxClients 10\nLogLevel Connect\nLogFile %q\n", own, port, peertest.ScriptPath(logFile)))
	cmd := exec.CommandContext(t.Context(), program, "-d", "-c", config)
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address, logFile
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("tinyproxy does not listen")
	return "", ""
}
