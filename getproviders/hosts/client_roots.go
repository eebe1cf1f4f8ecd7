package hosts

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// extraRoots returns the trusted certificates, or nil for Go's own choice. Go
// reads SSL_CERT_FILE and SSL_CERT_DIR itself, when the first certificate is
// verified, except on macOS and Windows. The pool stays nil wherever that is
// enough, because loading it costs start-up time.
func extraRoots(file, dirs string) (*x509.CertPool, error) {
	if file == "" && dirs == "" || runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("cannot load the system's certificates: %w", err)
	}
	return pool, addRoots(pool, file, dirs)
}

// addRoots adds a PEM file, and the PEM files in a list of directories.
func addRoots(pool *x509.CertPool, file, dirs string) error {
	if file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read the certificates that SSL_CERT_FILE names: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return fmt.Errorf("there is no certificate in %s, which SSL_CERT_FILE names", file)
		}
	}
	for _, dir := range filepath.SplitList(dirs) {
		if err := addDir(pool, dir); err != nil {
			return fmt.Errorf("cannot read the directory of certificates that SSL_CERT_DIR names: %w", err)
		}
	}
	return nil
}

// addDir leaves out what isn't a certificate: such directories also hold
// revocation lists, indexes and broken links.
func addDir(pool *x509.CertPool, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if pem, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
	return nil
}
