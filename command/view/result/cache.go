package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// CacheDir is where a cache is.
type CacheDir struct{ Cache *providercache.Store }

// Text writes the path and nothing else, for people and for scripts.
func (d CacheDir) Text() string {
	return d.Cache.Dir + "\n"
}

// JSON is an object that names the path.
func (d CacheDir) JSON() any { return cacheObject(d.Cache) }

// CacheKey is the key of what lock files select, and what keys of other selections begin with.
type CacheKey struct {
	Key, Prefix string
	Platform    getproviders.Platform
}

// Text writes the key and nothing else, for people and for scripts.
func (k CacheKey) Text() string {
	return k.Key + "\n"
}

// JSON is an object with the key.
func (k CacheKey) JSON() any {
	return Object{"key", k.Key, "platform", k.Platform, "restore_keys", k.Prefix}
}

// CacheList is what "cache list" tells.
type CacheList struct {
	Cache    *providercache.Store
	Packages []providercache.StoredPackage
}

// usersShown is how many of a package's users a text names.
const usersShown = 3

// Text writes the list for people: a line for each package, and below it who
// uses it.
func (l CacheList) Text() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	size, onDisk := l.sizes()
	for _, p := range l.Packages {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s on disk\tused %s\t%s\n",
			p.Provider, p.Version, p.Platform, terminal.Megabytes(p.Size), terminal.Megabytes(p.OnDisk), p.LastUse.Local().Format("2006-01-02"), p.Condition)
		for i, user := range p.Users {
			if i == usersShown {
				fmt.Fprintf(table, "  and %d more\n", len(p.Users)-i)
				break
			}
			fmt.Fprintf(table, "  in %s\n", terminal.Printable(workingDirectory(user)))
		}
	}
	_ = table.Flush() // to memory
	fmt.Fprintf(&b, "%s in %s: %s, %s on disk\n", terminal.Count(len(l.Packages), "package"), terminal.Printable(l.Cache.Dir), terminal.Megabytes(size), terminal.Megabytes(onDisk))
	return b.String()
}

// workingDirectory is the directory that has its packages in another one.
func workingDirectory(target string) string {
	if dir, ok := strings.CutSuffix(filepath.ToSlash(target), "/.terraform/providers"); ok {
		return filepath.FromSlash(dir)
	}
	return target
}

// GitHubOutput writes names and values as a step of GitHub Actions hands them
// on. The mark that ends a value is one that can't be in it.
func GitHubOutput(w io.Writer, pairs [][2]string) {
	for _, pair := range pairs {
		sum := sha256.Sum256([]byte(pair[1]))
		mark := "end-" + hex.EncodeToString(sum[:8])
		fmt.Fprintf(w, "%s<<%s\n%s\n%s\n", pair[0], mark, pair[1], mark)
	}
}

// cacheObject begins each of these objects.
func cacheObject(c *providercache.Store) Object { return Object{"directory", c.Dir, "named", c.Shared} }

// stored is a package in a cache.
func stored(p providercache.StoredPackage) Object {
	return Object{"address", p.Provider, "version?", p.Version, "platform", p.Platform, "directory", p.Dir}
}

// sized is a package with what it takes of the disk.
func sized(p providercache.StoredPackage) Object {
	return append(stored(p), "size", p.Size, "size_on_disk", p.OnDisk, "last_use", p.LastUse.UTC().Truncate(time.Second))
}

// JSON is the list for programs.
func (l CacheList) JSON() any {
	size, onDisk := l.sizes()
	return append(cacheObject(l.Cache), "size", size, "size_on_disk", onDisk, "packages", Each(l.Packages, func(p providercache.StoredPackage) Object {
		return append(sized(p), "used_by", p.Users, "linked_by", p.Linked, "receipt", p.Managed, "condition", p.Condition)
	}), "summary", Object{
		"packages", len(l.Packages), "conditions", tallied(l.Packages, func(p providercache.StoredPackage) providercache.Condition { return p.Condition }),
	})
}

func (l CacheList) sizes() (size, onDisk int64) {
	for _, p := range l.Packages {
		size, onDisk = size+p.Size, onDisk+p.OnDisk
	}
	return size, onDisk
}
