package command

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// trustedCA is the authority that this process trusts: Go reads SSL_CERT_FILE once.
var trustedCA *providertest.CA

func TestMain(m *testing.M) {
	if !serveCasefold() {
		os.Exit(runTests(m))
	}
}

func runTests(m *testing.M) int {
	peertest.UsualUmask()
	debug.SetGCPercent(400)
	dir, err := peertest.SpreadTemporary()
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ca.pem")
	trustedCA = providertest.NewCA()
	if err := errors.Join(os.WriteFile(file, trustedCA.PEM(), 0o600), os.Setenv("SSL_CERT_FILE", file)); err != nil {
		panic(err)
	}
	return m.Run()
}
