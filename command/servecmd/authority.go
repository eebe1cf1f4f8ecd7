package servecmd

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// authority issues one certificate, for loopback, and is forgotten: its key is nowhere.
type authority struct {
	certificate tls.Certificate
	file        string // the authorities that the system trusts, and this one
}

// rootFiles are where systems have the authorities that they trust.
var rootFiles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}

const rootBytes = 16 << 20

// newAuthority makes an authority whose certificates are good from an hour before now on, for a year.
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

// systemRoots are the authorities that the command would trust: those of the first file that there is.
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
