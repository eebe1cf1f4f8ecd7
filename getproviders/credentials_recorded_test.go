package getproviders

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// web is the whole web, on two loopback servers: one for https and one for http. It records which
// URL received which token.
type web struct {
	answers pages // by URL, without the query
	client  *http.Client
	log     bytes.Buffer // of the client, with debug records

	mu   sync.Mutex
	told map[string]string // URL to the Authorization header of its request
}

func newWeb(t *testing.T, answers pages) *web {
	t.Helper()
	w := &web{answers: answers, told: map[string]string{}}
	plain := httptest.NewServer(w.handler("http"))
	secure := httptest.NewUnstartedServer(w.handler("https"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that were not needed
	secure.StartTLS()
	transport := secure.Client().Transport.(*http.Transport).Clone()
	// The certificate is for example.com, for each requested host.
	transport.TLSClientConfig.ServerName = "example.com"
	transport.DialTLSContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&tls.Dialer{Config: transport.TLSClientConfig}).DialContext(ctx, network, secure.Listener.Addr().String())
	}
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, plain.Listener.Addr().String())
	}
	t.Cleanup(func() { transport.CloseIdleConnections(); plain.Close(); secure.Close() })
	w.client = must.Get(hosts.NewClient(hosts.ClientOptions{
		Retries: 1, RetryWaitMin: 1, Base: transport,
		Log: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}))(t)
	return w
}

func (w *web) handler(scheme string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		at := scheme + "://" + req.Host + req.URL.Path
		if header := req.Header.Get("Authorization"); header != "" {
			w.mu.Lock()
			w.told[at] = header
			w.mu.Unlock()
		}
		w.answers.serve(rw, at)
	})
}

// knownTokens are Credentials for the hosts of these tests.
type knownTokens map[hosts.Hostname]string

func (c knownTokens) Token(_ context.Context, host hosts.Hostname) (string, error) {
	return c[host], nil
}

// brokenHelper are Credentials that fail.
type brokenHelper struct{}

func (brokenHelper) Token(context.Context, hosts.Hostname) (string, error) {
	return "", errors.New("the helper failed")
}

var everyToken = knownTokens{
	"registry.example":      "hunter-registry",
	"registry.example:8443": "hunter-port",
	"api.example":           "hunter-api",
	"cdn.example":           "hunter-cdn",
	"mirror.example":        "hunter-mirror",
	"mirror.example:8443":   "hunter-mirror-port",
	"sub.mirror.example":    "hunter-sub",
}

// install requests all that an installer requests from a source, and returns all texts that a user
// may see.
func (w *web) install(t *testing.T, source Source, archives *http.Client) (said string) {
	var text strings.Builder
	say := func(err error) {
		fmt.Fprintf(&text, "%v\n%+v\n%s\n", err, err, hint(err))
		if refused := FaultOf(err, ErrUnauthorized); refused != nil {
			fmt.Fprintf(&text, "%+v\n", *refused)
		}
	}
	available, err := versionsOf(t, source)
	say(err)
	found, err := packageOf(t, source)
	say(err)
	fmt.Fprintf(&text, "%v\n%s %v\n", available, found.Source, found.Skipped)
	if err != nil {
		return text.String()
	}
	if found.Trust.Load != nil {
		_, err := found.Trust.Loaded(t.Context())
		say(err)
	}
	at := found.Location.(HTTPArchive)
	fmt.Fprintln(&text, at)
	ctx := hosts.WithArchiveOwner(t.Context(), at.Owner)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL.String(), nil)
	must.Succeed(t, err)
	resp, err := hosts.Do(archives, req)
	say(err)
	if err == nil {
		resp.Body.Close()
	}
	return text.String()
}

// registry is a source of this web with credentials for discovery, and for the service.
func (w *web) registry(discovery, service hosts.Credentials) *RegistrySource {
	return &RegistrySource{Client: w.client, Discovery: &hosts.Discovery{Client: w.client, Credentials: discovery}, Credentials: service, Product: terraform}
}

// heard returns which URLs received which token.
func (w *web) heard() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.told)
}

