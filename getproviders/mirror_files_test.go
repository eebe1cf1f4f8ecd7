package getproviders

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// files are the files of a mirror, by their paths.
type files map[string]string

func (f files) String() string { return "s3://bucket/pre/fix" }

func (f files) ReadFile(_ context.Context, path string, limit int64) ([]byte, error) {
	content, ok := f[path]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case content == "forbidden":
		return nil, fmt.Errorf("%s: %w", path, hosts.ErrUnauthorized)
	case int64(len(content)) > limit:
		return nil, hosts.TooLarge(limit)
	}
	return []byte(content), nil
}

func (f files) Archive(path string) Archive {
	return ReaderArchive{Name: "file " + path, Reader: strings.NewReader(f[path]), Size: int64(len(f[path]))}
}

// inMirror returns the documents of widget 1.0.0, whose archive is at a URL.
func inMirror(url string) files {
	const dir = "registry.example/acme/widget/"
	return files{dir + "index.json": goodIndex, dir + "1.0.0.json": `{"archives": {"linux_amd64": {"url": "` + url + `", "hashes": ["` + someZH + `"]}}}`}
}

func TestStoredMirrorSource_ReadsFiles(t *testing.T) {
	for url, want := range map[string]string{
		"widget.zip": "file registry.example/acme/widget/widget.zip", "../../../all/widget%2B1.zip": "file all/widget+1.zip",
		"s3://bucket/pre/fix/x.zip": "file x.zip", "https://cdn.example/w.zip?signature=s": "https://cdn.example/w.zip",
	} {
		source := must.Get(NewStoredMirrorSource(inMirror(url)))(t)
		pkg := must.Get(packageOf(t, source))(t, url)
		must.Equal(t, pkg.Location.String(), want)
		must.Equal(t, pkg.SourceURL, "s3://bucket/pre/fix/", url)
		must.Equal(t, pkg.Trust.ExpectedSHA256 == [32]byte{}, false, url)
		must.EqualSlices(t, must.Get(versionsOf(t, source))(t).Versions, versions("1.0.0"))
		must.Len(t, must.Get(source.Describe(widget).Platforms(t.Context(), widget, v1))(t), 1)
	}
}

func TestStoredMirrorSource_RefusesWhatIsElsewhere(t *testing.T) {
	for _, url := range []string{"../../../../other/widget.zip", "s3://elsewhere/pre/fix/x.zip", "/x.zip", "file:///etc/passwd"} {
		_, err := packageOf(t, must.Get(NewStoredMirrorSource(inMirror(url)))(t))
		must.Equal(t, CodeOf(err), "invalid_answer", url)
		must.Contain(t, err, "malformed answer", url)
	}
}

func TestStoredMirrorSource_TellsWhatIsMissingFromWhatFails(t *testing.T) {
	const index = "registry.example/acme/widget/index.json"
	for _, test := range []struct {
		files files
		want  error
	}{{files{}, ErrNotFound}, {files{index: "forbidden"}, ErrUnauthorized}, {files{index: strings.Repeat(" ", 17<<20)}, ErrUnreachable}} {
		source := must.Get(NewStoredMirrorSource(test.files))(t)
		_, err := versionsOf(t, source)
		must.Fail(t, err, test.want)
		must.Contain(t, err, "acme/widget")
	}
}

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

func TestSignedDocuments_Archives(t *testing.T) {
	p, v := Provider{Hostname: defaultHost, Namespace: "acme", Type: "widget"}, MustParseVersion("1.0.0")
	sum := strings.Repeat("ab", 32)
	list := sum + "  terraform-provider-widget_1.0.0_linux_amd64.zip\n" +
		strings.ToUpper(sum) + "  terraform-provider-widget_1.0.0_darwin_arm64.zip\n" +
		sum + "  terraform-provider-widget_1.0.1_linux_arm64.zip\n" + // of another version
		sum + "  terraform-provider-gadget_1.0.0_linux_arm64.zip\n" + // of another provider
		sum + "  terraform-provider-widget_1.0.0_windows_amd64_SIGNED.zip\n" + // no name of a package
		sum + "  terraform-provider-widget_1.0.0_manifest.json\n" +
		"none  terraform-provider-widget_1.0.0_linux_arm.zip\n\n"
	zh := Hash("zh:" + sum)
	want := map[Platform]Hash{{"linux", "amd64"}: zh, {"darwin", "arm64"}: zh}
	if got := (SignedDocuments{Sums: []byte(list)}).Archives(p, v); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSignedDocuments_Covers(t *testing.T) {
	p, v := Provider{Hostname: defaultHost, Namespace: "acme", Type: "widget"}, MustParseVersion("1.0.0")
	sum, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	d := SignedDocuments{Sums: []byte(sum + "  terraform-provider-widget_1.0.0_linux_amd64.zip\n")}
	linux, darwin := Platform{"linux", "amd64"}, Platform{"darwin", "arm64"}
	if !d.Covers(p, v, linux, Hash("zh:"+sum)) {
		t.Error("what it lists isn't covered")
	}
	if d.Covers(p, v, linux, Hash("zh:"+other)) || d.Covers(p, v, darwin, Hash("zh:"+sum)) || d.Covers(p, v, linux, "") || (SignedDocuments{}).Covers(p, v, linux, Hash("zh:"+sum)) {
		t.Error("another archive, another platform, no checksum or no list is covered")
	}
}

// FuzzMirrorKeys: for any keys of a mirror, nothing panics, and parsed keys stay the same when they
// are written and parsed again.
func FuzzMirrorKeys(f *testing.F) {
	f.Add([]byte(`{"gpg_public_keys": [{"ascii_armor": "x", "trust_signature": ""}]}`))
	f.Add([]byte(`{"gpg_public_keys": [null, {"key_id": "y", "ascii_armor": "<\u2028\ud800>"}]}`))
	f.Add([]byte(`{"gpg_public_keys": null}`))
	f.Add([]byte(`[`))
	original, _ := nullProvider(f)
	f.Add(SignedDocuments{Keys: original.PublicKeys}.EncodeKeys())
	f.Fuzz(func(t *testing.T, content []byte) {
		d := SignedDocuments{Keys: decodeMirroredKeys(content)}
		again := d.EncodeKeys()
		if keys := decodeMirroredKeys(again); !json.Valid(again) || !slices.Equal(keys, d.Keys) {
			t.Errorf("%q becomes %q", content, again)
		}
		must.Len(t, (Signers{}).candidates(Provider{}, d.Keys, original), 1)
	})
}
