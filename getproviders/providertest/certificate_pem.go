package providertest

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

// ServerPEM makes a certificate for every name that loopback has, and returns
// it and its key as servers that are programs of their own read them.
func (c *CA) ServerPEM() (certificate, key []byte, err error) {
	made, err := c.serverCertificate()
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		return nil, nil, fmt.Errorf("making a test server's key: %w", err)
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
