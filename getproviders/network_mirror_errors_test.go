package getproviders

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestNetworkMirrorSource_RefusesMalformedIndexes(t *testing.T) {
	for body, problem := range map[string]string{
		`<html>`:                       "invalid character '<'",
		``:                             "unexpected end of JSON input",
		goodIndex + `{}`:               "after top-level value",
		`null`:                         "it is null, not an object",
		`[]`:                           "it is a JSON array, not an object",
		`{"versions": 1}`:              "versions is not a JSON object",
		strings.Repeat(`{"a":`, 20000): "exceeded max depth",
	} {
		fake := newFakeRegistry(t, pages{indexPath: body})
		_, err := versionsOf(t, fake.mirrorAt(t, mirrorBase))
		wantQueryError(t, err, "could not query provider mirror for registry.example/acme/widget: malformed answer", fake.URL+indexPath, problem)
	}
}

func TestNetworkMirrorSource_RefusesMalformedVersions(t *testing.T) {
	for body, problem := range map[string]string{
		`<html>`:                                 "invalid character '<'",
		`{"archives": []}`:                       "archives can't be a JSON array",
		`{"archives": {"linux_amd64": "w.zip"}}`: "archives can't be a JSON string",
		`{"archives": {"linux_amd64": {}}}`:      "archives.linux_amd64: url is missing",
		`{"archives": {"linux_amd64": {"url": "https://me:hunter2@[::1"}}}`:                                  "archives.linux_amd64: url is not a URL",
		`{"archives": {"linux_amd64": {"url": "file:///w.zip"}}}`:                                            `url has the scheme "file"`,
		`{"archives": {"linux_amd64": {"url": "https:///w.zip"}}}`:                                           "url names no host",
		`{"archives": {"linux_amd64": {"url": "w.zip", "hashes": "h1:x"}}}`:                                  "archives.hashes can't be a JSON string",
		`{"archives": {"linux_amd64": {"url": "w.zip", "hashes": ["h1:x", "abc"]}}}`:                         `archives.linux_amd64: hashes[1] is "abc", which has no scheme`,
		`{"archives": {"linux_amd64": {"url": "w.zip", "hashes": [null]}}}`:                                  `hashes[0] is "", which`,
		`{"archives": {"linux_amd64": {"url": "w.zip", "hashes": ["` + strings.Repeat("a", 100000) + `"]}}}`: strings.Repeat("a", 80) + `", which`,
	} {
		fake := newFakeRegistry(t, pages{versionPath: body})
		_, err := askMirror(t, fake)
		wantQueryError(t, err, "malformed answer", fake.URL+versionPath, problem)
		must.NotContain(t, err, "hunter2")
	}
}

func TestNetworkMirrorSource_HasToDeclareJSON(t *testing.T) {
	for declared, fine := range map[string]bool{
		"application/json":                true,
		"Application/JSON; charset=utf-8": true,
		"application/json;":               true,
		"text/plain":                      false,
		"application/vnd.api+json":        false,
		"application/json; =":             false,
		"":                                false,
	} {
		source := must.Get(NewNetworkMirrorSource("https://mirror.example/", &http.Client{Transport: inProcess{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", declared)
			_, _ = w.Write([]byte(goodIndex))
		})}}, nil, terraform))(t)
		_, err := versionsOf(t, source)
		if fine {
			must.Equal(t, err, nil, declared)
		} else {
			wantQueryError(t, err, fmt.Sprintf("its Content-Type is %q and has to be application/json", declared))
		}
	}
}

func TestNetworkMirrorSource_RefusesHugeAnswers(t *testing.T) {
	fake := newFakeRegistry(t, pages{indexPath: goodIndex + strings.Repeat(" ", 16<<20)})
	_, err := versionsOf(t, fake.mirrorAt(t, mirrorBase))
	wantQueryError(t, err, fake.URL+indexPath, "larger than 16777216 bytes")
}

