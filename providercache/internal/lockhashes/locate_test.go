package lockhashes_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

func TestLocate_DownloadsNothing(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0", "2.0.0")
	lockable(t, registry, "gadget", "1.0.0")
	in.Target = nil
	locks := &depsfile.Locks{}
	locks.Set(depsfile.Lock{Provider: provider(widgetAddress), Version: v1})
	request := lockhashes.Request{
		Requirements: require(widgetAddress, "", registryHost+"/acme/gadget", "", "terraform.io/builtin/terraform", ""),
		Platforms:    append(slices.Clone(otherPlatforms), linux), Locks: locks,
	}
	results, err := in.Fetcher.Locate(t.Context(), request, request)
	must.Equal(t, err, nil)
	for _, result := range results {
		if result.Err != nil || len(result.Packages) != 6 {
			t.Fatalf("%+v", result)
		}
		for _, p := range result.Packages {
			if p.Selection.Version != v1 || p.ZH == "" || p.Bytes != 0 || p.Authentication.KeyID != registry.Signer().KeyID() || len(p.Authentication.Signed) != 3 {
				t.Errorf("%+v", p)
			}
		}
	}
	must.Equal(t, registry.Requests("archive"), 0)
	must.Equal(t, registry.Requests("sums"), 2)
	sent := registry.Sent()
	request.Sizes = true
	for _, p := range locate(t, in, request).Packages {
		if p.Bytes <= 1 {
			t.Errorf("size %d", p.Bytes)
		}
	}
	if bytes := registry.Requests("archive"); bytes != 6 || registry.Sent()-sent > 100<<10 {
		t.Errorf("%d requests for archives, %d bytes sent", bytes, registry.Sent()-sent)
	}
}

func TestLocate_TellsAllFailures(t *testing.T) {
	registry, in := lockableRegistry(t, "widget")
	result := locate(t, in, lockhashes.Request{
		Requirements: require(widgetAddress, "", registryHost+"/acme/nobody", ""),
		Platforms:    []getproviders.Platform{linux, {OS: "plan9", Arch: "mips"}},
	})
	must.Len(t, result.Packages, 2)
	must.Equal(t, result.Packages[0].Err, nil)
	must.Fail(t, result.Packages[1].Err, getproviders.ErrPlatformMissing)
	must.Fail(t, result.Err, getproviders.ErrProviderNotFound)
	must.Fail(t, result.Err, getproviders.ErrPlatformMissing)
	registry.Break("signature", providertest.Fault{Body: func([]byte) []byte { return []byte("none") }})
	in.Fetcher.Source = registrySource(registry)
	in.Fetcher = installtest.Again(in.Fetcher)
	result = locate(t, in, lockhashes.Request{Requirements: require(widgetAddress, ""), Platforms: onLinux})
	must.Fail(t, result.Err, getproviders.ErrAuthentication)
	results, err := in.Fetcher.Locate(t.Context(), lockhashes.Request{Requirements: require(registryHost+"/acme/nobody", "")},
		lockhashes.Request{}, lockhashes.Request{Requirements: require(widgetAddress, "")})
	want := append(getproviders.SplitErrors(results[0].Err), getproviders.SplitErrors(results[2].Err)...)
	must.Len(t, want, 2)
	must.EqualSlices(t, getproviders.SplitErrors(err), want)
}

func TestLocate_HashesOfUnknownKindsAreNotAuthenticated(t *testing.T) {
	source := widgetSource(t)
	source.Trust("acme/widget", "1.0.0", listedHashes{"h9:unknown="})
	found := locate(t, newInstaller(t, source), lockhashes.Request{Requirements: require("acme/widget", "")})
	succeed(t, found.Err)
	must.Equal(t, found.Packages[0].Authentication.TrustLevel, getproviders.LevelUnauthenticated)
	must.Contain(t, found.Packages[0].Hashes, "zh:")
}

// TestLocate_AsksServersForSizes has a row for each way to answer a request for the
// first byte.
func TestLocate_AsksServersForSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   int64 // -2: an error
	}{
		"a part":           {func(w http.ResponseWriter) { w.Header().Set("Content-Range", "bytes 0-0/1234"); w.WriteHeader(206) }, 1234},
		"a part of what":   {func(w http.ResponseWriter) { w.Header().Set("Content-Range", "bytes 0-0/*"); w.WriteHeader(206) }, 0},
		"nonsense":         {func(w http.ResponseWriter) { w.Header().Set("Content-Range", "-5/-5"); w.WriteHeader(206) }, 0},
		"all of it":        {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "5"); _, _ = w.Write([]byte("12345")) }, 5},
		"nothing":          {func(w http.ResponseWriter) { w.Header().Set("Content-Range", "bytes */0"); w.WriteHeader(416) }, 0},
		"it isn't allowed": {func(w http.ResponseWriter) { w.WriteHeader(403) }, -2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := must.Get(providertest.NewServer(providertest.ServerOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w) })}))(t)
			t.Cleanup(server.Close)
			source := newSource(t)
			source.Add(widgetAddress, "1.0.0", httpArchive(t, server.BaseURL()+"/w.zip?signature=hunter2"))
			in := &providercache.Installer{
				Fetcher: &providercache.Fetcher{Source: source, Client: server.Client(), Platform: linux},
			}
			result := locate(t, in, lockhashes.Request{Sizes: true, Requirements: require(widgetAddress, "")})
			if c.want == -2 {
				must.NotContain(t, result.Err.Error(), "hunter2")
				must.Fail(t, result.Err, getproviders.ErrUnauthorized)
				return
			}
			if result.Err != nil || result.Packages[0].Bytes != c.want {
				t.Errorf("%+v, want %d", result, c.want)
			}
		})
	}
}
