package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestFetch_PackagesOfOCIRegistries(t *testing.T) {
	t.Parallel()
	archive := zipped(t, someTree)
	sum := sha256.Sum256(archive)
	var asked OCIPackage
	f := &Fetcher{OCI: func(_ context.Context, at OCIPackage) (OCIArchive, error) {
		asked = at
		if at.Tag == "missing" {
			return OCIArchive{}, ErrNotFound
		}
		return OCIArchive{getproviders.ReaderArchive{Name: "blob", Reader: bytes.NewReader(archive), Size: int64(len(archive))}, sum}, nil
	}}
	defer f.Close()
	const digest = "sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"
	for pkg, want := range map[string]OCIPackage{
		"oci://r.example:5000/team/net":        {Registry: "r.example:5000", Repository: "team/net"},
		"oci://r.example/net.zip?tag=1.0.0":    {Registry: "r.example", Repository: "net.zip", Tag: "1.0.0"},
		"oci://r.example/net?digest=" + digest: {Registry: "r.example", Repository: "net", Digest: digest},
	} {
		brings(t, f, pkg, "")
		must.Equal(t, asked, want, "asked for", pkg)
	}
	for _, query := range []string{"?tag=1&digest=" + digest, "?tag=", "?tag=1&tag=2", "?archive=zip", "?ref=x", "?checksum=" + strings.Repeat("0", 64)} {
		must.Fail(t, refused(t, f, "oci://r.example/net"+query), ErrAddress, query)
	}
	for _, pkg := range []string{"oci://u:p@r.example/net", "oci://r.example", "oci:///net", "oci::https://r.example/net"} {
		must.Fail(t, refused(t, f, pkg), ErrAddress, pkg)
	}
	must.Fail(t, refused(t, f, "oci://r.example/net?tag=missing"), ErrNotFound)
	archive = append(archive, 0)
	must.Contain(t, refused(t, f, "oci://r.example/net?tag=changed"), "its manifest says")
}

func TestFetch_OCIRegistriesAreOpenTofus(t *testing.T) {
	t.Parallel()
	f := &Fetcher{}
	defer f.Close()
	err := refused(t, f, "oci://r.example/net")
	must.Fail(t, err, ErrAddress)
	must.Contain(t, err, "in Terraform's place")
	offline := &Fetcher{Offline: true, OCI: func(context.Context, OCIPackage) (OCIArchive, error) { panic("asked") }}
	defer offline.Close()
	must.Fail(t, refused(t, offline, "oci://r.example/net"), ErrOffline)
}
