package mirrorserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/layout"
)

// wireRegistryVersions is a registry's list of a provider's versions.
// Protocols and platforms are hints for errors, if the source has them.
type wireRegistryVersions struct {
	Versions []wireRegistryVersion `json:"versions"`
	Warnings []string              `json:"warnings,omitempty"`
}

type wireRegistryVersion struct {
	Version   string         `json:"version"`
	Protocols []string       `json:"protocols,omitempty"`
	Platforms []wirePlatform `json:"platforms,omitempty"`
}

type wirePlatform struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// wireRegistryPackage is a registry's description of a package.
type wireRegistryPackage struct {
	Protocols    []string                     `json:"protocols"`
	OS           string                       `json:"os"`
	Arch         string                       `json:"arch"`
	FileName     string                       `json:"filename"`
	DownloadURL  string                       `json:"download_url"`
	SumsURL      string                       `json:"shasums_url"`
	SignatureURL string                       `json:"shasums_signature_url"`
	SHA256       string                       `json:"shasum"`
	SigningKeys  json.RawMessage              `json:"signing_keys"`
	Packages     map[string]wireListedPackage `json:"packages,omitempty"`
}

type wireListedPackage struct {
	Hashes []getproviders.Hash `json:"hashes"`
}

// serveRegistryVersions sends the versions of a provider, in the registry protocol.
func (s *Server) serveRegistryVersions(w http.ResponseWriter, r *http.Request, asked request) error {
	found, versions, err := s.allowedOf(r.Context(), asked.provider)
	if err != nil {
		return err
	}
	return serveMade(s, w, r, found, "registry", func() any {
		list := wireRegistryVersions{Versions: []wireRegistryVersion{}, Warnings: found.value.Warnings}
		told := map[getproviders.Version]wireRegistryVersion{}
		for _, d := range found.value.Details {
			entry := wireRegistryVersion{Protocols: d.Protocols}
			for _, plat := range d.Platforms {
				entry.Platforms = append(entry.Platforms, wirePlatform(plat))
			}
			for _, v := range d.Versions {
				told[v] = entry
			}
		}
		for _, v := range versions {
			entry := told[v]
			entry.Version = v.String()
			list.Versions = append(list.Versions, entry)
		}
		return list
	})
}

// serveRegistryPackage sends a registry's description of a package: where the archive is, and
// the documents that authenticate it. Everything but the URLs is the publisher's own.
func (s *Server) serveRegistryPackage(w http.ResponseWriter, r *http.Request, asked request) error {
	p, v := asked.provider, asked.version
	found, err := s.packagesOf(r.Context(), p, v)
	if failed := getproviders.FaultOf(err, getproviders.ErrProtocol); failed != nil {
		// The server's product doesn't support the package's plugin protocols:
		// clients use them to explain why they don't install it.
		s.serveDocument(w, r, "application/json", newDocument("", encode(wireRegistryPackage{
			Protocols: failed.Protocols, OS: asked.platform.OS, Arch: asked.platform.Arch, SigningKeys: json.RawMessage("{}"),
		})))
		return nil
	}
	if err != nil {
		return err
	}
	record := found.value
	if record.Signed == nil {
		return fmt.Errorf("%w of version %s of %s where this server gets it from, so it can't be served as by a registry: name the server in a network_mirror block", errUnsigned, v, p)
	}
	signed := getproviders.SignedDocuments(*record.Signed)
	zh, ok := signed.Archives(p, v)[asked.platform]
	if _, listed := record.Packages[asked.platform]; !ok || !listed {
		return fmt.Errorf("%w: version %s of %s has no package for %s", errNoSuch, v, p, asked.platform)
	}
	who := s.sender(r)
	variant := "registry/" + asked.platform.String() + "/" + s.urlsVariant(who)
	return serveMade(s, w, r, found, variant, func() any {
		return wireRegistryPackage{
			// Clients require a protocol: if the source has none, any client may try the package.
			Protocols: strings.Split(cmp.Or(record.Protocols, "5.0"), ","), OS: asked.platform.OS, Arch: asked.platform.Arch,
			FileName:     p.PackedName(v, asked.platform), // where Archives found its checksum
			DownloadURL:  fromPackage + s.fileURL(p, p.PackedName(v, asked.platform), who),
			SumsURL:      fromPackage + s.fileURL(p, layout.ChecksumsName(p, v), who),
			SignatureURL: fromPackage + s.fileURL(p, layout.SignatureName(p, v), who),
			SHA256:       strings.TrimPrefix(string(zh), hashing.ZH+":"), SigningKeys: signed.EncodeKeys(), Packages: record.listed(),
		}
	})
}

// fromPackage leads from VERSION/download/OS/ARCH to the directory of the provider.
const fromPackage = "../../../"

// listed returns the hashes that the registry itself lists for all platforms, or nil if it lists only the signed ones.
func (r packagesRecord) listed() map[string]wireListedPackage {
	all, more := map[string]wireListedPackage{}, false
	for plat, pkg := range r.Packages {
		all[plat.String()] = wireListedPackage(pkg)
		for _, h := range pkg.Hashes {
			more = more || h.Scheme() == hashing.H1
		}
	}
	if !more {
		return nil
	}
	return all
}
