package getproviders

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// files are those of a mirror, by their paths.
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

// inMirror are the documents of widget 1.0.0, whose archive is at a URL.
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
