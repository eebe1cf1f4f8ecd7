package getproviders

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func FuzzVersionsResponse(f *testing.F) {
	for _, seed := range []string{
		`{"versions": [{"version": "1.0.0", "protocols": ["5.0"], "platforms": [{"os": "linux", "arch": "amd64"}]}], "warnings": ["w"]}`,
		`{"versions": [{"version": "1.0"}, {"version": "1.0.0"}, {"version": "2.0.0-beta.1+b"}, {"version": "x"}]}`,
		`{"versions": [null]}`,
		`{"versions": [{"version": "1.0.0", "protocols": null, "platforms": [null, {"os": "a_b", "arch": ""}]}]}`,
		`{"versions": {}}`, `{"VERSIONS": []}`, `null`, `[]`, `{`, ``, `{"versions": [{"version": "99999999999999999999.0.0"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := decodeVersions(body)
		if err != nil {
			return
		}
		must.Len(t, list.Details, len(list.Versions)) // each is there once
		for _, v := range list.Versions {
			must.Equal(t, must.Get(ParseVersion(v.String()))(t), v, v)
			for _, plat := range list.Details[v].Platforms {
				must.Get(ParsePlatform(plat.String()))(t)
			}
			_, _ = speaks(list.Details[v].Protocols)
		}
	})
}

func FuzzPackageResponse(f *testing.F) {
	for _, seed := range []string{
		`{"protocols": ["5.0"], "os": "linux", "arch": "amd64", "filename": "p.zip", "download_url": "p.zip",
			"shasum": "0000000000000000000000000000000000000000000000000000000000000000", "shasums_url": "https://x/s", "shasums_signature_url": "//y/t",
			"signing_keys": {"gpg_public_keys": [{"ascii_armor": "a", "trust_signature": "b"}]}}`,
		`{"os": "linux", "arch": "amd64", "filename": "p.zip", "download_url": "file:///etc/passwd",
			"shasum": "0000000000000000000000000000000000000000000000000000000000000000", "shasums_url": "http:", "shasums_signature_url": "?"}`,
		`{"os": "linux", "arch": "amd64", "filename": "p", "download_url": "x", "shasum": "zz", "signing_keys": {"gpg_public_keys": [null]}}`,
		`{"os": "linux", "arch": "amd64", "filename": "p", "download_url": "https://x/p", "shasums_url": "s", "shasums_signature_url": "t",
			"shasum": "0000000000000000000000000000000000000000000000000000000000000000", "packages": {"linux_amd64": {"hashes": ["h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "zh:0"]}}}`,
		`{"os": "linux", "arch": "amd64", "filename": "p_linux_amd64.zip", "download_url": "https://x/p", "shasums_url": "s", "shasums_signature_url": "t",
			"shasum": "0000000000000000000000000000000000000000000000000000000000000000", "packages": {"linux_amd64": {"hashes": [
				"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "zh:0000000000000000000000000000000000000000000000000000000000000000"]}}}`,
		`{"protocols": [""]}`, `{"signing_keys": null}`, `null`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	base := &url.URL{Scheme: "https", Host: "registry.example", Path: "/v1/acme/widget/1.0.0/download/linux/amd64"}
	f.Fuzz(func(t *testing.T, body []byte) {
		wire, err := decodeObject[wirePackage](body)
		if err != nil {
			return
		}
		_, _ = speaks(wire.Protocols)
		got, err := wire.read(Platform{OS: "linux", Arch: "amd64"}, base)
		if err != nil {
			return
		}
		for _, u := range []*url.URL{got.archive, got.sums, got.signature} {
			if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				t.Errorf("accepted URL %q", u)
			}
		}
		if got.said.FileName == "" || len(got.said.PublicKeys) != len(wire.SigningKeys.GPG) {
			t.Errorf("accepted %+v", got)
		}
		judge := got.said
		judge.Sums = fmt.Appendf(nil, "%x  %s\n", judge.SHA256, judge.FileName)
		for plat, h1 := range judge.trust().RegistryHashes {
			must.Equal(t, plat, judge.Platform)
			must.Len(t, h1, 47)
		}
	})
}

func FuzzAliasResponse(f *testing.F) {
	for _, seed := range []string{
		`{"id": "acme/widget"}`, `{"id": "acme/widget", "moved_to": "other/widget"}`, `{"id": null}`,
		`{"id": "a/b/c"}`, `{"id": "/"}`, `{"id": "../x"}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		namespace, typ, err := decodeAlias(body)
		if err != nil {
			return
		}
		for _, part := range []string{namespace, typ} {
			must.Equal(t, must.Get(NormalizePart(part))(t), part, part)
		}
	})
}

// Otherwise a registry could fill terminals and logs.
func TestDecodeVersions_PassesOnFewWarnings(t *testing.T) {
	body, err := json.Marshal(map[string]any{"warnings": append([]string{strings.Repeat("ä", 1500)}, slices.Repeat([]string{"w"}, 99_999)...)})
	must.Succeed(t, err)
	list, err := decodeVersions(body)
	if err != nil || len(list.Warnings) != 21 || list.Warnings[20] != "and 99980 more warnings" || len(list.Warnings[0]) > 2003 {
		t.Errorf("%d warnings: %.3000q, %v", len(list.Warnings), list.Warnings, err)
	}
}

func TestWirePackage_PublicKeysAreFew(t *testing.T) {
	body := `{"signing_keys": {"gpg_public_keys": [` + strings.Repeat(`{"ascii_armor": "x"},`, maxPGPKeys) + `{"ascii_armor": "x"}]}}`
	wire := must.Get(decodeObject[wirePackage]([]byte(body)))(t)
	_, err := wire.publicKeys()
	must.Contain(t, err, "has 65 keys, 64 is the most")
}

func TestRecovered_APanicOfTheLibraryIsAnError(t *testing.T) {
	verify := func() (err error) {
		defer recovered(&err)
		panic("no key")
	}
	must.Contain(t, verify(), "the OpenPGP library fails at it: no key")
}
