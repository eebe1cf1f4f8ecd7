package getproviders_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// oddMirrorAnswers are mirrors that are odd in one way: their answers by path, "" for 404.
// PLATFORM and ZH stand for this machine's platform and the archive's checksum. Want is the result
// of authenticating, "" if nothing is installed.
var oddMirrorAnswers = map[string]struct {
	index, version string
	status         int    // of both documents; 0: 200
	mediaType      string // likewise; "": application/json
	path           string // of the mirror's URL; "": /p/
	differs        string // why tfdeps differs from Terraform, if so: then Want is about tfdeps
	want           string
}{
	"nothing odd":            {want: "unauthenticated"},
	"zh":                     {version: hashed(`"ZH"`), want: "verified checksum"},
	"zh beside a wrong h1":   {version: hashed(`"h1:x", "ZH"`), want: "verified checksum"},
	"zh in capitals":         {version: hashed(`"zh:ABCDEF"`)},
	"wrong h1":               {version: hashed(`"h1:x"`)},
	"two wrong ones":         {version: hashed(`"h1:x", "zh:00"`)},
	"unknown scheme":         {version: hashed(`"h9:x"`)},
	"unknown scheme and zh":  {version: hashed(`"h9:x", "ZH"`), want: "verified checksum"},
	"no scheme":              {version: hashed(`"ZH", "x"`)},
	"null hash":              {version: hashed(`null, "ZH"`)},
	"no hashes":              {version: hashed(``), want: "unauthenticated"},
	"null hashes":            {version: `{"archives": {"PLATFORM": {"url": "w.zip", "hashes": null}}}`, want: "unauthenticated"},
	"hashes as text":         {version: `{"archives": {"PLATFORM": {"url": "w.zip", "hashes": "ZH"}}}`},
	"absolute URL":           {version: `{"archives": {"PLATFORM": {"url": "/w.zip"}}}`, want: "unauthenticated"},
	"no URL":                 {version: `{"archives": {"PLATFORM": {}}}`},
	"another scheme":         {version: `{"archives": {"PLATFORM": {"url": "ftp://localhost/w.zip"}}}`},
	"another platform":       {version: `{"archives": {"zos_s390x": {"url": "w.zip"}}}`},
	"another, and broken":    {version: `{"archives": {"PLATFORM": {"url": "w.zip"}, "zos_s390x": {"url": ":", "hashes": ["x"]}}}`, want: "unauthenticated"},
	"null platform":          {version: `{"archives": {"PLATFORM": null}}`},
	"null archives":          {version: `{"archives": null}`},
	"archives as array":      {version: `{"archives": []}`},
	"no version document":    {version: "-"},
	"no index":               {index: "-"},
	"null hint":              {index: `{"versions": {"1.0.0": null}}`, want: "unauthenticated"},
	"short version":          {index: `{"versions": {"1.0": {}}}`, want: "unauthenticated"},
	"odd versions besides":   {index: `{"versions": {"1.0.0": {}, "v2.0.0": {}, "latest": {}}}`, want: "unauthenticated"},
	"only odd versions":      {index: `{"versions": {"v2.0.0": {}}}`},
	"no versions":            {index: `{"versions": {}}`},
	"null versions":          {index: `{"versions": null}`},
	"nothing in it":          {index: `{}`},
	"null":                   {index: `null`},
	"array":                  {index: `[]`},
	"capitals":               {index: `{"Versions": {"1.0.0": {}}}`, want: "unauthenticated"},
	"a registry's":           {index: `{"versions": [{"version": "1.0.0"}]}`},
	"no JSON":                {index: `<html>`},
	"byte order mark":        {index: "\ufeff" + goodIndex},
	"text hint":              {index: `{"versions": {"1.0.0": "x"}}`, want: "unauthenticated", differs: "hints have no meaning yet"},
	"more than one document": {index: goodIndex + "{}", differs: "it may be two answers in one"},
	"with charset":           {mediaType: "application/json; charset=utf-8", want: "unauthenticated"},
	"text":                   {mediaType: "text/plain"},
	"a relative of JSON":     {mediaType: "application/vnd.api+json"},
	"broken media type":      {mediaType: "application/json; ="},
	"no content":             {status: 204},
	"gone":                   {status: 410},
	"denied":                 {status: 403},
	"URL without slash":      {path: "/p"},
	"URL of the host only":   {path: "-"},
	"URL with a query":       {path: "/p/?a=b#c", want: "unauthenticated"},
}

