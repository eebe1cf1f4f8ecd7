package view

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// lockReport is what became of lock files, for programs.
type lockReport struct {
	Format string        `json:"format_version"`
	Dirs   []jsonLockDir `json:"directories"`
}

type jsonLockDir struct {
	Dir       string             `json:"dir"`
	LockFile  string             `json:"lock_file"`
	Changed   bool               `json:"changed"`
	Complete  bool               `json:"complete"`
	Error     string             `json:"error,omitempty"`
	Providers []jsonLockProvider `json:"providers"`
}

type jsonLockProvider struct {
	Address     getproviders.Provider    `json:"address"`
	Version     getproviders.Version     `json:"version"`
	Previous    *getproviders.Version    `json:"previous_version"` // null: there was no entry
	Constraints getproviders.Constraints `json:"version_constraints"`
	Hashes      []getproviders.Hash      `json:"hashes"`
	Platforms   []jsonLockPlatform       `json:"platforms"`
}

type jsonLockPlatform struct {
	Platform       getproviders.Platform `json:"platform"`
	H1             getproviders.Hash     `json:"h1"`
	ZH             getproviders.Hash     `json:"zh,omitempty"`
	Origin         string                `json:"origin"`
	Source         string                `json:"source"`
	Authentication string                `json:"authentication"`
	KeyID          string                `json:"key_id,omitempty"`
	Missing        []getproviders.Hash   `json:"missing"`
}

var hashOrigins = map[providercache.HashOrigin]string{
	providercache.HashesComputed: "computed",
	providercache.HashesRecalled: "recalled",
	providercache.HashesListed:   "listed",
}

// add reports on a directory.
func (r *lockReport) add(d LockedDir) {
	out := jsonLockDir{
		Dir: filepath.ToSlash(d.Dir), LockFile: filepath.ToSlash(filepath.Join(d.Dir, d.LockFile)),
		Providers: []jsonLockProvider{}, Complete: d.Result.Err == nil,
	}
	if d.Result.Err != nil {
		out.Error = d.Result.Err.Error()
	}
	for _, p := range d.Result.Packages {
		out.Changed = out.Changed || p.Change != providercache.LockUnchanged && !d.Check && d.Result.Err == nil
		out.Complete = out.Complete && len(p.Missing) == 0 || out.Complete && !d.Check
		if d.Result.Err == nil {
			out.add(d, p)
		}
	}
	r.Dirs = append(r.Dirs, out)
}

// add reports on a package. Those of a provider come one after the other.
func (o *jsonLockDir) add(d LockedDir, p providercache.LockedPackage) {
	last := len(o.Providers) - 1
	if last < 0 || o.Providers[last].Address != p.Selection.Provider {
		entry := jsonLockProvider{Address: p.Selection.Provider, Version: p.Selection.Version, Constraints: p.Selection.Constraints}
		if lock, ok := d.Result.Locks.Provider(p.Selection.Provider); ok {
			entry.Hashes = lock.Hashes
		}
		if p.Previous != (getproviders.Version{}) {
			entry.Previous = &p.Previous
		}
		o.Providers = append(o.Providers, entry)
		last++
	}
	o.Providers[last].Platforms = append(o.Providers[last].Platforms, jsonLockPlatform{
		Platform: p.Platform, H1: p.H1, ZH: p.ZH, Origin: hashOrigins[p.From], Source: p.Source,
		Authentication: p.Authentication.TrustLevel.String(), KeyID: p.Authentication.KeyID,
		Missing: append([]getproviders.Hash{}, p.Missing...),
	})
}

func (r lockReport) write(w io.Writer) error {
	r.Format = "1.0"
	if r.Dirs == nil {
		r.Dirs = []jsonLockDir{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
