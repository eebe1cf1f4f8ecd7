package mirrorserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// recorded are objects that an earlier version of the server has kept in a bucket, of a registry like that of newMirroring.
func recorded(t *testing.T) []txtar.File {
	t.Helper()
	return must.Get(txtar.ParseFile("testdata/bucket.txtar"))(t).Files
}

// TestHandler_GoesOnWithBucketsOfEarlierVersions has all answers come from the bucket: no source gives any.
func TestHandler_GoesOnWithBucketsOfEarlierVersions(t *testing.T) {
	m := newMirroring(t)
	for _, o := range recorded(t) {
		must.Get(m.bucket.Put(t.Context(), o.Name, blob.Bytes(o.Data), blob.PutOptions{}))(t)
	}
	m.opts.Modules = &moduleSource{err: getproviders.ErrUnreachable}
	server := m.serve(failing{t})
	const documents = dir + "terraform-provider-widget_1.0.0_"
	for path, parts := range map[string][]string{
		dir + "index.json":                 {`"1.0.0": {}`},
		dir + "versions":                   {`"version": "1.0.0"`, `"moved"`, `"os": "darwin"`},
		dir + "1.0.0/download/linux/amd64": {`"5.0"`, "BEGIN PGP PUBLIC KEY BLOCK", `"shasum": "1589745a`},
		documents + "SHA256SUMS":           {"1589745a", "terraform-provider-widget_1.0.0_darwin_arm64.zip"},
		documents + "SHA256SUMS.sig":       {"\xc2u\x04\x00"},
		dir + "aws/versions":               {`"version": "2.0.0-beta.1"`},
	} {
		for _, part := range parts {
			must.Contain(t, string(server.found(path).body), part, path)
		}
	}
	archives := archivesOf(t, server.found(dir+"1.0.0.json"))
	for plat, zh := range map[string]string{"linux_amd64": "zh:1589745a", "darwin_arm64": "zh:76a1382c"} {
		hashes := archives[plat].Hashes
		if len(hashes) != 2 || hashes[0] != "h1:guCYZJ53z0tos2/3vOTMfBFqgHfnwVKK88L4GKLVc7E=" || !strings.HasPrefix(string(hashes[1]), zh) {
			t.Errorf("%s: %v", plat, hashes)
		}
	}
	location := server.status(dir+"aws/1.0.0/download", http.StatusNoContent).Header.Get("X-Terraform-Get")
	must.Equal(t, location, "https://example.com/widget/1.0.0.tgz?token=x&asked=2")
	_, left, err := server.Collect(t.Context(), mirrorserver.CollectOptions{DryRun: true})
	must.Succeed(t, err)
	inUse := slices.ContainsFunc(left, func(p mirrorserver.StoredPackage) bool { return p.Platform == linux && p.Used.Year() == 2100 })
	must.Equal(t, inUse, true, left)
}

// TestHandler_KeepsWhatEarlierVersionsRead has the registry asked now: servers of an earlier version that have the same bucket read
// the same names.
func TestHandler_KeepsWhatEarlierVersionsRead(t *testing.T) {
	m := newMirroring(t)
	m.registry.Add(providertest.PackageSpec{
		Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Archive: contentOf("widget", "1.0.0", linux), Warnings: []string{"moved"},
	})
	m.choice = providercache.Choice{Listed: func(context.Context, getproviders.Candidate) error { return nil }}
	m.opts.Modules = &moduleSource{}
	server := m.start()
	for _, path := range []string{"index.json", "1.0.0.json", "aws/versions", "aws/1.0.0/download"} {
		server.get(dir + path)
	}
	for _, o := range recorded(t) {
		if !strings.HasSuffix(o.Name, ".json") {
			continue
		}
		content, _, err := blob.ReadAll(t.Context(), m.bucket, o.Name, 1<<20)
		must.Succeed(t, err)
		must.EqualSlices(t, namesIn(t, content), namesIn(t, o.Data), o.Name)
	}
}

// namesIn are the names in a text in JSON, each with those that it is below.
func namesIn(t *testing.T, text []byte) []string {
	t.Helper()
	var all []string
	var look func(at string, value any)
	look = func(at string, value any) {
		all = append(all, fmt.Sprintf("%s %T", at, value))
		switch value := value.(type) {
		case map[string]any:
			for name, below := range value {
				look(at+"/"+name, below)
			}
		case []any:
			for _, below := range value {
				look(at, below)
			}
		}
	}
	var value any
	must.Succeed(t, json.Unmarshal(text, &value))
	look("", value)
	slices.Sort(all)
	return slices.Compact(all)
}
