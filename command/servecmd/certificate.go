package servecmd

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// certificateFile is a certificate with its key, in files that are read again for each connection.
type certificateFile struct {
	cert, key string
	log       *slog.Logger
	good      atomic.Pointer[certificate]
	bad       atomic.Pointer[string] // what was wrong when the files were read last, and was logged
}

// certificate is what the files had.
type certificate struct {
	from [sha256.Size]byte
	pair tls.Certificate
}

// read returns what the files have. Two files can't be replaced at once, so for a moment they may not belong together.
func (c *certificateFile) read() (*certificate, error) {
	var content [2][]byte
	for i, path := range []string{c.cert, c.key} {
		var err error
		if content[i], err = wholefile.Read(path, certificateBytes); err != nil {
			return nil, c.wrong(err)
		}
	}
	sums := [2][sha256.Size]byte{sha256.Sum256(content[0]), sha256.Sum256(content[1])}
	from := sha256.Sum256(append(sums[0][:], sums[1][:]...))
	if known := c.good.Load(); known != nil && known.from == from {
		return known, nil
	}
	pair, err := tls.X509KeyPair(content[0], content[1])
	if err != nil {
		return nil, c.wrong(err)
	}
	read := &certificate{from, pair}
	if c.good.Load() != nil {
		c.log.Info("the server has a new certificate", "file", c.cert, "until", pair.Leaf.NotAfter)
	}
	c.good.Store(read)
	return read, nil
}

func (c *certificateFile) wrong(err error) error {
	return fmt.Errorf("the certificate %s of -tls-cert, with the key %s of -tls-key, can't be used: %w. Both are files in PEM", c.cert, c.key, err)
}

// get returns the certificate for a connection: that of the files, or else the one that they had before.
func (c *certificateFile) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now, err := c.read()
	text := ""
	if err != nil {
		now, text = c.good.Load(), err.Error()
		if before := c.bad.Load(); before == nil || *before != text {
			c.log.Error("the certificate stays as it was", "error", text)
		}
	}
	c.bad.Store(&text)
	return &now.pair, nil
}

// onSignal catches a signal from now on. What it returns calls f for each one, until the context ends.
func onSignal(ended context.Context, s os.Signal, f func()) (run func(context.Context) error) {
	got, stop := signal.NotifyContext(ended, s)
	return func(context.Context) error {
		for {
			par.Pause(got, always)
			if ended.Err() != nil {
				stop()
				return nil
			}
			next, stopNext := signal.NotifyContext(ended, s) // before the other one stops, so that none is missed
			stop()
			got, stop = next, stopNext
			f()
		}
	}
}
