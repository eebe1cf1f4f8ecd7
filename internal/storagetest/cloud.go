package storagetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Cloud replaces every service that Terraform's backends use: a server on loopback, and a proxy
// that leads every host to it, also over TLS.
type Cloud struct {
	URL string   // of the server itself
	Env []string // makes a program use the proxy and trust its CA
}

// StartCloud starts a cloud that is empty, and ends with the test.
func StartCloud(t *testing.T) Cloud {
	t.Helper()
	authority := newAuthority(t)
	handler := http.HandlerFunc(answer)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	inside := httptest.NewUnstartedServer(handler)
	inside.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return authority.issue(hello.ServerName)
	}}
	inside.StartTLS()
	t.Cleanup(inside.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			handler(w, r)
			return
		}
		tunnel(w, inside.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, authority.pem, 0o644); err != nil {
		t.Fatal(err)
	}
	return Cloud{URL: server.URL, Env: []string{
		"https_proxy=", "http_proxy=", "no_proxy=", // first: on Windows these are the same variables, and the last ones count
		"HTTPS_PROXY=" + proxy.URL, "HTTP_PROXY=" + proxy.URL, "NO_PROXY=127.0.0.1", "SSL_CERT_FILE=" + file,
	}}
}

// answer sends each service's shortest response that means that nothing exists yet.
func answer(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/.well-known/terraform.json":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"tfe.v2": "/api/v2/", "tfe.v2.1": "/api/v2/", "tfe.v2.2": "/api/v2/", "state.v2": "/api/v2/"}`)
	case strings.HasPrefix(path, "/api/v2/"):
		answerWorkspaces(w, r)
	case strings.HasPrefix(r.Host, "sts.") && strings.Contains(r.Host, "tencent"):
		fmt.Fprint(w, `{"Response": {"Credentials": {"Token": "t", "TmpSecretId": "a", "TmpSecretKey": "s"}, "ExpiredTime": 4000000000, "RequestId": "x"}}`)
	case strings.HasPrefix(r.Host, "sts.") && strings.Contains(r.Host, "aliyun"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"RequestId": "x", "Credentials": {"AccessKeyId": "a", "AccessKeySecret": "s", "SecurityToken": "t", "Expiration": "2100-01-01T00:00:00Z"}}`)
	case strings.HasPrefix(path, "/sts") && r.PostFormValue("Action") == "AssumeRoleWithWebIdentity":
		fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
			`<AccessKeyId>a</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>`+
			`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
	case strings.HasPrefix(path, "/sts"):
		fmt.Fprint(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>`+
			`<AccessKeyId>a</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>`+
			`</Credentials></AssumeRoleResult></AssumeRoleResponse>`)
	case strings.HasPrefix(path, "/api/v1/namespaces/"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}`)
	case strings.HasPrefix(path, "/n/"): // Oracle's
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"objects": []}`)
	case strings.Contains(path, "/storage/v1/"), strings.HasPrefix(path, "/b/p/"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind": "storage#objects", "items": []}`)
	case r.URL.Query().Get("comp") == "list":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs></Blobs><NextMarker/></EnumerationResults>`)
	case strings.HasPrefix(path, "/v1/"): // Consul's
		w.Header().Set("X-Consul-Index", "1")
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated></ListBucketResult>`)
	}
}

// answerWorkspaces sends the response of a service with one workspace.
func answerWorkspaces(w http.ResponseWriter, r *http.Request) {
	const workspace = `{"id": "ws-1", "type": "workspaces", "attributes": {"name": "w", "terraform-version": "1.11.4", "execution-mode": "local",
		"operations": false, "permissions": {"can-update": true, "can-queue-run": true}},
		"relationships": {"organization": {"data": {"id": "o", "type": "organizations"}}}}`
	w.Header().Set("Content-Type", "application/vnd.api+json")
	w.Header().Set("TFP-API-Version", "2.6")
	w.Header().Set("TFP-AppName", "HCP Terraform")
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/ping"):
		w.WriteHeader(http.StatusNoContent)
	case strings.HasSuffix(path, "/entitlement-set"):
		fmt.Fprint(w, `{"data": {"id": "o", "type": "entitlement-sets", "attributes": {"operations": true, "state-storage": true}}}`)
	case strings.HasSuffix(path, "/workspaces"):
		fmt.Fprintf(w, `{"data": [%s], "meta": {"pagination": {"current-page": 1, "total-pages": 1, "total-count": 1}}}`, workspace)
	case strings.HasSuffix(path, "/projects"):
		fmt.Fprint(w, `{"data": [{"id": "prj-1", "type": "projects", "attributes": {"name": "p"}}],
			"meta": {"pagination": {"current-page": 1, "total-pages": 1, "total-count": 1}}}`)
	case strings.Contains(path, "/workspaces/") && !strings.HasSuffix(path, "current-state-version"):
		fmt.Fprintf(w, `{"data": %s}`, workspace)
	case strings.HasSuffix(path, "/organizations/o"):
		fmt.Fprint(w, `{"data": {"id": "o", "type": "organizations", "attributes": {"name": "o"}}}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors": [{"status": "404", "title": "not found"}]}`)
	}
}

// tunnel connects a client of the proxy to a server.
func tunnel(w http.ResponseWriter, address string) {
	server, err := net.Dial("tcp", address)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		server.Close()
		return
	}
	fmt.Fprint(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	done := func() { client.Close(); server.Close() }
	go func() { defer done(); _, _ = io.Copy(server, client) }()
	go func() { defer done(); _, _ = io.Copy(client, server) }()
}

// authority is a CA that signs a certificate for any host.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{key, template, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) issue(host string) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, err
}
