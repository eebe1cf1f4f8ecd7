package servecmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// acmeOptions are the options for certificates by ACME.
type acmeOptions struct {
	hosts     []string // the names to certify; empty means no ACME
	directory string   // the URL of the authority; "" means Let's Encrypt
	ca        string   // a file with the CA certificates of that URL's server; "" means the system's
	http      string   // the address for http-01 challenges; "" means only tls-alpn-01
	email     string   // the account's address, or ""
	store     string   // where certificates are kept; "" means beside the packages
}

// check returns an error for options that can't work, and normalizes the names: TLS has no dot at the end.
func (o *acmeOptions) check() error {
	if len(o.hosts) == 0 {
		if o.directory+o.ca+o.http+o.email+o.store != "" {
			return cli.Usagef("-acme-directory, -acme-ca, -acme-http, -acme-email and -acme-store are for -acme").
				About("-acme-directory", "-acme-ca", "-acme-http", "-acme-email", "-acme-store")
		}
		return nil
	}
	for i, host := range o.hosts {
		name, err := hosts.ParseHostname(host)
		if err != nil || strings.Contains(host, ":") || !strings.Contains(strings.Trim(host, "."), ".") || net.ParseIP(host) != nil {
			return cli.Usagef("-acme=%s: an authority issues certificates for names such as mirror.example.com", host).About("-acme")
		}
		o.hosts[i] = name.Rootless().ASCII()
	}
	// Errors have the URL and are logged, so it must not have a password.
	if u, err := url.Parse(o.directory); o.directory != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		return cli.Usagef("-acme-directory has to be https://HOST/PATH, without user, query and fragment").About("-acme-directory")
	}
	return nil
}

// certificates gets certificates from an authority when they are needed, and renews them.
type certificates struct {
	manager *autocert.Manager
	hosts   []string
	log     *slog.Logger
}

// newCertificates returns certificates that are kept with their keys in a bucket. Servers may share the bucket: each can answer the
// challenges of the others.
func newCertificates(o acmeOptions, agent string, kept blob.Bucket, log *slog.Logger) (*certificates, error) {
	client, err := hosts.NewClient(hosts.ClientOptions{UserAgent: agent, CertFile: o.ca})
	if err != nil {
		return nil, err
	}
	known := autocert.HostWhitelist(o.hosts...)
	policy := func(ctx context.Context, host string) error {
		if name, _, err := net.SplitHostPort(host); err == nil { // the Host of an http request has the port, unless it is 80
			host = name
		}
		return known(ctx, host)
	}
	return &certificates{hosts: o.hosts, log: log, manager: &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: keptCertificates{kept}, HostPolicy: policy, Email: o.email,
		Client: &acme.Client{DirectoryURL: cmp.Or(o.directory, autocert.DefaultACMEDirectory), HTTPClient: client, UserAgent: agent},
	}}, nil
}

// nameOf returns the address of a listener for people: with the name of the first certificate, if c isn't nil, and that of
// this machine if the listener has all of its addresses.
func (c *certificates) nameOf(on net.Addr) string {
	host, port, err := net.SplitHostPort(on.String())
	switch {
	case err != nil:
		return on.String()
	case c != nil:
		host = c.hosts[0]
	case net.ParseIP(host).IsUnspecified():
		host, _ = os.Hostname()
	}
	if c != nil && port == "443" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// get connects to the server's own address, so that the server gets all certificates before the first client needs them, and
// logs errors at once.
func (c *certificates) get(ctx context.Context, address net.Addr) {
	_, _ = par.Map(ctx, len(c.hosts), c.hosts, func(ctx context.Context, host string) (none struct{}, err error) {
		// The certificate isn't verified, because nothing is sent.
		dialer := tls.Dialer{Config: &tls.Config{ServerName: host, InsecureSkipVerify: true}}
		conn, err := dialer.DialContext(ctx, address.Network(), address.String())
		if err != nil {
			return none, err // the server has logged why
		}
		defer conn.Close()
		leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
		c.log.Info("the server has a certificate", "host", host, "until", leaf.NotAfter)
		return none, nil
	})
}

// keptCertificates keeps certificates, their keys and that of the account in a bucket.
type keptCertificates struct{ bucket blob.Bucket }

const (
	certificatePrefix = "serve/acme/"
	certificateBytes  = 1 << 20
)

// Get implements autocert.Cache.
func (k keptCertificates) Get(ctx context.Context, key string) ([]byte, error) {
	content, _, err := blob.ReadAll(ctx, k.bucket, certificatePrefix+key, certificateBytes)
	if errors.Is(err, blob.ErrNotFound) {
		err = autocert.ErrCacheMiss
	}
	return content, err
}

// Put implements autocert.Cache.
func (k keptCertificates) Put(ctx context.Context, key string, content []byte) error {
	_, err := k.bucket.Put(ctx, certificatePrefix+key, blob.Bytes(content), blob.PutOptions{Private: true})
	return err
}

// Delete implements autocert.Cache.
func (k keptCertificates) Delete(ctx context.Context, key string) error {
	err := k.bucket.Delete(ctx, certificatePrefix+key)
	if errors.Is(err, blob.ErrNotFound) {
		err = nil
	}
	return err
}

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
