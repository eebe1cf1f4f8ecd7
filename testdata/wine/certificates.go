//go:debug x509usefallbackroots=1

package main

import (
	"crypto/x509"
	"os"
)

// On Windows Go reads no SSL_CERT_FILE, by which tests name the certificates of their servers: with this file terraform and tofu do.
func init() {
	roots := x509.NewCertPool()
	if pem, err := os.ReadFile(os.Getenv("SSL_CERT_FILE")); err == nil {
		roots.AppendCertsFromPEM(pem)
	}
	x509.SetFallbackRoots(roots)
}
