package view

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// CacheDir is where a cache is.
type CacheDir struct{ Cache *store.Store }

// Text writes the path and nothing else, for people and for scripts.
func (d CacheDir) Text() string {
	return d.Cache.Dir + "\n"
}

// JSON writes an object that names the path.
func (d CacheDir) JSON() any { return newJSONHead(d.Cache) }

// CacheKey is the key of what lock files select, and what keys of other selections begin with.
type CacheKey struct {
	Key      string                `json:"key"`
	Platform getproviders.Platform `json:"platform"`
	Prefix   string                `json:"restore_keys"`
}

// Text writes the key and nothing else, for people and for scripts.
func (k CacheKey) Text() string {
	return k.Key + "\n"
}

// JSON writes an object with the key.
func (k CacheKey) JSON() any { return k }

// CacheList is what "cache list" tells.
type CacheList struct {
	Cache    *store.Store
	Packages []store.Package
}

// usersShown is how many of a package's users a text names.
const usersShown = 3

// Text writes the list for people: a line for each package, and below it who
// uses it.
func (l CacheList) Text() string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	var size, onDisk int64
	for _, p := range l.Packages {
		size, onDisk = size+p.Size, onDisk+p.OnDisk
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s on disk\tused %s\t%s\n",
			p.Provider, p.Version, p.Platform, megabytes(p.Size), megabytes(p.OnDisk), p.LastUse.Local().Format("2006-01-02"), p.Condition)
		for i, user := range p.Users {
			if i == usersShown {
				fmt.Fprintf(table, "  and %d more\n", len(p.Users)-i)
				break
			}
			fmt.Fprintf(table, "  in %s\n", Printable(workingDirectory(user)))
		}
	}
	_ = table.Flush() // to memory
	fmt.Fprintf(&b, "%s in %s: %s, %s on disk\n", count(len(l.Packages), "package"), Printable(l.Cache.Dir), megabytes(size), megabytes(onDisk))
	return b.String()
}

// workingDirectory is the directory that has its packages in another one.
func workingDirectory(target string) string {
	if dir, ok := strings.CutSuffix(filepath.ToSlash(target), "/.terraform/providers"); ok {
		return filepath.FromSlash(dir)
	}
	return target
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	plural := thing + "s"
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		plural = stem + "ies"
	}
	return fmt.Sprintf("%d %s", n, plural)
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

// jsonHead begins each of these objects.
type jsonHead struct {
	Directory string `json:"directory"`
	Named     bool   `json:"named"`
}

func newJSONHead(c *store.Store) jsonHead { return jsonHead{c.Dir, c.Shared} }

type jsonCache struct {
	jsonHead
	Size       int64        `json:"size"`
	SizeOnDisk int64        `json:"size_on_disk"`
	Packages   []jsonCached `json:"packages"`
	Sum        jsonCacheSum `json:"summary"`
}

// jsonCacheSum counts packages, and those of each condition that there is.
type jsonCacheSum struct {
	Packages   int                     `json:"packages"`
	Conditions map[store.Condition]int `json:"conditions"`
}

// jsonStored is a package in a cache.
type jsonStored struct {
	jsonPackage
	Directory string `json:"directory"`
}

func newJSONStored(p store.Package) jsonStored {
	return jsonStored{jsonPackage{p.Provider, p.Version, p.Platform}, p.Dir}
}

// jsonSized is a package with what it takes of the disk.
type jsonSized struct {
	jsonStored
	Size       int64     `json:"size"`
	SizeOnDisk int64     `json:"size_on_disk"`
	LastUse    time.Time `json:"last_use"`
}

func newJSONSized(p store.Package) jsonSized {
	return jsonSized{newJSONStored(p), p.Size, p.OnDisk, p.LastUse.UTC().Truncate(time.Second)}
}

type jsonCached struct {
	jsonSized
	UsedBy    []string        `json:"used_by"`
	LinkedBy  []string        `json:"linked_by"`
	Receipt   bool            `json:"receipt"`
	Condition store.Condition `json:"condition"`
}

// JSON writes the list for programs.
func (l CacheList) JSON() any {
	out := jsonCache{jsonHead: newJSONHead(l.Cache), Sum: jsonCacheSum{len(l.Packages), map[store.Condition]int{}}}
	for _, p := range l.Packages {
		out.Size += p.Size
		out.SizeOnDisk += p.OnDisk
		out.Sum.Conditions[p.Condition]++
	}
	out.Packages = each(l.Packages, func(p store.Package) jsonCached {
		return jsonCached{newJSONSized(p), orEmpty(p.Users), orEmpty(p.Linked), p.Managed, p.Condition}
	})
	return out
}
