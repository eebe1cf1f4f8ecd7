package oci

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// answering is a registry without a network: it responds to each path that ends with a key.
func answering(answers map[string][]byte, header http.Header) *http.Client {
	return &http.Client{Transport: storagetest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		for end, body := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				h := header.Clone()
				if strings.Contains(r.URL.Path, "/manifests/sha256:") {
					h.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
				}
				if end == "/token" {
					h = http.Header{}
				}
				status := http.StatusOK
				if h.Get("Www-Authenticate") != "" && r.Header.Get("Authorization") == "" {
					status = http.StatusUnauthorized
				}
				return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
			}
		}
		return reply(r, http.StatusNotFound, ""), nil
	})}
}

func sourceAt(client *http.Client) *Source {
	return &Source{Client: &Client{HTTP: client}, Repository: func(getproviders.Provider) (Repository, error) {
		return ParseRepository("r.example/widget")
	}}
}

// FuzzManifests reads an index and a manifest: a resulting package is for the requested platform, and has a SHA-256
// and a size.
func FuzzManifests(f *testing.F) {
	index, manifest := newFake().documents()
	f.Add(index, manifest)
	f.Add(bytes.ReplaceAll(index, []byte("linux"), []byte("../..")), manifest)
	f.Add(bytes.ReplaceAll(index, []byte("sha256"), []byte("sha512")), manifest)
	f.Add([]byte("{"), []byte("null"))
	f.Fuzz(func(t *testing.T, index, manifest []byte) {
		source := sourceAt(answering(map[string][]byte{"/manifests/1.0.0": index, "/manifests/" + string(digest.FromBytes(manifest)): manifest},
			http.Header{"Content-Type": {"application/vnd.oci.image.index.v1+json"}}))
		pkg, err := source.Package(t.Context(), widget, v1, linux)
		if err != nil {
			return
		}
		if !strings.HasPrefix(pkg.Location.String(), "oci://r.example/widget@sha256:") || pkg.Platform != linux || pkg.Trust.Authenticator == nil {
			t.Errorf("%+v", pkg)
		}
		platforms, err := source.Describe(widget).Platforms(t.Context(), widget, v1)
		must.Equal(t, err, nil)
		for _, plat := range platforms {
			must.Equal(t, plat.Validate(), nil, plat)
		}
	})
}

// FuzzTokens reads a registry's address of the token service, the response of that service, and a list of tags.
func FuzzTokens(f *testing.F) {
	f.Add(`Bearer realm="https://r.example/token",service="x",scope="repository:widget:pull"`, []byte(`{"token":"t"}`), []byte(`{"tags":["1.0.0"]}`))
	f.Add(`Basic realm="x"`, []byte(`{"access_token":1}`), []byte(`{"tags":null}`))
	f.Add("Bearer realm=\"https://r.example/token?x=\\\"\"", []byte("[]"), []byte(`[]`))
	f.Fuzz(func(t *testing.T, challenge string, token, tags []byte) {
		if strings.Contains(challenge, "://") && !strings.Contains(challenge, "://r.example/") {
			return // another host's name would be looked up
		}
		source := sourceAt(answering(map[string][]byte{"/tags/list": tags, "/token": token}, http.Header{"Www-Authenticate": {challenge}}))
		available, err := source.Versions(t.Context(), widget)
		for _, v := range available.Versions {
			if v.Validate() != nil || err != nil {
				t.Errorf("%v, %v", v, err)
			}
		}
	})
}

// FuzzDockerConfig reads a file of Docker's: a login is from an entry for the host, and no error contains secrets of
// the file.
func FuzzDockerConfig(f *testing.F) {
	f.Add([]byte(`{"auths": {"r.example": {"auth": "cm9ib3Q6aHVudGVyMg=="}, "r.example/team": {"auth": "eDp5"}}, "credHelpers": {"r.example": "../x"}, "credsStore": ""}`))
	f.Add([]byte(`{"auths": {"r.example": null, "": {"auth": "!"}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if bytes.Contains(bytes.ToLower(content), []byte("cred")) { // a helper would be started, which TestLogins_StartNoOtherProgram looks at
			return
		}
		file := filepath.Join(t.TempDir(), "config.json")
		must.Succeed(t, os.WriteFile(file, content, 0o600))
		logins := &Logins{Files: []string{file}}
		login, err := logins.Find(t.Context(), Repository{Registry: "r.example", Name: "team/widget"})
		if login != (Login{}) && (err != nil || !bytes.Contains(bytes.ToLower(content), []byte("r.example")) && !bytes.Contains(content, []byte(`\u`))) {
			t.Errorf("%+v, %v", login, err)
		}
	})
}
