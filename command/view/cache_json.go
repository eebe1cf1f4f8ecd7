package view

import (
	"io"
	"time"

	"github.com/tfdeps/tfdeps/providercache"
)

// cacheFormat is the version of the JSON of the cache commands.
const cacheFormat = "1.0"

// jsonHead begins each of these objects.
type jsonHead struct {
	FormatVersion string `json:"format_version"`
	Directory     string `json:"directory"`
	Named         bool   `json:"named"`
}

func newJSONHead(c *providercache.Store) jsonHead { return jsonHead{cacheFormat, c.Dir, c.Shared} }

type jsonCache struct {
	jsonHead
	Size       int64        `json:"size"`
	SizeOnDisk int64        `json:"size_on_disk"`
	Packages   []jsonCached `json:"packages"`
}

// jsonPackage says which package something is about.
type jsonPackage struct {
	Address   string `json:"address"`
	Version   string `json:"version"`
	Platform  string `json:"platform"`
	Directory string `json:"directory"`
}

func newJSONPackage(p providercache.Cached) jsonPackage {
	return jsonPackage{p.Provider.String(), p.Version.String(), p.Platform.String(), p.Dir}
}

type jsonCached struct {
	jsonPackage
	Size       int64     `json:"size"`
	SizeOnDisk int64     `json:"size_on_disk"`
	LastUse    time.Time `json:"last_use"`
	UsedBy     []string  `json:"used_by"`
	LinkedBy   []string  `json:"linked_by"`
	Receipt    bool      `json:"receipt"`
	Condition  string    `json:"condition"`
}

// JSON writes the list for programs.
func (l CacheList) JSON(w io.Writer) error {
	out := jsonCache{jsonHead: newJSONHead(l.Cache), Packages: []jsonCached{}}
	for _, p := range l.Packages {
		out.Size += p.Size
		out.SizeOnDisk += p.OnDisk
		out.Packages = append(out.Packages, newJSONCached(p))
	}
	return writeObject(w, out)
}

func newJSONCached(p providercache.Cached) jsonCached {
	return jsonCached{
		jsonPackage: newJSONPackage(p), Size: p.Size, SizeOnDisk: p.OnDisk, LastUse: p.LastUse.UTC().Truncate(time.Second),
		UsedBy: append([]string{}, p.Users...), LinkedBy: append([]string{}, p.Linked...),
		Receipt: p.Ours, Condition: string(p.Condition),
	}
}
