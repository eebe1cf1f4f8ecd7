package view

import (
	"io"
	"time"

	"github.com/tfdeps/tfdeps/providercache"
)

// cacheFormat is the version of the JSON of the cache commands.
const cacheFormat = "1.0"

type jsonCache struct {
	FormatVersion string       `json:"format_version"`
	Directory     string       `json:"directory"`
	Named         bool         `json:"named"`
	Size          int64        `json:"size"`
	SizeOnDisk    int64        `json:"size_on_disk"`
	Packages      []jsonCached `json:"packages"`
}

type jsonCached struct {
	Address    string    `json:"address"`
	Version    string    `json:"version"`
	Platform   string    `json:"platform"`
	Directory  string    `json:"directory"`
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
	out := jsonCache{FormatVersion: cacheFormat, Directory: l.Cache.Dir, Named: l.Cache.Named, Packages: []jsonCached{}}
	for _, p := range l.Packages {
		out.Size += p.Size
		out.SizeOnDisk += p.OnDisk
		out.Packages = append(out.Packages, newJSONCached(p))
	}
	return writeObject(w, out)
}

func newJSONCached(p providercache.Cached) jsonCached {
	return jsonCached{
		Address: p.Provider.String(), Version: p.Version.String(), Platform: p.Platform.String(), Directory: p.Dir,
		Size: p.Size, SizeOnDisk: p.OnDisk, LastUse: p.LastUse.UTC().Truncate(time.Second),
		UsedBy: append([]string{}, p.Users...), LinkedBy: append([]string{}, p.Linked...),
		Receipt: p.Ours, Condition: string(p.Condition),
	}
}
