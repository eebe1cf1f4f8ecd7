package fetch

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// maxListBytes is far more than any list of checksums has.
const maxListBytes = 1 << 20

// resolve returns the checksum itself, where the address says only in which
// list it is.
func (f *Fetcher) resolve(ctx context.Context, from origin) (checksum, error) {
	if from.checksum.kind != "file" {
		return from.checksum, nil
	}
	listURL, err := url.Parse(from.checksum.value)
	if err != nil {
		return checksum{}, fmt.Errorf("%w: the list of checksums: %w", ErrAddress, withoutURL(err))
	}
	text, err := f.readList(ctx, from, listURL)
	if err != nil {
		return checksum{}, fmt.Errorf("the list of checksums: %w", err)
	}
	archive, err := archivePath(from)
	if err != nil {
		return checksum{}, err
	}
	names := []string{path.Base(archive), archive}
	if relative, err := filepath.Rel(path.Dir(listURL.Path), archive); err == nil {
		names = append(names, filepath.ToSlash(relative))
	}
	sum, found := parseChecksums(string(text), names)
	if !found {
		return checksum{}, fmt.Errorf("%w: the list of checksums, %s, has none for %q", ErrChecksum, redact(from.checksum.value), names[0])
	}
	return sum, nil
}

// archivePath is the path of an archive on its server.
func archivePath(from origin) (string, error) {
	if from.kind == "file" {
		return filepath.ToSlash(from.url), nil
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return "", withoutURL(err)
	}
	return u.Path, nil
}

// readList gets a list of checksums. Only an archive of this machine may have its
// list there.
func (f *Fetcher) readList(ctx context.Context, from origin, at *url.URL) ([]byte, error) {
	switch {
	case at.Scheme == "http", at.Scheme == "https":
		return f.readRemoteList(ctx, at)
	case from.kind == "file" && (at.Scheme == "file" || at.Scheme == ""):
		return wholefile.Read(filePath(at), maxListBytes)
	default:
		return nil, fmt.Errorf("%w: it has to be at an http or https URL", ErrAddress)
	}
}

func (f *Fetcher) readRemoteList(ctx context.Context, at *url.URL) ([]byte, error) {
	if f.Offline {
		return nil, ErrOffline
	}
	resp, err := f.get(ctx, at, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		resp.Body.Close()
		return nil, statusOf(resp)
	}
	return hosts.ReadAll(resp, maxListBytes)
}
