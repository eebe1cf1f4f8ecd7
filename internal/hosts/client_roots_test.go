package hosts

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestExtraRoots(t *testing.T) {
	srv := startTLS(t, func(http.ResponseWriter, *http.Request) {})
	cert := srv.Certificate()
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	must.Write(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
	empty := filepath.Join(dir, "empty.pem")
	must.Write(t, empty, []byte("nothing"))
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "subdirectory"), 0o700))

	for _, tc := range []struct{ name, file, dirs, problem string }{
		{"file", file, "", ""},
		{"directory with other things", "", dir, ""},
		{"several directories", "", t.TempDir() + string(filepath.ListSeparator) + dir, ""},
		{"both", file, dir, ""},
		{"missing file", filepath.Join(dir, "missing.pem"), "", "cannot read the file of certificates"},
		{"no certificate", empty, "", "there is no certificate in " + empty},
		{"missing directory", "", filepath.Join(dir, "missing"), "cannot read the directory of certificates"},
	} {
		config := &tls.Config{RootCAs: x509.NewCertPool()}
		err := addCertificates(config, tc.file, tc.dirs)
		if tc.problem != "" {
			must.Contain(t, err, tc.problem, tc.name)
			continue
		}
		must.Succeed(t, err, tc.name)
		must.Get(cert.Verify(x509.VerifyOptions{Roots: config.RootCAs}))(t, tc.name)
	}
}

func TestClientOptions_TrustVariablesLeavesThemToGoWhereItReadsThem(t *testing.T) {
	var opts ClientOptions
	opts.TrustVariables("file", "dir")
	must.Equal(t, runtime.GOOS != "darwin" && runtime.GOOS != "windows", opts.CertFile == "" && opts.CertDir == "")
}
