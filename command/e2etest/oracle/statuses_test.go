package oracle

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// archiveStatuses are statuses that come with an archive.
var archiveStatuses = []int{200, 201, 202, 203, 206, 207, 208, 226, 299, 300, 304, 400, 403, 404, 410, 451}

var tofuStatusExemptions = map[string]harness.Exemption{"status206": {Exit: true, Reason: "difference 44: a package with status 206 is taken"}}

// TestStatuses_SameAsTerraform has a server answer with all bytes of an archive and another status than 200.
func TestStatuses_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareStatuses(t, withTerraform(t), nil)
}

// TestStatuses_SameAsTofu is the same for OpenTofu.
func TestStatuses_SameAsTofu(t *testing.T) {
	t.Parallel()
	compareStatuses(t, withTofu(t), tofuStatusExemptions)
}

func compareStatuses(t *testing.T, p *pair, exempt map[string]harness.Exemption) {
	t.Helper()
	ca := harness.NewCA(t)
	p.registry = newOracleRegistry(t, ca)
	var entries []harness.ZipEntry
	for _, status := range archiveStatuses {
		entries = append(entries, harness.ZipEntry{Name: fmt.Sprintf("terraform-provider-status%d", status), Mode: 0o755, Content: "not a real provider\n"})
	}
	archive := harness.ZipOf(t, entries)
	server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, _ := strconv.Atoi(strings.Trim(req.URL.Path, "/"))
		w.Header().Set("Content-Length", strconv.Itoa(len(archive)))
		w.WriteHeader(status)
		_, _ = w.Write(archive)
	})})
	cases := map[string]int{}
	for _, status := range archiveStatuses {
		name := fmt.Sprintf("status%d", status)
		cases[name] = status
		p.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: name, Version: "1.0.0", Archive: archive})
		p.registry.Break("package", providertest.Fault{Path: "/" + name + "/", Body: func(document []byte) []byte {
			var fields map[string]any
			must.Succeed(t, json.Unmarshal(document, &fields))
			fields["download_url"] = fmt.Sprintf("%s/%d", server.BaseURL(), status)
			return must.Get(json.Marshal(fields))(t)
		}})
	}
	eachCase(t, cases, exempt, 10, func(t *testing.T, status int, allowed harness.Exemption) {
		o := p.begin(t, nil, allowed)
		var ends [2]harness.Ended
		for i := range ends {
			o.prepare(i, files{"main.tf": fmt.Sprintf("terraform {\n  required_providers {\n    x = { source = \"acme/status%d\" }\n  }\n}\n", status)})
			ends[i] = o.in(i, i, "init", "-no-color")
		}
		if (outcome(ends[0]) != outcome(ends[1])) != allowed.Exit || status == 200 && ends[0].Code != 0 {
			t.Errorf("--- ours\n%s\n--- theirs\n%s", ends[0], ends[1])
		}
	})
}
