// Package ocitest starts an OCI registry for tests.
//
//	registry := ocitest.Start(t, providertest.NewCA(), false) // skips the test without docker-registry
package ocitest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// The login of a registry with one, and its hash.
const (
	Username = "robot"
	Password = "hunter22"
	htpasswd = Username + ":$2a$05$olGuFhLxn6kmHNhY9Re80u0KQVWVMNzca2ta8aBHRAbS11A3LSA7i\n"
)

// Registry is a running registry, which speaks https.
type Registry struct {
	Host   string       // 127.0.0.1:PORT
	Client *http.Client // trusts the registry
	CAFile string       // the registry's CA certificate
	Dir    string       // the registry's files
}

// Start starts Docker's own registry, which is another project's server, with a certificate of this CA. With login it
// requires [Username] and [Password]. It stops at the end of the test. Without the program, the test is skipped.
func Start(t *testing.T, ca *providertest.CA, login bool) Registry {
	t.Helper()
	if testing.Short() {
		t.Skip("a short test starts no registry of images")
	}
	program := peertest.LookProgram(t, "docker-registry")
	r := Registry{Dir: t.TempDir()}
	write := func(name string, content []byte) {
		must.Succeed(t, os.WriteFile(filepath.Join(r.Dir, name), content, 0o600))
	}
	certificate, key, err := ca.ServerPEM()
	must.Succeed(t, err)
	r.CAFile = filepath.Join(r.Dir, "ca.pem")
	config := "version: 0.1\nlog: {accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: data}}\nhttp: {addr: \"127.0.0.1:0\", tls: {certificate: cert.pem, key: key.pem}}\n"
	if login {
		config += "auth: {htpasswd: {realm: tests, path: htpasswd}}\n"
	}
	write("ca.pem", ca.PEM())
	write("cert.pem", certificate)
	write("key.pem", key)
	write("htpasswd", []byte(htpasswd))
	write("config.yml", []byte(config))
	// While a tag is written, the registry may answer reads with 500.
	r.Client = must.Get(hosts.NewClient(hosts.ClientOptions{CertFile: r.CAFile, Retries: 5, RetryWaitMin: 20 * time.Millisecond, RetryWaitMax: 100 * time.Millisecond}))(t)
	t.Cleanup(r.Client.CloseIdleConnections)
	r.Host = r.serve(t, program)
	return r
}

// PushModule publishes the package of a module, a zip archive, under a tag, and returns the digest of its manifest.
func (r Registry) PushModule(t *testing.T, repository, tag string, archive []byte) (digest string) {
	t.Helper()
	base := "https://" + r.Host + "/v2/" + repository
	send := func(method, url, contentType string, content []byte) *http.Response {
		req := must.Get(http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(content)))(t)
		req.SetBasicAuth(Username, Password)
		req.Header.Set("Content-Type", contentType)
		resp := must.Get(r.Client.Do(req))(t)
		resp.Body.Close()
		if resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %s", method, url, resp.Status)
		}
		return resp
	}
	digestOf := func(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }
	config := []byte("{}")
	for _, blob := range [][]byte{config, archive} {
		at := must.Get(send(http.MethodPost, base+"/blobs/uploads/", "", nil).Location())(t)
		query := at.Query()
		query.Set("digest", digestOf(blob))
		at.RawQuery = query.Encode()
		send(http.MethodPut, at.String(), "application/octet-stream", blob)
	}
	const mediaType = "application/vnd.oci.image.manifest.v1+json"
	manifest := fmt.Appendf(nil, `{"schemaVersion": 2, "mediaType": %q, "artifactType": "application/vnd.opentofu.modulepkg",
		"config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": %q, "size": 2}, "layers": [{"mediaType": "archive/zip", "digest": %q, "size": %d}]}`,
		mediaType, digestOf(config), digestOf(archive), len(archive))
	send(http.MethodPut, base+"/manifests/"+tag, mediaType, manifest)
	return digestOf(manifest)
}

// serve returns the host from the program's log: another program may take a port that was free a moment ago.
func (r Registry) serve(t *testing.T, program string) (host string) {
	t.Helper()
	log := must.Get(os.Create(filepath.Join(r.Dir, "log")))(t)
	defer log.Close()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", "config.yml")
	cmd.Dir, cmd.Env = r.Dir, []string{"HOME=" + r.Dir, "OTEL_TRACES_EXPORTER=none"}
	cmd.Stdout, cmd.Stderr = log, log
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
	})
	var said []byte
	for range 500 {
		said = must.Get(os.ReadFile(log.Name()))(t)
		if _, rest, found := strings.Cut(string(said), "listening on "); found {
			if host, _, found = strings.Cut(rest, ", tls"); found {
				return host
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("docker-registry doesn't listen: %s", said)
	return ""
}
