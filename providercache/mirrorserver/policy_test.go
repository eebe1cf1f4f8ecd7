package mirrorserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestHandler_ListsWhatMayBeChosen: versions that the policy forbids aren't listed, by either protocol, and the same ones while the
// registry is down. Of ages ten versions are asked, once.
func TestHandler_ListsWhatMayBeChosen(t *testing.T) {
	m := newMirroring(t)
	for i := range 11 {
		m.add("widget", fmt.Sprintf("2.%d.0", i+1))
	}
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "2.0.0", Platform: darwin}) // which isn't the server's
	m.choice.Listed = func(_ context.Context, c getproviders.Candidate) error {
		if !c.FromRegistry || c.SourceURL == "" || c.Version.String() == "2.11.0" {
			return errors.New("not this number")
		}
		return nil
	}
	m.choice.Dated = func(_ context.Context, c getproviders.Candidate) error {
		if !c.Released.Equal(time.Unix(1_700_000_000, 0)) || c.Version.String() == "2.5.0" || c.Version.String() == "2.0.0" {
			return errors.New("not this old")
		}
		return nil
	}
	m.registry.Break("archive", providertest.Fault{Header: http.Header{"Last-Modified": {time.Unix(1_700_000_000, 0).UTC().Format(http.TimeFormat)}}})
	lists := func() {
		t.Helper()
		server := m.serve(m.registry.Source())
		for _, document := range []string{"index.json", "versions", "index.json"} {
			body := string(server.found(dir + document).body)
			must.Equal(t, len(regexp.MustCompile(`"\d+\.\d+\.\d+"`).FindAllString(body, -1)), 11, body)
			for _, left := range []string{"2.11.0", "2.5.0"} {
				must.NotContain(t, body, `"`+left+`"`)
			}
			must.Contain(t, body, `"2.0.0"`) // the eleventh
		}
	}
	lists()
	must.Equal(t, m.registry.Requests("archive"), 10)
	must.Equal(t, m.registry.Requests("versions"), 1)
	m.choice.Dated = nil
	m.choice.Listed = func(_ context.Context, c getproviders.Candidate) error {
		if v := c.Version.String(); strings.HasPrefix(v, "2.11.") || v == "2.5.0" || !c.FromRegistry {
			return errors.New("not this number")
		}
		return nil
	}
	m.clock.pass(time.Hour)
	m.registry.Break("versions", providertest.Fault{Status: http.StatusServiceUnavailable})
	lists()
}
