package result

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// TestURLs_AreWholeForProgramsOnly has a URL with all kinds of secrets. Of those only
// the query is printed, and only as JSON, because a download needs it.
func TestURLs_AreWholeForProgramsOnly(t *testing.T) {
	t.Parallel()
	at := must.Get(url.Parse("https://me:password@cdn.example/w.zip?signature=a&b=%2F"))(t)
	p := providercache.LockedPackage{Outcome: providercache.Outcome{
		Selection: getproviders.Selection{Provider: getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "widget"}, Version: getproviders.MustParseVersion("1.0.0")},
		Platform:  getproviders.Platform{OS: "linux", Arch: "amd64"}, Bytes: 5,
	}, Package: getproviders.Package{Location: getproviders.HTTPArchive{URL: at}}}
	report := URLs([]explain.LockedDir{{
		Dir: ".", Result: providercache.LockResult{Packages: []providercache.LockedPackage{p}},
		Locked: func(getproviders.Provider, getproviders.Version) []getproviders.Hash { return nil },
	}})
	var asJSON bytes.Buffer
	must.Succeed(t, Write(&asJSON, report, true, Run{}))
	asText := report.People
	if !strings.Contains(asJSON.String(), `"url": "https://cdn.example/w.zip?signature=a&b=%2F"`) || !json.Valid(asJSON.Bytes()) {
		t.Errorf("as JSON: %s", &asJSON)
	}
	must.Equal(t, asText, "example.com/acme/widget v1.0.0 linux_amd64 (unauthenticated)\n  https://cdn.example/w.zip\n  5 bytes\n")
}
