package getproviders

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// list returns the versions of a provider with their details.
func (s *RegistrySource) list(ctx context.Context, p Provider) (Available, error) {
	return s.versions.Do(ctx, p, time.Now, s.VersionsMaxAge, func(ctx context.Context) (Available, error) {
		doc, _, err := s.ask(ctx, p, p.Namespace, p.Type, "versions")
		if err != nil {
			return Available{}, err
		}
		if doc.StatusCode == http.StatusNotFound {
			failed := Subject{Source: "provider " + registryName(p), Provider: p}.Missing() // programs look for Terraform's sentence
			failed.Source, failed.Registry = registryName(p), true
			return Available{}, failed
		}
		list, err := decodeVersions(doc.Body)
		if err != nil {
			return Available{}, malformedError(kindRegistry, p, doc, err)
		}
		return list, nil
	})
}

// missing returns the error for a package that the registry doesn't have. The protocol answers 404
// whatever the reason, so the list of versions decides.
func (s *RegistrySource) missing(ctx context.Context, p Provider, v Version, plat Platform) error {
	list, err := s.list(ctx, p)
	return list.missing(ctx, err, Subject{Provider: p, Version: v, Platform: plat, Source: registryName(p)})
}

// explainMissing finds out whether a host's registry is a network mirror, by asking for its list of
// versions. It doesn't ask the product's default registry.
func (s *RegistrySource) explainMissing(ctx context.Context, p Provider) string {
	if s.Product.Short(p) != p.String() {
		return ""
	}
	doc, base, err := s.ask(ctx, p, p.Hostname.String(), p.Namespace, p.Type, "index.json")
	if err != nil || doc.StatusCode != http.StatusOK {
		return ""
	}
	if _, err := decodeMirrorIndex(doc.Body); err != nil {
		return ""
	}
	return fmt.Sprintf("%s is a network mirror, which speaks another protocol than a registry: name it in a network_mirror block of the CLI configuration, not as the service of a host",
		hosts.RedactURL(base))
}

// incompatible returns the error for a version none of whose protocols the product speaks.
func (s *RegistrySource) incompatible(ctx context.Context, p Provider, v Version, protocols []string) error {
	failed := &Fault{
		Code: "incompatible_protocol", Kind: ErrProtocol, Subject: Subject{Provider: p, Version: v, Protocols: protocols},
		Err: fmt.Errorf("provider %s v%s is not compatible with %s: it speaks plugin protocol %s, not 5 or 6",
			p, v, s.Product.title(), strings.Join(protocols, ", ")),
		Hint: fmt.Sprintf("no compatible version of %s is known: use another version of the program, or ask the provider's publisher", p),
	}
	list, err := s.list(ctx, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failed
	}
	compatible := list.newest(func(other Version) bool {
		ok, err := speaks(list.Details[other].Protocols)
		return ok && err == nil && other != v && mayPropose(ctx, p, other)
	})
	switch {
	case compatible.IsZero():
	case compatible.Compare(v) < 0:
		failed.Hint = fmt.Sprintf("downgrade to %s or earlier: version = %q", compatible, compatible)
	default:
		failed.Hint = fmt.Sprintf("version %s is the latest compatible one: version = %q", compatible, compatible)
	}
	return failed
}

func (s *RegistrySource) suggest(ctx context.Context, p Provider) (Provider, bool) {
	implied, err := s.Product.ImpliedProvider(p.Type)
	if err != nil || implied != p {
		return Provider{}, false
	}
	doc, _, err := s.ask(ctx, p, "-", p.Type, "versions")
	if err != nil || doc.StatusCode != http.StatusOK {
		return Provider{}, false
	}
	namespace, typ, err := decodeAlias(doc.Body)
	found := Provider{Hostname: p.Hostname, Namespace: namespace, Type: typ}
	if err != nil || found == p {
		return Provider{}, false
	}
	return found, true
}
