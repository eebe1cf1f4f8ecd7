package hosts

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// Go reads the variables of proxies and certificates once in a process. So these tests run the test
// binary again; with this variable it requests one URL.
const childURL = "TFDEPS_TEST_CHILD_URL"

// fetchAsChild is the whole program of such a child process.
func fetchAsChild() int {
	opts := quick(0)
	opts.CertFile, opts.CertDir = os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR")
	client, err := NewClient(opts)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	u, err := url.Parse(os.Getenv(childURL))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	doc, err := GetDocument(context.Background(), client, DocumentRequest{URL: u, MaxBytes: 100})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("%s %s", doc.Status, doc.Body)
	return 0
}

// fetch runs a child whose only variables of that kind are the given ones.
func fetch(t *testing.T, url string, env ...string) (string, error) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), self)
	for _, kept := range os.Environ() {
		name, _, _ := strings.Cut(kept, "=")
		if name = strings.ToUpper(name); !strings.HasSuffix(name, "_PROXY") && !strings.HasPrefix(name, "SSL_CERT_") {
			cmd.Env = append(cmd.Env, kept)
		}
	}
	// The race detector makes a process sleep for a second at its end.
	cmd.Env = append(append(cmd.Env, env...), childURL+"="+url, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The two names of the origin server. Go never sends requests for loopback addresses to a proxy.
// Only the proxy can resolve the first name; the second is this machine on most systems, but Go
// doesn't treat it as loopback.
const (
	originName    = "registry.example.com"
	originAddress = "0.0.0.0"
)

// origin serves HTTPS under these names. Its certificate is in a file.
type origin struct {
	*httptest.Server
	port, certFile string
}

func startOrigin(t *testing.T) *origin {
	t.Helper()
	cert, pemBytes := selfSigned(t)
	srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }, func(srv *httptest.Server) {
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	})
	o := &origin{Server: srv, certFile: filepath.Join(t.TempDir(), "ca.pem")}
	_, o.port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	must.Write(t, o.certFile, pemBytes)
	return o
}

func (o *origin) at(name string) string { return "https://" + name + ":" + o.port + "/" }

func (o *origin) trusted() string { return "SSL_CERT_FILE=" + o.certFile }

func selfSigned(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		DNSNames:              []string{originName},
		IPAddresses:           []net.IP{net.ParseIP(originAddress), net.ParseIP("127.0.0.1")},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// forwardProxy is a forwarding proxy that connects each name to the same origin, and records
// requests.
type forwardProxy struct {
	*httptest.Server
	asked recorder
}

func startProxy(t *testing.T, o *origin) *forwardProxy {
	t.Helper()
	p := &forwardProxy{}
	p.Server = startPlain(t, func(w http.ResponseWriter, r *http.Request) {
		p.asked.add(r.Method + " " + r.Host + r.Header.Get("Proxy-Authorization"))
		to, err := net.Dial("tcp", o.Listener.Addr().String())
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		from, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(to, from)
			to.Close()
		}()
		io.Copy(from, to)
		from.Close()
	})
	return p
}

const fetched = "200 OK hello"

func TestProxyVariables_UpperCaseComesFirst(t *testing.T) {
	for want, variables := range map[string]map[string]string{
		"http://upper": {"HTTPS_PROXY": "http://upper", "https_proxy": "http://lower"},
		"http://lower": {"https_proxy": "http://lower", "HTTP_PROXY": "http://other"},
		"":             {"HTTPS_PROXY": "http://upper", "no_proxy": "a.example"},
	} {
		proxy, err := ProxyVariables(func(name string) string { return variables[name] })(get(t, "https://a.example"))
		if err != nil || (proxy == nil) != (want == "") || proxy != nil && proxy.String() != want {
			t.Errorf("%v: got %v, %v, want %q", variables, proxy, err, want)
		}
	}
}

func TestProxy_CredentialsReachTheProxy(t *testing.T) {
	o := startOrigin(t)
	p := startProxy(t, o)
	must.Equal(t, must.Get(fetch(t, o.at(originName), o.trusted(), "HTTPS_PROXY="+strings.Replace(p.URL, "://", "://me:secret@", 1)))(t), fetched)
	must.Equal(t, p.asked.all(), "CONNECT "+originName+":"+o.port+"Basic bWU6c2VjcmV0")
}

func TestClient_NoProxyGoesThereDirectly(t *testing.T) {
	o := startOrigin(t)
	p := startProxy(t, o)
	for _, tc := range []struct {
		noProxy string
		want    string
	}{
		{"other.example.com", "CONNECT " + originAddress + ":" + o.port},
		{originAddress, ""},
		{"*", ""},
	} {
		p.asked.reset()
		out, err := fetch(t, o.at(originAddress), o.trusted(), "HTTPS_PROXY="+p.URL, "NO_PROXY="+tc.noProxy)
		if err != nil || out != fetched || p.asked.all() != tc.want {
			t.Errorf("NO_PROXY=%s: got %s (%v); the proxy was asked: %q", tc.noProxy, out, err, p.asked.all())
		}
	}
}

func TestProxy_FailuresAreExplained(t *testing.T) {
	out, err := fetch(t, startOrigin(t).at(originName), "HTTPS_PROXY=http://me:secret@127.0.0.1:1")
	if err == nil || !strings.Contains(out, "proxyconnect tcp: dial tcp 127.0.0.1:1: ") || strings.Contains(out, "secret") {
		t.Errorf("got %s", out)
	}
}
