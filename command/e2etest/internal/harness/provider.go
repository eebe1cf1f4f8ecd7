package harness

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// ProviderConfig is a configuration for the real provider in testdata/provider.
const ProviderConfig = `terraform {
  required_providers {
    tiny = {
      source  = "tf.example.com/tfdeps/tiny"
      version = "~> 1.0"
    }
  }
}

data "tiny_echo" "greeting" {
  text = "hello"
}

resource "tiny_note" "greeting" {
  text = data.tiny_echo.greeting.text
}
`

// PluginEnv is Env for runs that start the provider: its socket is below TMPDIR, where the test's own directory may have too long a
// path.
func PluginEnv(t *testing.T, extra ...string) []string {
	t.Helper()
	return Env(t, append(extra, "TMPDIR="+peertest.PublicDir(t))...)
}

// PackedProvider builds the provider and returns its package, which callers must not
// change.
func PackedProvider(t *testing.T) []byte {
	t.Helper()
	archive, err := packed(BuildNested(t, "testdata/provider"))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// packed makes a package of a built provider.
var packed = once(func(program string) ([]byte, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	header := &zip.FileHeader{Name: "terraform-provider-tiny_v1.0.0", Method: zip.Deflate}
	header.SetMode(0o755)
	w, err := archive.CreateHeader(header)
	if err == nil {
		_, err = w.Write(content)
	}
	err = errors.Join(err, archive.Close())
	return out.Bytes(), err
})

// BuildNested is Build for a program that is its own Go module. The test is
// skipped if its dependencies can't be downloaded.
func BuildNested(t *testing.T, dir string) string {
	t.Helper()
	if _, failed := built(dir); failed != nil {
		if out, err := GoCommand("list", "-C", Path(t, dir), "-deps", ".").CombinedOutput(); err != nil {
			if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
				t.Fatalf("TFDEPS_REQUIRE_PEERS=1, and the modules of %s can't be had: %v\n%s", dir, err, out)
			}
			t.Skipf("the modules of %s can't be had: %v\n%s", dir, err, out)
		}
	}
	return Build(t, dir)
}
