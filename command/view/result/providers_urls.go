package result

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache"
)

// URLs is the report of packages' locations: for people each with its checksum, and with redacted URLs.
func URLs(dirs []explain.LockedDir) *Result {
	var text strings.Builder
	packages, failed, bytes := 0, 0, int64(0)
	for _, d := range dirs {
		if d.Named {
			fmt.Fprintf(&text, "%s:\n", terminal.Printable(d.Dir))
		}
		for _, p := range d.Result.Packages {
			packages, bytes = packages+1, bytes+p.Bytes
			if p.Err != nil {
				failed++
				continue
			}
			fmt.Fprintf(&text, "%s v%s %s (%s)\n  %s\n", p.Provider, p.Version, p.Platform, p.Authentication.TrustLevel,
				terminal.Printable(p.Package.Location.String()))
			if p.ZH != "" {
				fmt.Fprintf(&text, "  %s\n", p.ZH)
			}
			if p.Bytes > 0 {
				fmt.Fprintf(&text, "  %d bytes\n", p.Bytes)
			}
		}
	}
	return &Result{text.String(), Object{"directories", Each(dirs, locatedDir), "summary", Object{"packages", packages, "failed", failed, "bytes", bytes}}}
}

func locatedDir(d explain.LockedDir) Object {
	providers := byProvider(d.Result.Packages)
	return append(lockFile(d), "complete", d.Result.Err == nil,
		"providers", Each(providers, func(all []providercache.LockedPackage) Object {
			s, signed := all[0].Selection, []getproviders.Hash{}
			for _, p := range all {
				signed = append(signed, p.Authentication.Signed...)
			}
			return Object{
				"address", s.Provider, "version", s.Version, "version_constraints", s.Constraints, "locked", s.Locked,
				"locked_hashes", d.Locked(s.Provider, s.Version), "signed_hashes", hashing.Sort(signed), "platforms", Each(all, located),
			}
		}))
}

func located(p providercache.LockedPackage) Object {
	var protocols any
	url, path, sha256, level, key, failed := "", "", "", "", "", ErrorObject(p.Err) // "" means unknown
	if about, ok := getproviders.Failure(p.Err); ok {
		failed[1] = about.Err.Error()
	} else if p.Err == nil {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
		if len(p.Package.Protocols) > 0 {
			protocols = p.Package.Protocols
		}
		sha256 = strings.TrimPrefix(string(p.ZH), hashing.ZH+":")
		if at, ok := p.Package.Location.(getproviders.HTTPArchive); ok {
			// Without user and password, because these may give access to more than one archive.
			plain := *at.URL
			plain.User = nil
			url = plain.String()
		} else {
			path = p.Package.Location.String()
		}
	}
	return append(Object{
		"platform", p.Platform, "source", p.Package.Source, "filename", p.Provider.PackedName(p.Version, p.Platform),
		"url|null", url, "path|null", path, "sha256|null", sha256, "size?", p.Bytes, "hashes", p.Hashes, "protocols", protocols,
		"authentication", level, "key_id?", key,
	}, failed...)
}
