package servecmd

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestCertificateFile_IsReadAgain: a new certificate is used for the next connection, and an invalid one is ignored.
func TestCertificateFile_IsReadAgain(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	c := &certificateFile{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), log: slog.New(slog.NewTextHandler(&out, nil))}
	made := func() ([]byte, []byte) {
		t.Helper()
		cert, key, err := providertest.NewCA().ServerPEM()
		must.Succeed(t, err)
		return cert, key
	}
	write := func(cert, key []byte) {
		t.Helper()
		must.Write(t, c.cert, cert)
		must.Write(t, c.key, key)
	}
	serves := func(what string, cert []byte) {
		t.Helper()
		must.Equal(t, string(must.Get(c.get(&tls.ClientHelloInfo{}))(t).Certificate[0]), string(first(cert)), "not the certificate that it should be", what)
	}
	must.Contain(t, must.ErrorOf(c.read()), "-tls-cert")
	one, oneKey := made()
	write(one, oneKey)
	must.Get(c.read())(t)
	serves("the first one", one)
	two, twoKey := made()
	for what, files := range map[string][2][]byte{"one of two files": {two, oneKey}, "no certificate": {[]byte("none"), twoKey}, "empty files": {}} {
		write(one, oneKey)
		serves("the first one again", one)
		write(files[0], files[1])
		out.Reset()
		serves(what, one)
		serves(what, one)
		must.Equal(t, strings.Count(out.String(), "stays as it was"), 1, what, &out)
	}
	must.Succeed(t, os.Remove(c.key))
	serves("no file", one)
	write(two, twoKey)
	serves("the second one", two)
	must.Contain(t, out.String(), "new certificate", &out)
}

// first is the first certificate of a file.
func first(content []byte) []byte {
	block, _ := pem.Decode(content)
	return block.Bytes
}