func TestNetworkMirrorSource_TellsStatusesApart(t *testing.T) {
	for _, test := range []struct {
		status   string
		kind     error
		requests int
		text     string // %s is the URL, %h the host
	}{
		{"401", ErrUnauthorized, 1, `host %h requires authentication credentials for provider registry.example/acme/widget: GET "%s": 401 Unauthorized`},
		{"403", ErrUnauthorized, 1, `host %h denies access, or requires authentication credentials for provider registry.example/acme/widget: GET "%s": 403 Forbidden`},
		{"204", ErrUnreachable, 1, `could not query provider mirror for registry.example/acme/widget: GET "%s": 204 No Content`},
		{"410", ErrUnreachable, 1, `could not query provider mirror for registry.example/acme/widget: GET "%s": 410 Gone`},
		{"503", ErrUnreachable, 2, `could not query provider mirror for registry.example/acme/widget: the request failed after 2 attempts, please try again later: GET "%s": 503 Service Unavailable`},
	} {
		fake := newFakeRegistry(t, pages{indexPath: test.status, versionPath: test.status})
		for path, ask := range map[string]func() error{
			indexPath:   func() error { _, err := versionsOf(t, fake.mirrorAt(t, mirrorBase)); return err },
			versionPath: func() error { _, err := askMirror(t, fake); return err },
		} {
			err := ask()
			wantKind(t, err, test.kind, test.status)
			must.Equal(t, err.Error(), strings.NewReplacer("%s", fake.URL+path, "%h", strings.TrimPrefix(fake.URL, "http://")).Replace(test.text), test.status)
			must.Equal(t, fake.requests(path), test.requests, test.status)
		}
	}
}

// TestNetworkMirrorSource_RecognisesARegistry: the most common mistake is to configure the URL of a
// registry.
func TestNetworkMirrorSource_RecognisesARegistry(t *testing.T) {
	notFound := `404 {"errors": ["Not Found"]}`
	for name, answers := range map[string]pages{
		"a list of versions":  {indexPath: `{"id": "acme/widget", "versions": [{"version": "1.0.0"}]}`},
		"an error, as JSON":   {indexPath: `{"errors": ["Not Found"]}`},
		"an error, as status": {indexPath: notFound},
		"an error of another": {indexPath: `400 {"errors": ["Bad Request"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := versionsOf(t, newFakeRegistry(t, answers).mirrorAt(t, mirrorBase))
			must.Contain(t, fmt.Sprint(err, hint(err)), registrySays)
		})
	}
	for name, answers := range map[string]pages{
		"a package":           {versionPath: `{"os": "linux", "arch": "amd64", "download_url": "w.zip"}`},
		"an error, as JSON":   {versionPath: `{"errors": ["Not Found"]}`},
		"an error, as status": {versionPath: notFound, indexPath: notFound},
	} {
		t.Run("version: "+name, func(t *testing.T) {
			_, err := askMirror(t, newFakeRegistry(t, answers))
			must.Contain(t, fmt.Sprint(err, hint(err)), registrySays)
		})
	}
	for body, said := range map[string]string{
		`{"errors": [{"status": 404, "message": "Could not find resource"}]}`: "",
		"404 page not found":        "",
		"it ends with /mirror/\x1b": `the server says "it ends with /mirror/\x1b"`,
	} {
		_, err := versionsOf(t, newFakeRegistry(t, pages{indexPath: "404 " + body}).mirrorAt(t, mirrorBase))
		must.Fail(t, err, ErrProviderNotFound, body)
		must.Equal(t, hint(err), said)
	}
}

// TestNetworkMirrorSource_URLIsAReferencesBase: Terraform and OpenTofu ignore the part of the URL
// after the last slash. So does tfdeps, and it says so.
func TestNetworkMirrorSource_URLIsAReferencesBase(t *testing.T) {
	const document = "registry.example/acme/widget/index.json"
	for path, asked := range map[string]string{
		"/a/b/": "/a/b/" + document,
		"/a/b":  "/a/" + document,
		"/a":    "/" + document,
		"/":     "/" + document,
		"":      "/" + document,
	} {
		fake := newFakeRegistry(t, pages{asked: goodIndex})
		must.Get(versionsOf(t, fake.mirrorAt(t, path)))(t, path)
		for _, status := range []string{"404", "400"} {
			fake.answers[asked] = status
			_, err := versionsOf(t, fake.mirrorAt(t, path))
			want := ""
			if path != "" && !strings.HasSuffix(path, "/") {
				want = fmt.Sprintf("the mirror's URL %s has no slash at its end, so its last part, %q, is missing in %s: add the slash",
					fake.URL+path, path[strings.LastIndex(path, "/")+1:], fake.URL+asked)
			}
			must.Equal(t, hint(err), want, path)
		}
	}
}
