package providertest_test

import (
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

var linux = getproviders.Platform{OS: "linux", Arch: "amd64"}

// widget is one package; its documents are at these paths.
const (
	widgetVersions = "/v1/providers/acme/widget/versions"
	widgetFiles    = "/files/acme/widget/1.2.3/terraform-provider-widget_1.2.3_"
	widgetArchive  = widgetFiles + "linux_amd64.zip"
	widgetSums     = widgetFiles + "SHA256SUMS"
)

// withWidget starts a registry that has the package.
func withWidget(t *testing.T, archive []byte) *providertest.Registry {
	t.Parallel()
	r := providertest.New(t)
	r.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.2.3", Platform: linux, Archive: archive})
	return r
}

// get requests a path and returns the response; the body is what arrived before an error, if any.
func get(t *testing.T, r *providertest.Registry, path string, header http.Header) (*http.Response, string, error) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, r.BaseURL()+path, nil))(t)
	maps.Copy(req.Header, header)
	resp, err := r.Client().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func mustGet(t *testing.T, r *providertest.Registry, path string) (*http.Response, string) {
	t.Helper()
	resp, body, err := get(t, r, path, nil)
	must.Succeed(t, err)
	return resp, body
}

func wantStatus(t *testing.T, r *providertest.Registry, path string, want int) {
	t.Helper()
	resp, _ := mustGet(t, r, path)
	must.Equal(t, resp.StatusCode, want, path)
}

func TestRegistry_ArchiveFromAFileCanBeResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.zip")
	must.Write(t, path, "0123456789")
	r := providertest.New(t)
	r.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.2.3", Platform: linux, ArchivePath: path})
	whole, _ := mustGet(t, r, widgetArchive)
	resp, body, err := get(t, r, widgetArchive, http.Header{
		"Range": {"bytes=4-"}, "If-Range": {whole.Header.Get("Etag")},
	})
	if err != nil || resp.StatusCode != http.StatusPartialContent || body != "456789" {
		t.Errorf("got %v, %q, %v", resp, body, err)
	}
}

func TestRegistry_ZipIsDeterministic(t *testing.T) {
	files := map[string]string{"a": "1", "b": "2", "c/": "", "c/d": "3"}
	must.EqualSlices(t, providertest.Zip(files), providertest.Zip(files), "two archives of the same files differ")
}
