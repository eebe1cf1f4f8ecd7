package storagetest

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// The credentials and the region of Versity's gateway.
const (
	VersityID     = "id"
	VersitySecret = "hunter22"
	VersityRegion = "eu-west-1"
)

// Versity is a running gateway.
type Versity struct {
	Endpoint string // http://127.0.0.1:PORT
	Dir      string // contains a directory for each bucket
}

// StartVersity starts Versity's gateway, another project's server, which implements the protocol of S3 and checks signatures,
// with these empty buckets. It ends with the test. If the program is missing, the test is skipped.
func StartVersity(t *testing.T, buckets ...string) Versity {
	t.Helper()
	program := peertest.LookProgram(t, "versitygw")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	dir := t.TempDir()
	for _, name := range buckets {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--access", VersityID, "--secret", VersitySecret, "--region", VersityRegion, "--port", address, "--quiet", "--keep-alive",
		"posix", dir)
	cmd.Env = []string{"HOME=" + dir}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		stop()
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	for range 500 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return Versity{Endpoint: "http://" + address, Dir: dir}
		}
		time.Sleep(20 * time.Millisecond)
	}
	end()
	if strings.Contains(said.String(), "xattr") {
		t.Skipf("the file system can't: versitygw needs extended attributes: %s", &said)
	}
	t.Fatalf("versitygw doesn't listen: %s", &said)
	return Versity{}
}
