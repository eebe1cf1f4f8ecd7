package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// served is a running "tfdeps serve" in its own process.
type served struct {
	address string
	pid     int
}

// startServer runs the server over a registry with ten providers.
func startServer(b *testing.B) served {
	b.Helper()
	program := harness.Tfdeps(b)
	cmd := exec.Command(program, "serve", "-listen=127.0.0.1:0", b.TempDir())
	cmd.Env = append(newHome(b, startBenchRegistry(b)), "TMPDIR="+b.TempDir())
	url := must.Get(harness.Serve(cmd))(b)
	b.Cleanup(func() { _ = harness.End(cmd) })
	address := strings.Split(url, "/")[2]
	return served{address, cmd.Process.Pid}
}

// url returns the URL of a file of a provider.
func (s served) url(provider int, name string) string {
	return fmt.Sprintf("http://%s/mirror/registry.terraform.io/acme/p%d/%s", s.address, provider, name)
}

func archiveOf(provider int) string {
	return fmt.Sprintf("terraform-provider-p%d_1.0.0_%s.zip", provider, getproviders.CurrentPlatform())
}

// take reads an answer to its end, and returns its size.
func take(client *http.Client, url string) (int64, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return n, err
}

// together runs a function for n clients at once, and returns the total time.
func together(b *testing.B, n int, client func(number int) error) time.Duration {
	b.Helper()
	errs, begun := make([]error, n), time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = client(i) })
	}
	all.Wait()
	took := time.Since(begun)
	must.Succeed(b, errors.Join(errs...))
	return took
}

// BenchmarkServe_Documents asks for index.json through 16 connections. The budget is 10,000 requests in a second.
func BenchmarkServe_Documents(b *testing.B) {
	s := startServer(b)
	must.Get(take(http.DefaultClient, s.url(0, "index.json")))(b)
	request := []byte("GET /mirror/registry.terraform.io/acme/p0/index.json HTTP/1.1\r\nHost: x\r\n\r\n")
	const connections = 16
	var took time.Duration
	for b.Loop() {
		took = together(b, connections, func(int) error { return askAgain(b.Context(), s.address, request, 2000) })
	}
	b.ReportMetric(connections*2000/took.Seconds(), "requests/s")
}

// askAgain sends a request n times through one connection, with little work for the client, because the
// server needs the processors.
func askAgain(ctx context.Context, address string, request []byte, n int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for range n {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		size := 0
		for line := []byte("begin"); len(line) > 2; {
			if line, err = answers.ReadSlice('\n'); err != nil {
				return err
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				size, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
		}
		if _, err := answers.Discard(size); err != nil || size == 0 {
			return errors.Join(fmt.Errorf("an answer of %d bytes", size), err)
		}
	}
	return nil
}

// BenchmarkServe_Memory has a hundred equally slow clients download the largest archive at the same time,
// first while the server downloads it and then from the store. The budget of peak-MiB is
// 64.
func BenchmarkServe_Memory(b *testing.B) {
	for b.Loop() {
		s := startServer(b)
		stop := watchMemory(s.pid)
		for range 2 {
			together(b, 100, func(int) error {
				_, err := take(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, s.url(9, archiveOf(9)))
				return err
			})
		}
		b.ReportMetric(float64(stop())/(1<<20), "peak-MiB")
	}
}

// BenchmarkServe_Throughput downloads the largest archive from the store again and again, through four
// connections, and the same file from nginx. The budget of ratio is 0.9.
func BenchmarkServe_Throughput(b *testing.B) {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	s := startServer(b)
	dir := b.TempDir()
	url := s.url(9, archiveOf(9))
	resp := must.Get(http.Get(url))(b)
	content, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	must.Succeed(b, err)
	address := startPlainNginx(b, nginx, dir)
	must.Write(b, filepath.Join(dir, "archive.zip"), content)
	rate := func(url string) float64 {
		const rounds = 20
		took := together(b, 4, func(int) error {
			client := &http.Client{Transport: new(http.Transport)}
			defer client.CloseIdleConnections()
			for range rounds {
				if n, err := take(client, url); err != nil || n != int64(len(content)) {
					return errors.Join(fmt.Errorf("%d bytes of %d", n, len(content)), err)
				}
			}
			return nil
		})
		return 4 * rounds * float64(len(content)) / took.Seconds()
	}
	var ours, theirs []float64
	for b.Loop() {
		ours, theirs = append(ours, rate(url)), append(theirs, rate("http://"+address+"/archive.zip"))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(ours[len(ours)/2]/1e6, "MB/s")
	b.ReportMetric(theirs[len(theirs)/2]/1e6, "nginx-MB/s")
	b.ReportMetric(ours[len(ours)/2]/theirs[len(theirs)/2], "ratio")
}

// startPlainNginx serves a directory by http, in the way that nginx recommends for files.
func startPlainNginx(b *testing.B, nginx, dir string) (address string) {
	b.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	address = listener.Addr().String()
	listener.Close()
	config := "daemon off;\nuser root;\nworker_processes 2;\npid " + dir + "/pid;\nerror_log stderr;\nevents {}\nhttp {\nsendfile on;\ntcp_nopush on;\naccess_log " + dir + "/log;\n" +
		"server { listen " + address + "; root " + dir + "; }\n}\n"
	must.Write(b, filepath.Join(dir, "nginx.conf"), config)
	cmd := exec.Command(nginx, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	if err := cmd.Start(); err != nil {
		b.Skipf("nginx doesn't start: %v", err)
	}
	b.Cleanup(func() { _ = harness.End(cmd) })
	for range 500 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("nginx doesn't listen")
	return ""
}
