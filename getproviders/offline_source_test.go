package getproviders

import (
	"errors"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// offlineRegistry is a registry that can't be reached. Services of example.com are on that host;
// those of forced.example.com are where the user configured them.
func offlineRegistry(t *testing.T, kept ...CachedPackage) Source {
	t.Helper()
	forced := must.Get(hosts.ParseHostname("forced.example.com"))(t)
	client := hosts.NewOfflineClient("-offline")
	return Offline(&RegistrySource{
		Client: client,
		Discovery: &hosts.Discovery{Client: client, Forced: map[hosts.Hostname]map[string]string{
			forced: {"providers.v1": "https://elsewhere.example.com/p/"},
		}},
	}, "-offline", func(Provider) []CachedPackage { return kept })
}

func TestOffline_SourceBelievesOriginsThatAreClear(t *testing.T) {
	for _, tt := range []struct {
		name, provider, origin string
		present, want          bool
	}{
		{"the provider's own host", "example.com/acme/a", "https://example.com/v1/providers/", true, true},
		{"another host", "example.com/acme/a", "https://mirror.example.com/", true, false},
		{"another port", "example.com/acme/a", "https://example.com:8443/v1/providers/", true, false},
		{"plain http", "example.com/acme/a", "http://example.com/v1/providers/", true, false},
		{"a file", "example.com/acme/a", "/packed/a.zip (1 bytes, 2)", true, false},
		{"it isn't known", "example.com/acme/a", "", true, false},
		{"gone", "example.com/acme/a", "https://example.com/v1/providers/", false, false},
		{"where the user says", "forced.example.com/acme/a", "https://elsewhere.example.com/p/", true, true},
		{"on the host in spite of what the user says", "forced.example.com/acme/a", "https://forced.example.com/p/", true, false},
	} {
		p, v := mustParse(t, tt.provider), v1
		s := offlineRegistry(t, CachedPackage{Version: v, SourceURL: tt.origin, Present: tt.present})
		available, err := s.Versions(t.Context(), p)
		must.Equal(t, err == nil && len(available.Versions) == 1, tt.want, tt.name)
		origin, err := s.Describe(p).SourceURL(t.Context(), p, v, CurrentPlatform())
		must.Equal(t, err == nil && origin == tt.origin, tt.want, tt.name)
		if !tt.want && (!errors.Is(err, hosts.ErrOffline) || !errors.As(err, new(*NotCachedError))) {
			t.Errorf("%s: the error is %v", tt.name, err)
		}
	}
}

func TestOffline_SourceIsNoFailureToOthers(t *testing.T) {
	p, v, plat := mustParse(t, "example.com/acme/a"), v1, CurrentPlatform()
	gone := CachedPackage{Version: v, SourceURL: "https://example.com/v1/", ArchiveBytes: 77}
	all := MultiSource{Selectors: []Selector{
		{Source: offlineRegistry(t, gone)}, {Source: &FilesystemMirrorSource{Dir: t.TempDir()}},
	}}
	_, noVersions := all.Versions(t.Context(), p)
	_, noPackage := all.Package(t.Context(), p, v, plat)
	for asked, err := range map[Version]error{{}: noVersions, v: noPackage} {
		missing := must.As[*NotCachedError](t, err, asked)
		if missing.Version != asked || missing.Source != "registry example.com" || missing.By != "-offline" || asked == v && missing.Bytes != 77 {
			t.Errorf("for %q the error is %+v", asked, missing)
		}
	}
	names := all.Describe(p).Unasked
	must.Len(t, names, 1)
	must.Equal(t, names[0].Source, "registry example.com")
	all.Selectors[0].Exclude = []Pattern{Pattern(p)}
	must.Len(t, all.Describe(p).Unasked, 0)
}
