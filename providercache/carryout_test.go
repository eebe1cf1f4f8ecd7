package providercache

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
)

func TestLargestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local := func(name string, size int) getproviders.Location {
		path := filepath.Join(dir, name)
		cachetest.WriteTo(t, path, strings.Repeat("x", size))
		return getproviders.LocalArchive(path)
	}
	web := getproviders.HTTPArchive{URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/web"}}
	var tasks steps
	for _, at := range []getproviders.Location{
		getproviders.LocalDirectory(dir), local("small", 10), web, local("large", 1000), getproviders.LocalArchive("missing"), local("middle", 100), web,
	} {
		tasks = append(tasks, &step{Request: fetch.Request{Package: getproviders.Package{Location: at}}})
	}
	var got []string
	for _, sorted := range largestFirst(tasks) {
		got = append(got, filepath.Base(sorted.Package.Location.String()))
	}
	must.Equal(t, strings.Join(got, " "), "web web large middle small "+filepath.Base(dir)+" missing")
}
