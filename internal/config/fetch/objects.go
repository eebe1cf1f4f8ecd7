package fetch

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// getObjects gets an object of s3 or gcs into the file dst, or all objects of a prefix into the directory.
func (f *Fetcher) getObjects(ctx context.Context, w *session, from packageSource, dst string) error {
	if f.Offline {
		return ErrOffline
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return withoutURL(err)
	}
	objects, err := w.buckets.Open(ctx, from.kind, u, from.own)
	if err != nil {
		return err
	}
	defer objects.Close()
	limits := f.bounds.withDefaults()
	get := &objectGetter{objects: objects, limit: limits.download, left: limits.download}
	if from.archive != "" {
		return get.file(ctx, objects.Key, dst)
	}
	return get.dir(ctx, dst, limits.files)
}

// objectGetter writes objects to files, all together not more than a limit.
type objectGetter struct {
	objects     bucket.Objects
	limit, left int64 // bytes
}

// dir gets the objects whose keys begin with that of the address. Keys that end with a slash
// stand for directories in some programs, and have no content.
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
		return ErrNotFound // a prefix that nothing has is no error to these services
	}
	return nil
}

// relativeKey is where an object is below the prefix; "" if it isn't below it.
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

// file gets one object.
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
		return &hosts.TooLargeError{Limit: g.limit}
	case err != nil:
		return err
	}
	return os.Chmod(dst, 0o644) // whatever the process's umask is, as Terraform does
}
