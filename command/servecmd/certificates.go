package servecmd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// certificateBytes is how large the file of a certificate, or of its key, may be.
const certificateBytes = 1 << 20

// authority is a CA for one certificate, for loopback. Its key isn't kept.
type authority struct {
	certificate tls.Certificate
	file        string // the authorities that the system trusts, and this one
}

// rootFiles are the files in which systems keep their CA certificates.
var rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}

const rootBytes = 16 << 20

// newAuthority makes an authority whose certificates are valid from an hour before now, for a year.
func newAuthority(dir string, env cli.Environment, now time.Time) (*authority, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
			BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		}
	}
	root, leaf := template(1, "tfdeps serve, for one run"), template(2, "localhost")
	root.IsCA, root.KeyUsage, root.MaxPathLenZero = true, x509.KeyUsageCertSign, true
	root.PermittedDNSDomainsCritical, root.PermittedDNSDomains = true, []string{"localhost"}
	root.PermittedIPRanges = []*net.IPNet{{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)}}
	leaf.ExtKeyUsage, leaf.DNSNames, leaf.IPAddresses = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1).To4()}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	if err != nil {
		return nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), rootKey)
	if err != nil {
		return nil, err
	}
	trusted := append(systemRoots(env), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})...)
	made := &authority{certificate: tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key}, file: filepath.Join(dir, "roots.pem")}
	return made, os.WriteFile(made.file, trusted, 0o600)
}

// systemRoots returns the CA certificates that the command would trust: those of the first file that exists.
func systemRoots(env cli.Environment) []byte {
	files := rootFiles
	if named := env.Get("SSL_CERT_FILE"); named != "" {
		files = []string{named}
	}
	for _, path := range files {
		if content, err := wholefile.Read(path, rootBytes); err == nil {
			return append(bytes.TrimRight(content, "\n"), '\n')
		}
	}
	return nil
}

// certificateFile is a certificate with its key, in files that are read again for each connection.
type certificateFile struct {
	cert, key string
	log       *slog.Logger
	good      atomic.Pointer[certificate]
	bad       atomic.Pointer[string] // the last error of reading the files, which was logged; "" if they were read
}

// certificate is the content of the files.
type certificate struct {
	from [sha256.Size]byte
	pair tls.Certificate
}

// read returns the current certificate. It fails for a moment while the files are replaced, because two files can't be replaced at once.
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

// get returns the certificate for a connection: that of the files, or the last good one if they can't be read.
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

// onSignal catches a signal from now on. run calls f for each signal, until the context ends.
func onSignal(ended context.Context, s os.Signal, f func()) (run func(context.Context) error) {
	got, stop := signal.NotifyContext(ended, s)
	return func(context.Context) error {
		for {
			par.Pause(got, always)
			if ended.Err() != nil {
				stop()
				return nil
			}
			next, stopNext := signal.NotifyContext(ended, s) // before the other context is stopped, so that no signal is missed
			stop()
			got, stop = next, stopNext
			f()
		}
	}
}