func hashed(hashes string) string {
	return `{"archives": {"PLATFORM": {"url": "w.zip", "hashes": [` + hashes + `]}}}`
}

// TestNetworkMirrorSource_AgreesWithRealTerraform has Terraform install from odd mirrors, and
// compares the results.
func TestNetworkMirrorSource_AgreesWithRealTerraform(t *testing.T) {
	t.Parallel()
	terraform := peertest.LookTerraform(t)
	archive := providertest.Zip(map[string]string{"terraform-provider-widget": "x"})
	expand := strings.NewReplacer("PLATFORM", getproviders.CurrentPlatform().String(), "ZH", fmt.Sprintf("zh:%x", sha256.Sum256(archive)))
	for name, odd := range oddMirrorAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			index, version := odd.index, odd.version
			if index == "" {
				index = goodIndex
			}
			if version == "" {
				version = `{"archives": {"PLATFORM": {"url": "w.zip"}}}`
			}
			server, err := providertest.NewServer(providertest.ServerOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				body, isDocument := map[string]string{"index.json": index, "1.0.0.json": version}[strings.TrimPrefix(req.URL.Path, "/p/registry.example/acme/widget/")]
				switch {
				case strings.HasSuffix(req.URL.Path, "w.zip"):
					_, _ = w.Write(archive)
				case !isDocument || body == "-":
					http.NotFound(w, req)
				default:
					w.Header().Set("Content-Type", orText(odd.mediaType, "application/json"))
					w.WriteHeader(max(odd.status, 200))
					_, _ = io.WriteString(w, expand.Replace(body))
				}
			})})
			must.Succeed(t, err)
			t.Cleanup(server.Close)
			base := server.BaseURL() + strings.TrimPrefix(orText(odd.path, "/p/"), "-")
			ours, err := judgedBySource(t, server, base)
			must.Equal(t, ours, odd.want, err)
			theirs, output := judgedByTerraform(t, terraform, server, base)
			must.Equal(t, ours != theirs, odd.differs != "", output)
		})
	}
}

func orText(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return given
}

// judgedBySource authenticates the newest version, and returns the result.
func judgedBySource(t *testing.T, server *providertest.Server, base string) (string, error) {
	t.Helper()
	source, err := getproviders.NewNetworkMirrorSource(base, server.Client(), nil, getproviders.Terraform("1.15.9"))
	if err != nil {
		return "", err
	}
	available, err := versionsOf(t, source)
	if err != nil {
		return "", err
	}
	newest, ok := getproviders.Constraints{}.Newest(available.Versions)
	if !ok {
		return "", errors.New("no version")
	}
	found, err := source.Package(t.Context(), widget, newest, getproviders.CurrentPlatform())
	if err != nil {
		return "", err
	}
	trust, err := found.Trust.Loaded(t.Context())
	if err != nil {
		return "", err
	}
	if trust.Authenticator == nil {
		return getproviders.LevelUnauthenticated.String(), nil
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, found.Location.(getproviders.HTTPArchive).URL.String(), nil)
	if err != nil {
		return "", err
	}
	resp, err := hosts.Do(server.Client(), req, 10)
	if err != nil {
		return "", err
	}
	content, err := hosts.ReadAll(resp, 1<<20)
	if err != nil {
		return "", err
	}
	result, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sha256.Sum256(content)})
	if err != nil {
		return "", err
	}
	return result.TrustLevel.String(), nil
}

func judgedByTerraform(t *testing.T, terraform string, server *providertest.Server, base string) (judged, output string) {
	t.Helper()
	env, err := server.Environ(t.TempDir(), fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", base))
	must.Succeed(t, err)
	_, output, ok := terraformInit(t, terraform, widget, env...)
	if !ok {
		return "", output
	}
	installed := regexp.MustCompile(`- Installed registry.example/acme/widget v1.0.0 \(([^)]+)\)`).FindStringSubmatch(output)
	if installed == nil {
		t.Fatalf("terraform says nothing of an installation:\n%s", output)
	}
	return installed[1], output
}
