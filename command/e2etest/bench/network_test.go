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

// link is a network between this machine and a server: what one side sends arrives later, and what the server sends to all connections
// shares a rate. So windows, handshakes and the order of requests cost what they cost on a real one.
type link struct {
	oneWay time.Duration
	rate   int64 // bytes a second
	mu     sync.Mutex
	free   time.Time // when the last byte that was sent will have left the server
}

// pass says when bytes of the server have arrived that are sent now.
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
			opened := time.Now().Add(3 * l.oneWay) // the handshake, and the first bytes behind it
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

// networkLimit is a cold init through a link of 200 ms and 100 Mbit/s, and how long the link takes for the archives alone.
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