// check compares the URLs that received the token with the expected ones.
func (w *web) check(t *testing.T, said, token string, urls ...string) {
	t.Helper()
	want := map[string]string{}
	for _, at := range urls {
		want[at] = "Bearer " + token
	}
	must.DeepEqual(t, w.heard(), want)
	for name, text := range map[string]string{"what the user sees": said, "the log": w.log.String()} {
		must.NotContain(t, text, "hunter", name)
		must.NotContain(t, text, "Bearer", name)
	}
	must.Contain(t, w.log.String(), "HTTP request", "nothing was logged")
}

// registryWeb is a web with a registry. Its API has the base URL api, and its files another one.
func registryWeb(t *testing.T, api, files string) pages {
	t.Helper()
	return pages{
		"https://registry.example/.well-known/terraform.json": `{"providers.v1": "` + api + `"}`,
		api + "acme/widget/versions":                          `{"versions": [{"version": "1.0.0"}]}`,
		api + "acme/widget/1.0.0/download/linux/amd64": packageBody(t, map[string]any{
			"download_url": files + "w.zip?signature=hunter", "shasums_url": files + "sums", "shasums_signature_url": files + "sums.sig",
		}),
		files + "w.zip": "", files + "sums": "", files + "sums.sig": "",
	}
}

const (
	discoveryURL = "https://registry.example/.well-known/terraform.json"
	ownAPI       = "https://registry.example/v1/"
	ownFiles     = "https://registry.example/files/"
	versionsDoc  = "acme/widget/versions"
	packageDoc   = "acme/widget/1.0.0/download/linux/amd64"
)

// TestRegistrySource_TokensReachNoOtherHost has a row for each way to redirect a request with a
// token to another host. URLs without a listed token must not receive one.
func TestRegistrySource_TokensReachNoOtherHost(t *testing.T) {
	all := []string{discoveryURL, ownAPI + versionsDoc, ownAPI + packageDoc}
	type row struct {
		api, files string
		change     pages
		told       []string
	}
	rows := map[string]row{
		"files on another host": {ownAPI, "https://cdn.example/", nil, all},
		"files on another port": {ownAPI, "https://registry.example:8443/", nil, all},
		"files over plain http": {ownAPI, "http://registry.example/", nil, all},
		"API over plain http":   {"http://registry.example/v1/", ownFiles, nil, []string{discoveryURL}},
		"API on plain loopback": {"http://localhost/v1/", ownFiles, nil, []string{discoveryURL, "http://localhost/v1/" + versionsDoc, "http://localhost/v1/" + packageDoc}},
		"API on another host":   {"https://api.example/", "https://api.example/files/", nil, []string{discoveryURL, "https://api.example/" + versionsDoc, "https://api.example/" + packageDoc}},
		"discovery over http":   {ownAPI, ownFiles, pages{discoveryURL: "302 http://registry.example/doc.json", "http://registry.example/doc.json": `{"providers.v1": "https://api.example/"}`}, []string{discoveryURL}},
		"package, same host":    {ownAPI, ownFiles, pages{ownAPI + packageDoc: "302 " + ownAPI + "moved"}, append(all, ownAPI+"moved")},
		"files, redirected":     {ownAPI, "https://cdn.example/", pages{"https://cdn.example/w.zip": "302 " + ownFiles + "w.zip", "https://cdn.example/sums": "302 " + ownFiles + "sums", "https://cdn.example/sums.sig": "302 " + ownFiles + "sums.sig"}, all},
		"401 everywhere":        {ownAPI, ownFiles, pages{discoveryURL: "401", ownAPI + versionsDoc: "401", ownAPI + packageDoc: "401"}, []string{discoveryURL}},
	}
	for name, change := range map[string]pages{
		"all on one host":        nil,
		"discovery redirected":   {discoveryURL: "302 https://cdn.example/doc.json", "https://cdn.example/doc.json": `{"providers.v1": "` + ownAPI + `"}`},
		"versions, other host":   {ownAPI + versionsDoc: "302 https://cdn.example/v"},
		"versions, subdomain":    {ownAPI + versionsDoc: "302 https://sub.registry.example/v"},
		"versions, other port":   {ownAPI + versionsDoc: "302 https://registry.example:8443/v"},
		"versions, plain http":   {ownAPI + versionsDoc: "302 http://registry.example/v"},
		"package, other host":    {ownAPI + packageDoc: "302 https://cdn.example/p"},
		"package, there, back":   {ownAPI + packageDoc: "302 https://cdn.example/p", "https://cdn.example/p": "302 " + ownAPI + "secret"},
		"403 from the API":       {ownAPI + versionsDoc: "403", ownAPI + packageDoc: "403"},
		"401 after a redirect":   {ownAPI + versionsDoc: "302 https://cdn.example/v", "https://cdn.example/v": "401"},
		"401 for files":          {ownFiles + "sums": "401", ownFiles + "w.zip": "401"},
		"500, which is retried":  {ownAPI + versionsDoc: "500", ownAPI + packageDoc: "500"},
		"no JSON":                {ownAPI + versionsDoc: "x", ownAPI + packageDoc: "x"},
		"endless redirects":      {ownAPI + versionsDoc: "302 " + ownAPI + versionsDoc},
		"redirect to nonsense":   {ownAPI + versionsDoc: "302 ftp://me:hunter@registry.example/?hunter"},
		"missing package, hints": {ownAPI + packageDoc: "404"},
	} {
		rows[name] = row{ownAPI, ownFiles, change, all}
	}
	for name, test := range rows {
		t.Run(name, func(t *testing.T) {
			answers := registryWeb(t, test.api, test.files)
			maps.Copy(answers, test.change)
			w := newWeb(t, answers)
			w.check(t, w.install(t, w.registry(everyToken, everyToken), w.client), "hunter-registry", test.told...)
		})
	}
}

