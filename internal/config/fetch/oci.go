package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// OCIPackage names the package of a module in an OCI registry.
type OCIPackage struct {
	Registry, Repository string
	Tag, Digest          string // one of them; none: the tag is "latest"
}

// OCIArchive is a zip archive in an OCI registry.
type OCIArchive struct {
	getproviders.Archive
	SHA256 [sha256.Size]byte // that it has to have
}

// errNoOCI says that there is no client for OCI registries.
var errNoOCI = fmt.Errorf("%w: packages can't be fetched by \"oci\" in Terraform's place, only by http, https, git, hg, s3, gcs and file", ErrAddress)

// readOCI reads oci://HOST/REPOSITORY?tag=TAG, or with ?digest=DIGEST.
func readOCI(u *url.URL) (packageSource, error) {
	if u.User != nil || strings.Trim(u.Path, "/") == "" {
		return packageSource{}, errors.New("it has to be oci://HOST/REPOSITORY")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return packageSource{}, errors.New("its query can't be read")
	}
	for name, values := range query {
		switch {
		case name == "archive":
			return packageSource{}, errors.New("the parameter archive isn't possible: the registry says how the package is packed")
		case name != "tag" && name != "digest":
			return packageSource{}, fmt.Errorf("it has the parameter %q, and may have tag or digest", name)
		case len(values) != 1 || values[0] == "" || len(query) > 1:
			return packageSource{}, errors.New("it may have one tag, or one digest")
		}
	}
	return packageSource{kind: "oci", url: u.String(), archive: "zip"}, nil
}

// getOCI gets the archive of a registry into the file dst, and compares its digest.
func (f *Fetcher) getOCI(ctx context.Context, from packageSource, dst string) error {
	if f.Offline {
		return ErrOffline
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return withoutURL(err)
	}
	archive, err := f.OCI(ctx, OCIPackage{
		Registry: u.Host, Repository: strings.TrimPrefix(u.Path, "/"), Tag: u.Query().Get("tag"), Digest: u.Query().Get("digest"),
	})
	if err != nil {
		return err
	}
	opened, err := archive.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer opened.Body.Close()
	hash := sha256.New()
	_, err = writeFile(ctx, dst, 0o600, io.TeeReader(opened.Body, hash), f.bounds.withDefaults().download)
	if sum := hash.Sum(nil); err == nil && [sha256.Size]byte(sum) != archive.SHA256 {
		return fmt.Errorf("the registry sent an archive with the SHA-256 %s, and its manifest says %s", hex.EncodeToString(sum), hex.EncodeToString(archive.SHA256[:]))
	}
	return err
}
