package getproviders

import (
	"net/url"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func FuzzMirrorIndex(f *testing.F) {
	for _, seed := range []string{
		goodMirrorIndex, `{"versions": {"1.0": null, "1.0.0": 1, "2.0.0-beta.1+b": [], "x": {}}}`, `{"versions": []}`, `{"versions": null}`,
		`{"VERSIONS": {"1.0.0": {}}}`, `{"errors": ["Not Found"]}`, `{"versions": {"99999999999999999999.0.0": {}}}`, `{}`, `null`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		versions, err := decodeMirrorIndex(body)
		if err != nil {
			return
		}
		if !slices.IsSortedFunc(versions, Version.Compare) {
			t.Errorf("not sorted: %v", versions)
		}
		for i, v := range versions {
			must.Equal(t, must.Get(ParseVersion(v.String()))(t), v, v)
			if slices.Contains(versions[i+1:], v) {
				t.Errorf("version %s is there twice", v)
			}
		}
	})
}

const goodMirrorIndex = `{"versions": {"1.0.0": {}, "1.1.0": {}}}`

func FuzzMirrorVersion(f *testing.F) {
	for _, seed := range []string{
		`{"archives": {"linux_amd64": {"url": "w.zip", "hashes": ["h1:x", "zh:00", "h9:y"]}, "darwin_arm64": null}}`,
		`{"archives": {"linux_amd64": {"url": "https://u:p@[::1]:1/w.zip?q#f", "hashes": []}}}`,
		`{"archives": {"linux_amd64": {"url": "file:///etc/passwd", "hashes": ["x"]}, "": {}, "a_b_c": {"url": "?"}}}`,
		`{"archives": {}}`, `{"download_url": "x"}`, `{"errors": ["no"]}`, `null`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	base := &url.URL{Scheme: "https", Host: "mirror.example", Path: "/p/registry.example/acme/widget/1.0.0.json"}
	f.Fuzz(func(t *testing.T, body []byte) {
		archives, err := decodeMirrorVersion(body)
		if err != nil {
			return
		}
		for _, plat := range archivePlatforms(archives) {
			if archives[plat.String()] == nil {
				t.Errorf("no archive for %s", plat)
			}
		}
		for _, archive := range archives {
			if archive == nil {
				continue
			}
			location, trust, err := archive.read(base)
			if err != nil {
				continue
			}
			if location.Scheme != "http" && location.Scheme != "https" || location.Host == "" {
				t.Errorf("accepted URL %q", location)
			}
			must.Equal(t, trust == nil, len(archive.Hashes) == 0)
		}
	})
}
