package view

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
)

// URLsReport tells where packages are.
type URLsReport struct{ Dirs []LocatedDir }

// LocatedDir is what one directory needs.
type LocatedDir struct {
	Dir      string
	LockFile string // its name in Dir
	Named    bool   // there may be others: it has to be said which one it is about
	// Locked are the hashes that the lock file has for a version.
	Locked func(getproviders.Provider, getproviders.Version) []getproviders.Hash
	Result lockhashes.LocateResult
}

type (
	jsonURLs struct {
		Dirs []jsonURLsDir `json:"directories"`
		Sum  jsonURLsSum   `json:"summary"`
	}
	jsonURLsSum struct {
		Packages int   `json:"packages"`
		Failed   int   `json:"failed"` // of them
		Bytes    int64 `json:"bytes"`  // of those whose size is known
	}
	jsonURLsDir struct {
		Dir       string             `json:"dir"`
		LockFile  string             `json:"lock_file"`
		Complete  bool               `json:"complete"`
		Providers []jsonURLsProvider `json:"providers"`
	}
	jsonURLsProvider struct {
		Address     getproviders.Provider    `json:"address"`
		Version     getproviders.Version     `json:"version"`
		Constraints getproviders.Constraints `json:"version_constraints"`
		Locked      bool                     `json:"locked"`
		LockHashes  []getproviders.Hash      `json:"locked_hashes"`
		Signed      []getproviders.Hash      `json:"signed_hashes"`
		Platforms   []jsonURL                `json:"platforms"`
	}
	jsonURL struct {
		Platform       getproviders.Platform `json:"platform"`
		Source         string                `json:"source"`
		FileName       string                `json:"filename"`
		URL            *string               `json:"url"`
		Path           *string               `json:"path"`
		SHA256         *string               `json:"sha256"`
		Size           *int64                `json:"size"`
		Hashes         []getproviders.Hash   `json:"hashes"`
		Protocols      []string              `json:"protocols"`
		Authentication string                `json:"authentication"`
		KeyID          string                `json:"key_id,omitempty"`
		*jsonFailure
	}
)

// JSON prints the report for programs.
func (r URLsReport) JSON() any {
	out := jsonURLs{Dirs: []jsonURLsDir{}}
	for _, d := range r.Dirs {
		dir := jsonURLsDir{
			Dir: filepath.ToSlash(d.Dir), LockFile: filepath.ToSlash(filepath.Join(d.Dir, d.LockFile)),
			Complete: d.Result.Err == nil, Providers: []jsonURLsProvider{},
		}
		for _, p := range d.Result.Packages {
			dir.add(d, p)
			out.Sum.add(p)
		}
		out.Dirs = append(out.Dirs, dir)
	}
	return out
}

func (s *jsonURLsSum) add(p lockhashes.LocatedPackage) {
	s.Packages++
	if p.Err != nil {
		s.Failed++
	}
	s.Bytes += max(p.Size, 0)
}

// add reports on a package. Those of a provider come one after the other.
func (o *jsonURLsDir) add(d LocatedDir, p lockhashes.LocatedPackage) {
	s, last := p.Selection, len(o.Providers)-1
	if last < 0 || o.Providers[last].Address != s.Provider {
		o.Providers = append(o.Providers, jsonURLsProvider{
			Address: s.Provider, Version: s.Version, Constraints: s.Constraints, Locked: s.Locked,
			LockHashes: orEmpty(d.Locked(s.Provider, s.Version)), Signed: []getproviders.Hash{},
		})
		last++
	}
	entry := &o.Providers[last]
	entry.Signed = getproviders.SortHashes(append(entry.Signed, p.Authentication.Signed...))
	entry.Platforms = append(entry.Platforms, describeURL(p))
}

func describeURL(p lockhashes.LocatedPackage) jsonURL {
	out := jsonURL{
		Platform: p.Platform, Source: p.Package.Source, Hashes: orEmpty(p.Hashes),
		FileName: getproviders.PackedName(p.Selection.Provider, p.Selection.Version, p.Platform),
	}
	if p.Err != nil {
		out.jsonFailure = newJSONFailure(p.Err)
		out.Error = causeOf(p.Err).Error()
		return out
	}
	out.Authentication, out.KeyID = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
	if p.Package.Protocols != "" {
		out.Protocols = strings.Split(p.Package.Protocols, ",")
	}
	if sum, ok := strings.CutPrefix(string(p.ZH), getproviders.SchemeZH+":"); ok {
		out.SHA256 = &sum
	}
	if p.Size >= 0 {
		out.Size = &p.Size
	}
	text := p.Package.Location.String()
	if at, ok := p.Package.Location.(getproviders.HTTPArchive); ok {
		text = withoutUser(at.URL)
		out.URL = &text
	} else {
		out.Path = &text
	}
	return out
}

// withoutUser is all that it takes to download, but for user and password: those
// are of the kind that is good for more than one archive.
func withoutUser(u *url.URL) string {
	plain := *u
	plain.User = nil
	return plain.String()
}

// Text prints the report for people: each package with its checksum and where it
// is. What may be secret in a URL is left out.
func (r URLsReport) Text() string {
	var b strings.Builder
	for _, d := range r.Dirs {
		if d.Named {
			fmt.Fprintf(&b, "%s:\n", Printable(d.Dir))
		}
		for _, p := range d.Result.Packages {
			if p.Err != nil {
				continue
			}
			fmt.Fprintf(&b, "%s v%s %s (%s)\n  %s\n", p.Selection.Provider, p.Selection.Version, p.Platform, p.Authentication.TrustLevel,
				Printable(p.Package.Location.String()))
			if p.ZH != "" {
				fmt.Fprintf(&b, "  %s\n", p.ZH)
			}
			if p.Size >= 0 {
				fmt.Fprintf(&b, "  %d bytes\n", p.Size)
			}
		}
	}
	return b.String()
}
