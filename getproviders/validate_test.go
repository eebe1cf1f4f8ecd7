package getproviders

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestProvider_ValidateRefusesWhatIsNeverParsed(t *testing.T) {
	valid := Provider{Hostname: "registry.example.com", Namespace: "acme", Type: "widget"}
	for _, p := range []Provider{
		valid, {Hostname: "localhost:8443", Namespace: "acme", Type: "w-1"}, {Hostname: "127.0.0.1", Namespace: "-", Type: "w"},
		{Hostname: "xn--mnchen-3ya.example", Namespace: "grüße", Type: "w"}, {Hostname: BuiltInHost, Namespace: "builtin", Type: "terraform"},
	} {
		must.Equal(t, p.Validate(), nil, p)
	}
	for part, wrong := range map[string][]string{
		"source hostname": {"", ".", "..", "../x", "a/b", `a\b`, "a..b", ".a", "A.example", "a:443", "a:x", "xn--", "münchen.example", "a\x00"},
		"namespace":       {"", "..", "../..", "a/b", `a\b`, "A", "a--b", "-a", "a.b", "a\x00"},
		"type":            {"", "..", "../..", "a/b", `a\b`, "A", "-", "a.b", "a\x00"},
	} {
		for _, text := range wrong {
			p := valid
			switch part {
			case "source hostname":
				p.Hostname = hosts.Hostname(text)
			case "namespace":
				p.Namespace = text
			case "type":
				p.Type = text
			}
			err := p.Validate()
			if CodeOf(err) != "invalid_address" || !strings.HasPrefix(err.Error(), "invalid provider "+part+": ") {
				t.Errorf("%s %q: %v", part, text, err)
			}
			checkPaths(t, p, v1, linux)
		}
	}
}

func TestVersion_ValidateRefusesWhatIsNeverParsed(t *testing.T) {
	for _, text := range []string{"0.0.0", "1.2.3", "1.0.0-beta.1", "1.0.0-a-b+c.d"} {
		must.Equal(t, version(text).Validate(), nil, text)
	}
	for _, v := range []Version{{Prerelease: "a/b"}, {Prerelease: "/../.."}, {Metadata: `a\b`}, {Metadata: "a b"}, {Prerelease: "a+b"}, {Metadata: "a_b"}, {Prerelease: "\x00"}} {
		if v.Validate() == nil {
			t.Errorf("%q is valid", v)
		}
		checkPaths(t, widget, v, linux)
	}
}

func TestPlatform_ValidateRefusesWhatIsNeverParsed(t *testing.T) {
	must.Equal(t, linux.Validate(), nil)
	for _, plat := range []Platform{{}, {OS: "linux"}, {OS: "..", Arch: "x"}, {OS: "a/b", Arch: "x"}, {OS: "a", Arch: "x/../../.."}, {OS: "a_b", Arch: "x"}} {
		if plat.Validate() == nil {
			t.Errorf("%q is valid", plat)
		}
		checkPaths(t, widget, v1, plat)
	}
}

// checkPaths fails the test if a path leads out of its directory, a request is made, or a source
// returns something.
func checkPaths(t *testing.T, p Provider, v Version, plat Platform) {
	t.Helper()
	for _, path := range []string{
		layout.UnpackedPath(p, v, plat), layout.ProviderPath(p), p.PackedName(v, plat),
		layout.ChecksumsName(p, v), layout.SignatureName(p, v), layout.KeysName(p, v),
	} {
		if local := filepath.FromSlash(path); !filepath.IsLocal(local) || filepath.Clean(local) != local || strings.ContainsAny(path, "\\\x00") {
			t.Errorf("%+v %q %q: the path %q", p, v, plat, path)
		}
	}
	fake := newFakeRegistry(t, nil)
	for _, source := range []Source{fake.source(t), fake.mirrorAt(t, mirrorBase), &FilesystemMirrorSource{Dir: t.TempDir()}} {
		_, err := source.Package(t.Context(), p, v, plat)
		if err == nil || errors.Is(err, ErrProviderNotFound) || errors.Is(err, ErrVersionNotFound) || errors.Is(err, ErrUnreachable) {
			t.Errorf("%T: %+v %q %q: %v", source, p, v, plat, err)
		}
		if _, err := source.Describe(p).Platforms(t.Context(), p, v); p.Validate() != nil && (err == nil || errors.Is(err, ErrProviderNotFound)) {
			t.Errorf("%T: platforms of %+v: %v", source, p, err)
		}
	}
	must.Equal(t, fake.requests(""), 0)
}
