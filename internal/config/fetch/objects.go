package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// downloadObjects downloads an object of s3 or gcs into the file dst, or all objects of a prefix into the directory.
func downloadObjects(ctx context.Context, from *bucket.Services, at packageSource, dst string, limits bounds) error {
	objects, err := from.Open(ctx, at.kind, at.parsed(), at.own)
	if err != nil {
		return err
	}
	defer objects.Close()
	get := &objectGetter{objects: objects, limit: limits.download, left: limits.download}
	if at.archive != "" {
		return get.file(ctx, objects.Key, dst)
	}
	return get.dir(ctx, dst, limits.files)
}

// objectGetter writes objects to files, up to a total size.
type objectGetter struct {
	objects     bucket.Objects
	limit, left int64 // bytes
}

// dir downloads the objects with the address's prefix. It skips keys that end in a slash, which
// some programs create for directories.
func (g *objectGetter) dir(ctx context.Context, dst string, maxFiles int) error {
	files := 0
	for key, err := range g.objects.Keys(ctx) {
		if err != nil {
			return err
		}
		name, err := relativeKey(g.objects.Key, key)
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		if files++; files > maxFiles {
			return fmt.Errorf("there are more than %d objects with the prefix %q", maxFiles, g.objects.Key)
		}
		file := filepath.Join(dst, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := g.file(ctx, key, file); err != nil {
			return err
		}
	}
	if files == 0 {
		return ErrNotFound // for these services an empty prefix is no error
	}
	return nil
}

// relativeKey returns the path of an object below the prefix, or "" if it isn't below it.
func relativeKey(prefix, key string) (string, error) {
	if key == "" || key[len(key)-1] == '/' {
		return "", nil
	}
	name, err := filepath.Rel(filepath.FromSlash("/"+prefix), filepath.FromSlash("/"+key))
	switch {
	case err != nil:
		return "", err
	case name == ".":
		return "", nil
	case filepath.IsLocal(name):
		return name, nil
	case prefix != "" && prefix[len(prefix)-1] != '/' && !strings.HasPrefix(key, prefix+"/"):
		return "", nil // "directory2/file" begins like "directory"
	}
	return "", fmt.Errorf("the key %q leads out of %q", key, prefix)
}

// file downloads one object.
func (g *objectGetter) file(ctx context.Context, key, dst string) error {
	body, err := g.objects.Read(ctx, key)
	if err != nil {
		return err
	}
	defer body.Close()
	written, err := writeFile(ctx, dst, 0o644, body, g.left)
	g.left -= written
	switch {
	case g.left < 0:
		return hosts.TooLarge(g.limit)
	case err != nil:
		return err
	}
	return os.Chmod(dst, 0o644) // independent of the umask, as in Terraform
}

// OCIPackage is the address of a module's package in an OCI registry.
type OCIPackage struct {
	Registry, Repository string
	Tag, Digest          string // at most one is set; without any, the tag is "latest"
}

// OCIArchive is a zip archive in an OCI registry.
type OCIArchive struct {
	getproviders.Archive
	SHA256 [sha256.Size]byte // its expected digest
}

// errNoOCI says that the Fetcher has no client for OCI registries.
var errNoOCI = fmt.Errorf("%w: packages can't be fetched by \"oci\" in Terraform's place, only by http, https, git, hg, s3, gcs and file", ErrAddress)

// downloadOCI downloads an archive from a registry into the file dst, and verifies its digest.
func downloadOCI(ctx context.Context, open func(context.Context, OCIPackage) (OCIArchive, error), from packageSource, dst string, limit int64) error {
	u := from.parsed()
	archive, err := open(ctx, OCIPackage{
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
	_, err = writeFile(ctx, dst, 0o600, io.TeeReader(opened.Body, hash), limit)
	if sum := hash.Sum(nil); err == nil && [sha256.Size]byte(sum) != archive.SHA256 {
		return fmt.Errorf("the registry sent an archive with the SHA-256 %s, and its manifest says %s", hex.EncodeToString(sum), hex.EncodeToString(archive.SHA256[:]))
	}
	return err
}