const (
	mirrorURL  = "https://mirror.example/p/"
	mirrorDir  = mirrorURL + "registry.example/acme/widget/"
	mirrorZip  = mirrorDir + "w.zip"
	indexDoc   = mirrorDir + "index.json"
	versionDoc = mirrorDir + "1.0.0.json"
	sigDoc     = mirrorDir + "terraform-provider-widget_1.0.0_SHA256SUMS.sig"
)

// mirroredAt is a version's document for an archive at a URL.
func mirroredAt(at string) string {
	return `{"archives": {"linux_amd64": {"url": "` + at + `"}}}`
}

func TestMirror_TokensReachNoOtherHost(t *testing.T) {
	for name, test := range map[string]struct {
		change  pages
		moved   string // the URL that receives the token besides the documents
		archive string // the URL that receives it, too, if archives may have the mirror's token
	}{
		"archive beside":           {nil, "", mirrorZip},
		"archive, same host":       {pages{versionDoc: mirroredAt("https://mirror.example:443/w.zip")}, "", "https://mirror.example:443/w.zip"},
		"archive, other host":      {pages{versionDoc: mirroredAt("https://cdn.example/w.zip")}, "", ""},
		"archive, other port":      {pages{versionDoc: mirroredAt("https://mirror.example:8443/w.zip")}, "", ""},
		"archive, subdomain":       {pages{versionDoc: mirroredAt("https://sub.mirror.example/w.zip")}, "", ""},
		"archive, plain http":      {pages{versionDoc: mirroredAt("http://mirror.example/w.zip")}, "", ""},
		"archive, a registry's":    {pages{versionDoc: mirroredAt("https://registry.example/w.zip")}, "", ""},
		"archive redirected":       {pages{mirrorZip: "302 https://cdn.example/w.zip"}, "", mirrorZip},
		"archive, other port then": {pages{mirrorZip: "302 https://mirror.example:8443/w.zip"}, "", mirrorZip},
		"archive, http then":       {pages{mirrorZip: "302 http://mirror.example/w.zip"}, "", mirrorZip},
		"archive, there and back":  {pages{mirrorZip: "302 https://cdn.example/w", "https://cdn.example/w": "302 " + mirrorURL + "secret"}, "", mirrorZip},
		"index, other host":        {pages{indexDoc: "302 https://cdn.example/i"}, "", mirrorZip},
		"index, other port":        {pages{indexDoc: "302 https://mirror.example:8443/i"}, "", mirrorZip},
		"index, subdomain":         {pages{indexDoc: "302 https://sub.mirror.example/i"}, "", mirrorZip},
		"index, plain http":        {pages{indexDoc: "302 http://mirror.example/i"}, "", mirrorZip},
		"index, same host":         {pages{indexDoc: "302 " + mirrorURL + "i"}, mirrorURL + "i", mirrorZip},
		// Another user can then choose the archive's URL, which can be anything.
		"version, other host": {pages{versionDoc: "302 https://cdn.example/v/1.json", "https://cdn.example/v/1.json": mirroredAt("w.zip")}, "", ""},
		"version, and back":   {pages{versionDoc: "302 https://cdn.example/v/1.json", "https://cdn.example/v/1.json": mirroredAt(mirrorZip)}, "", ""},
		"401 everywhere":      {pages{indexDoc: "401", versionDoc: "401"}, "", ""},
		"signature elsewhere": {pages{sigDoc: "302 https://cdn.example/sig"}, "", mirrorZip},
		"401 for the archive": {pages{mirrorZip: "401"}, "", mirrorZip},
		"503, retried":        {pages{indexDoc: "503", versionDoc: "503"}, "", ""},
		"a login page":        {pages{indexDoc: "<html>", versionDoc: "<html>"}, "", ""},
		"nothing there":       {pages{indexDoc: "404", versionDoc: "404"}, "", ""},
	} {
		for _, opted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, %t", name, opted), func(t *testing.T) {
				answers := pages{indexDoc: goodIndex, versionDoc: mirroredAt("w.zip"), mirrorZip: ""}
				maps.Copy(answers, test.change)
				w := newWeb(t, answers)
				source := must.Get(NewNetworkMirrorSource(mirrorURL, w.client, everyToken, terraform))(t)
				archives, told := w.client, []string{indexDoc, versionDoc, test.moved}
				if opted {
					archives, told = hosts.WithArchiveCredentials(w.client, everyToken), append(told, test.archive)
				}
				if changed := test.change[versionDoc]; !slices.Contains([]string{"401", "404", "503", "<html>"}, changed) {
					told = append(told, sigDoc) // it is requested when the package is known
				}
				told = slices.DeleteFunc(told, func(at string) bool { return at == "" })
				w.check(t, w.install(t, source, archives), "hunter-mirror", told...)
			})
		}
	}
}

