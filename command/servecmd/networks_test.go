package servecmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// startServing runs a server with a registry at registry.example.com, and returns its URL, and a function that ends it and returns its log.
func startServing(t *testing.T, registry *providertest.Registry, args ...string) (at string, end func() string) {
	t.Helper()
	dir := t.TempDir()
	env := must.Get(registry.Env(dir, string(providertest.Host)))(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(registry.CAPEM())
	newClient := func(o hosts.ClientOptions) (*http.Client, error) {
		o.TLS, o.Proxy = &tls.Config{RootCAs: roots}, func(*http.Request) (*url.URL, error) { return nil, nil }
		return hosts.NewClient(o)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, said := io.Pipe()
	var log bytes.Buffer
	m := &cli.Meta{Context: ctx, Stdout: said, Stderr: &log, Now: time.Now, HomeDir: dir, Env: env, NewClient: newClient}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer said.Close()
		if code, err := run(m, append(args, "-listen=127.0.0.1:0", filepath.Join(dir, "store"))); code != 0 || err != nil {
			t.Errorf("%d, %v", code, err)
		}
	}()
	end = func() string {
		stop()
		<-done
		return log.String()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, end())
	}
	t.Cleanup(func() { end() })
	_, at, _ = strings.Cut(strings.TrimSpace(line), " at ")
	return at, end
}

// TestServe_AsksNoHostOfItsOwnNetwork names, in each possible way of a registry and a client, a server that only this machine
// reaches. The server asks it only with -allow-network.
func TestServe_AsksNoHostOfItsOwnNetwork(t *testing.T) {
	t.Parallel()
	const widget = "/acme/widget/"
	for name, c := range map[string]struct {
		kind string // of the registry's answer that names the server; "" if the client does
		key  string // in that answer; "" for a redirect
		as   string // the server's address; "" means 127.0.0.1
		asks string // the requested kind; "" means the archive
	}{
		"an archive":                     {kind: "package", key: "download_url"},
		"an archive by a name":           {kind: "package", key: "download_url", as: "localhost"},
		"an archive by a mapped address": {kind: "package", key: "download_url", as: "[::ffff:127.0.0.1]"},
		"a list of checksums":            {kind: "package", key: "shasums_url"},
		"a redirect of an archive":       {kind: "archive"},
		"a redirect of a document":       {kind: "versions", asks: "index.json"},
		"a host that the client names":   {asks: "index.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reached atomic.Int32
			inside := httptest.NewUnstartedServer(http.NotFoundHandler())
			inside.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					reached.Add(1)
				}
			}
			inside.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			inside.StartTLS()
			t.Cleanup(inside.Close)
			registry := widgetRegistry(t)
			host, to := string(providertest.Host), strings.Replace(inside.URL, "127.0.0.1", cmp.Or(c.as, "127.0.0.1"), 1)+"/x.zip"
			switch {
			case c.kind == "":
				host = strings.TrimPrefix(inside.URL, "https://")
			case c.key == "":
				registry.Break(c.kind, providertest.Fault{Redirect: to})
			default:
				registry.Break(c.kind, providertest.Fault{Body: func(b []byte) []byte {
					return regexp.MustCompile(`"`+c.key+`":\s*"[^"]*"`).ReplaceAll(b, fmt.Appendf(nil, "%q: %q", c.key, to))
				}})
			}
			asked := host + widget + cmp.Or(c.asks, "terraform-provider-widget_1.0.0_linux_amd64.zip")
			ask := func(args ...string) string {
				at, end := startServing(t, registry, args...)
				resp := must.Get(http.Get(at + asked))(t)
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				must.Equal(t, resp.StatusCode, http.StatusBadGateway, resp.Status, string(body))
				return end()
			}
			// A client of another test may still ask a server that had this port before. What the server asks, it asks each time.
			notReached := func(args ...string) (log string) {
				for range 3 {
					reached.Store(0)
					if log = ask(args...); reached.Load() == 0 {
						return log
					}
				}
				t.Errorf("%q: %d connections were made\n%s", args, reached.Load(), log)
				return log
			}
			must.Contain(t, notReached(), "allow its network with -allow-network")
			notReached("-allow-network=192.0.2.0/24")
			if log := ask("-allow-network=192.0.2.0/24", "-allow-network=127.0.0.0/8"); reached.Load() == 0 {
				t.Errorf("no connection was made\n%s", log)
			}
		})
	}
}

// TestOptions_Named: hosts that the operator names may have private addresses.
func TestOptions_Named(t *testing.T) {
	product := getproviders.Terraform("")
	include := must.Get(patterns(product, []string{"registry.home/acme/*", "*/*/*", "hashicorp/*"}))(t)
	config := &cliconfig.Config{
		Hosts: map[hosts.Hostname]map[string]string{"registry.example.com": {"providers.v1": "https://10.0.0.1:8443/v1/"}, "other.example.com": {"modules.v1": "/v1/"}},
		Installation: []cliconfig.Method{
			{Kind: cliconfig.NetworkMirror, Location: "https://Mirror.home/x/"}, {Kind: cliconfig.OCIMirror, Location: "oci.home:5000/${namespace}/${type}"},
			{Kind: cliconfig.OCIMirror, Location: "${hostname}/x"}, {Kind: cliconfig.Direct}, {Kind: cliconfig.FilesystemMirror, Location: "/mirror"},
		},
	}
	o := options{hosts: []string{"command.home", "no host"}}
	named := strings.Join(o.named(cli.Environment{"https_proxy=http://user:secret@proxy.home:3128", "HTTP_PROXY=plain.home"}, config, include), " ") + " "
	for _, want := range []string{"registry.home:443", "registry.terraform.io:443", "10.0.0.1:8443", "other.example.com:443", "mirror.home:443", "oci.home:5000", "command.home:443", "proxy.home:3128", "plain.home:80"} {
		must.Contain(t, named, want+" ", want)
	}
	must.NotContain(t, named, "registry.example.com")
	must.NotContain(t, named, "secret")
	must.Len(t, sources.Named(nil, &cliconfig.Config{}), 0)
}
