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

// URLsReport tells where packages are.
type URLsReport []explain.LockedDir

// JSON is the report for programs.
func (r URLsReport) JSON() any {
	packages, failed, bytes := 0, 0, int64(0)
	for _, d := range r {
		for _, p := range d.Result.Packages {
			packages++
			if p.Err != nil {
				failed++
			}
			bytes += p.Bytes
		}
	}
	return Object{"directories", Each(r, locatedDir), "summary", Object{"packages", packages, "failed", failed, "bytes", bytes}}
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
	url, path, sha256, level, key, failed := "", "", "", "", "", ErrorObject(p.Err) // "": not known
	if about, ok := getproviders.Failure(p.Err); ok {
		failed[1] = about.Err.Error()
	} else if p.Err == nil {
		level, key = p.Authentication.TrustLevel.String(), p.Authentication.KeyID
		if p.Package.Protocols != "" {
			protocols = strings.Split(p.Package.Protocols, ",")
		}
		sha256 = strings.TrimPrefix(string(p.ZH), hashing.ZH+":")
		if at, ok := p.Package.Location.(getproviders.HTTPArchive); ok {
			// Without user and password: those are of the kind that is good for more than one archive.
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

// Text prints the report for people: each package with its checksum and where it
// is. What may be secret in a URL is left out.
func (r URLsReport) Text() string {
	var b strings.Builder
	for _, d := range r {
		if d.Named {
			fmt.Fprintf(&b, "%s:\n", terminal.Printable(d.Dir))
		}
		for _, p := range d.Result.Packages {
			if p.Err != nil {
				continue
			}
			fmt.Fprintf(&b, "%s v%s %s (%s)\n  %s\n", p.Provider, p.Version, p.Platform, p.Authentication.TrustLevel,
				terminal.Printable(p.Package.Location.String()))
			if p.ZH != "" {
				fmt.Fprintf(&b, "  %s\n", p.ZH)
			}
			if p.Bytes > 0 {
				fmt.Fprintf(&b, "  %d bytes\n", p.Bytes)
			}
		}
	}
	return b.String()
}
