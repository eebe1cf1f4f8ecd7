package bench

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// link emulates a network between this machine and a server: bytes arrive after a latency, and the server's bytes on all connections
// share a rate. So windows, handshakes and the order of requests cost as much as on a real network.
type link struct {
	oneWay time.Duration
	rate   int64 // bytes a second
	mu     sync.Mutex
	free   time.Time // when the last byte so far will have left the server
}

// pass returns when bytes arrive that the server sends now.
func (l *link) pass(size int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(size) * time.Second / time.Duration(l.rate))
	return l.free.Add(l.oneWay)
}

// listen relays connections to a server until the benchmark ends, and returns the address.
func (l *link) listen(b *testing.B, server string) string {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	b.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			opened := time.Now().Add(3 * l.oneWay) // the handshake, and the first bytes after it
			go carry(behind, client, func(int) time.Time { return later(opened, time.Now().Add(l.oneWay)) })
			go carry(client, behind, l.pass)
		}
	}()
	return listener.Addr().String()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// carry copies until one side closes, each piece when it is due.
func carry(to, from net.Conn, due func(size int) time.Time) {
	type piece struct {
		bytes []byte
		at    time.Time
	}
	under := make(chan piece, 1<<10)
	go func() {
		defer close(under)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			under <- piece{buffer[:n], due(n)}
			if err != nil {
				return
			}
		}
	}()
	for p := range under {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.bytes); err != nil {
			from.Close()
		}
	}
	to.Close()
}

// networkLimit compares a cold init through a link of 200 ms and 100 Mbit/s with the time of the link for the archives alone.
func networkLimit(b *testing.B) pair {
	dir := b.TempDir()
	l := &link{oneWay: 100 * time.Millisecond, rate: 100_000_000 / 8}
	c := contender{program: harness.Tfdeps(b), env: startBenchRegistry(b, "-dir="+dir)}
	config := filepath.Join(dir, "cli.tfrc")
	content := harness.ReadText(b, config)
	_, server, _ := strings.Cut(content, "https://")
	server, _, _ = strings.Cut(server, "/")
	_, port, err := net.SplitHostPort(l.listen(b, server))
	must.Succeed(b, err)
	must.Write(b, config, strings.ReplaceAll(content, server, "localhost:"+port))
	size := int64(0)
	for _, path := range must.Get(filepath.Glob(filepath.Join(dir, "*.zip")))(b) {
		size += must.Get(os.Stat(path))(b).Size()
	}
	return pair{func() float64 { return c.cold(b).wall.Seconds() }, func() float64 { return float64(size) / float64(l.rate) }}
}
