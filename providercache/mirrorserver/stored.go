package mirrorserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// StoredPackage is an archive in the bucket.
type StoredPackage struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Bytes    int64
	Stored   time.Time
	Used     time.Time // the end of the hour of its last use, if Collect knows it, else when it was stored
}

// StoredPackages lists the archives in the bucket, newest first. It sends a
// request for each thousand objects. The error is the bucket's.
func (s *Server) StoredPackages(ctx context.Context) ([]StoredPackage, error) {
	held, err := s.heldArchives(ctx, nil)
	if err != nil {
		return nil, err
	}
	all := make([]StoredPackage, len(held))
	for i, a := range held {
		all[i] = a.StoredPackage
	}
	slices.SortFunc(all, func(a, b StoredPackage) int {
		return cmp.Or(b.Stored.Compare(a.Stored), a.Provider.Compare(b.Provider), b.Version.Compare(a.Version), cmp.Compare(a.Platform.String(), b.Platform.String()))
	})
	return all, nil
}

// heldArchives lists the archives of the bucket, with their last uses.
func (s *Server) heldArchives(ctx context.Context, uses map[string]time.Time) (held []storedArchive, err error) {
	for info, err := range s.bucket.List(ctx, "providers/") {
		if err != nil {
			return nil, err
		}
		if a, ok := parseArchive(info); ok {
			if used := uses[a.Key]; used.After(a.Used) {
				a.Used = used
			}
			held = append(held, a)
		}
	}
	return held, nil
}

// storedArchive is an archive in the bucket. Its key has all its metadata, so that no other object needs to.
type storedArchive struct {
	StoredPackage
	Key      string
	ZH, H1   getproviders.Hash
	Released time.Time // when the publisher's server says that it was last modified; else when it was stored
}

// archivesDir returns the prefix of the keys of a version's archives.
func archivesDir(p getproviders.Provider, v getproviders.Version) string {
	return keyOf(p, v.String()+"/archives/")
}

// archiveKey returns the key of an archive: OS_ARCH.ZH.H1.RELEASED.zip, where zh is in hex, h1 in
// base64url, and released in seconds since 1970. Earlier versions had OS_ARCH.ZH.H1.zip.
func archiveKey(p getproviders.Provider, v getproviders.Version, plat getproviders.Platform, zh, h1 getproviders.Hash, released time.Time) (string, error) {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(h1), hashing.H1+":"))
	if err != nil {
		return "", err
	}
	return archivesDir(p, v) + plat.String() + "." + strings.TrimPrefix(string(zh), hashing.ZH+":") + "." + base64.RawURLEncoding.EncodeToString(sum) +
		"." + strconv.FormatInt(released.Unix(), 10) + ".zip", nil
}

// parseArchive parses a key made by archiveKey. Used is the time of storing, because the key doesn't have a better one.
func parseArchive(info blob.Info) (a storedArchive, ok bool) {
	path := strings.Split(info.Key, "/")
	if len(path) != 7 || path[5] != "archives" {
		return a, false
	}
	host, err := hosts.ParseHostname(path[1])
	p := getproviders.Provider{Hostname: host, Namespace: path[2], Type: path[3]}
	v, versionErr := getproviders.ParseVersion(path[4])
	a.Released = info.Modified
	parts := strings.Split(path[6], ".")
	if len(parts) == 5 {
		seconds, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			return a, false
		}
		a.Released, parts = time.Unix(seconds, 0), slices.Delete(parts, 3, 4)
	}
	if len(parts) != 4 || parts[3] != "zip" {
		return a, false
	}
	plat, platformErr := getproviders.ParsePlatform(parts[0])
	zh, zhErr := hex.DecodeString(parts[1])
	h1, h1Err := base64.RawURLEncoding.DecodeString(parts[2])
	if cmp.Or(err, p.Validate(), versionErr, platformErr, zhErr, h1Err) != nil || len(zh) != 32 || len(h1) != 32 || !strings.HasPrefix(info.Key, archivesDir(p, v)) {
		return a, false
	}
	a.StoredPackage = StoredPackage{p, v, plat, info.Size, info.Modified, info.Modified}
	a.Key, a.ZH, a.H1 = info.Key, getproviders.ZH([32]byte(zh)), getproviders.Hash(hashing.H1+":"+base64.StdEncoding.EncodeToString(h1))
	return a, true
}

// storedOf lists the archives of a version in the bucket. If that fails, the list is empty.
func (s *Server) storedOf(ctx context.Context, p getproviders.Provider, v getproviders.Version) *answer[[]storedArchive] {
	prefix := archivesDir(p, v)
	found, err := s.stored.get(ctx, prefix, func(ctx context.Context) (all []storedArchive, err error) {
		for info, err := range s.bucket.List(ctx, prefix) {
			if err != nil {
				s.opts.Log.Error("the bucket can't be listed", "prefix", prefix, "error", err.Error())
				return nil, err
			}
			if archive, ok := parseArchive(info); ok {
				all = append(all, archive)
			}
		}
		slices.SortFunc(all, func(a, b storedArchive) int { return strings.Compare(a.Key, b.Key) })
		return all, nil
	})
	if err != nil {
		return &answer[[]storedArchive]{}
	}
	return found
}

// find returns the archive of a platform that has one of the hashes of its package.
func (p packageRecord) find(stored []storedArchive, plat getproviders.Platform) (storedArchive, bool) {
	at := slices.IndexFunc(stored, func(a storedArchive) bool {
		return a.Platform == plat && (slices.Contains(p.Hashes, a.ZH) || slices.Contains(p.Hashes, a.H1))
	})
	if at < 0 {
		return storedArchive{}, false
	}
	return stored[at], true
}

// keyOf returns the key of a record about a provider, or one of its versions, in the bucket.
func keyOf(p getproviders.Provider, name string) string {
	return fmt.Sprintf("providers/%s/%s", providerPath(p), name)
}

// providerPath returns a provider's path in URLs and in the bucket.
func providerPath(p getproviders.Provider) string {
	return p.Hostname.ASCII() + "/" + p.Namespace + "/" + p.Type
}