// TestRegistrySource_ArchivesMayHaveTheTokenOfTheirRegistry: it depends on the service's origin,
// and the token is that of the provider's host.
func TestRegistrySource_ArchivesMayHaveTheTokenOfTheirRegistry(t *testing.T) {
	for name, test := range map[string]struct {
		api, files string
		change     pages
		told       string
	}{
		"on the registry's host": {ownAPI, ownFiles, nil, ownFiles + "w.zip"},
		"on the service's host":  {"https://api.example/v1/", "https://api.example/files/", nil, "https://api.example/files/w.zip"},
		"not beside the service": {"https://api.example/v1/", ownFiles, nil, ""},
		"elsewhere":              {ownAPI, "https://cdn.example/", nil, ""},
		"on another port":        {ownAPI, "https://registry.example:8443/", nil, ""},
		"plain http":             {"http://registry.example/v1/", "http://registry.example/files/", nil, ""},
		"described elsewhere": {ownAPI, ownFiles, pages{
			ownAPI + packageDoc: "302 https://cdn.example/p", "https://cdn.example/p": packageBody(t, map[string]any{"download_url": ownFiles + "w.zip"}),
		}, ""},
		"redirected": {ownAPI, ownFiles, pages{ownFiles + "w.zip": "302 https://cdn.example/w.zip"}, ownFiles + "w.zip"},
	} {
		t.Run(name, func(t *testing.T) {
			answers := registryWeb(t, test.api, test.files)
			maps.Copy(answers, test.change)
			w := newWeb(t, answers)
			w.install(t, w.registry(nil, everyToken), hosts.WithArchiveCredentials(w.client, everyToken))
			told := w.heard()
			maps.DeleteFunc(told, func(at, _ string) bool { return strings.Contains(at, "acme/widget") })
			if test.told != "" {
				must.Equal(t, told[test.told], "Bearer hunter-registry")
				delete(told, test.told)
			}
			must.Len(t, told, 0)
		})
	}
}
