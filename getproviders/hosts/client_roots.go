package hosts

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
)

// addCertificates has a PEM file, and PEM files in directories, trusted besides what
// is trusted already. Without any, the pool stays as it is: to load the system's
// certificates costs start-up time.
func addCertificates(to *tls.Config, file, dirs string) error {
	if file == "" && dirs == "" {
		return nil
	}
	if to.RootCAs != nil {
		to.RootCAs = to.RootCAs.Clone() // it is the caller's
		return addRoots(to.RootCAs, file, dirs)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return fmt.Errorf("cannot load the system's certificates: %w", err)
	}
	to.RootCAs = pool
	return addRoots(pool, file, dirs)
}

// addRoots adds a PEM file, and the PEM files in a list of directories.
func addRoots(pool *x509.CertPool, file, dirs string) error {
	if file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read the file of certificates: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return fmt.Errorf("there is no certificate in %s", file)
		}
	}
	for _, dir := range filepath.SplitList(dirs) {
		if err := addDir(pool, dir); err != nil {
			return fmt.Errorf("cannot read the directory of certificates: %w", err)
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
