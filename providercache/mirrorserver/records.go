package mirrorserver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
)

// versionsRecord is a source's answer about a provider.
type versionsRecord struct {
	Versions []getproviders.Version `json:"versions"`
	Warnings []string               `json:"warnings,omitempty"` // messages of the registry for its users
	Details  []detailsRecord        `json:"details,omitempty"`
	Sources  []sourceRecord         `json:"sources,omitempty"` // of the versions, if a policy chooses
}

// sourceRecord says where listed versions come from, as in getproviders.Candidate.
type sourceRecord struct {
	URL      string                 `json:"url,omitempty"`
	Registry bool                   `json:"registry,omitempty"`
	Versions []getproviders.Version `json:"versions"`
}

// detailsRecord has the details that a source's list has in common for several versions.
type detailsRecord struct {
	Versions  []getproviders.Version  `json:"versions"`
	Protocols []string                `json:"protocols,omitempty"`
	Platforms []getproviders.Platform `json:"platforms,omitempty"`
}

// Limits of details, which are only hints: a malicious list could have different
// ones for each version, or many, or long ones, and use up memory.
const (
	maxDetails     = 100 // different ones
	maxDetailWords = 100 // protocols and platforms together
	maxDetailWord  = 40  // bytes
)

// isUsual reports whether details are within these limits.
func isUsual(told getproviders.Listed) bool {
	words := len(told.Protocols) + len(told.Platforms)
	long := slices.ContainsFunc(told.Protocols, func(p string) bool { return len(p) > maxDetailWord }) ||
		slices.ContainsFunc(told.Platforms, func(p getproviders.Platform) bool { return len(p.OS)+len(p.Arch) > maxDetailWord })
	return words > 0 && words <= maxDetailWords && !long
}

// detailsOf groups versions by their details.
func detailsOf(available getproviders.Available) (all []detailsRecord) {
	for _, v := range available.Versions {
		told := available.Details[v]
		at := slices.IndexFunc(all, func(d detailsRecord) bool {
			return slices.Equal(d.Protocols, told.Protocols) && slices.Equal(d.Platforms, told.Platforms)
		})
		if at < 0 && (len(all) == maxDetails || !isUsual(told)) {
			continue
		}
		if at < 0 {
			at = len(all)
			all = append(all, detailsRecord{Protocols: told.Protocols, Platforms: told.Platforms})
		}
		all[at].Versions = append(all[at].Versions, v)
	}
	return all
}

// packagesRecord is a source's answer about the packages of a version.
type packagesRecord struct {
	Protocols string                                  `json:"protocols,omitempty"`
	Packages  map[getproviders.Platform]packageRecord `json:"packages"`
	Signed    *signedRecord                           `json:"signed,omitempty"` // nil: no signed documents
	Level     getproviders.TrustLevel                 `json:"trust_level,omitempty"`
	KeyID     string                                  `json:"key_id,omitempty"`
	SourceURL string                                  `json:"source_url,omitempty"`
	Source    string                                  `json:"source,omitempty"`

	FromRegistry bool `json:"from_registry,omitempty"` // see getproviders.Package
}

// packageRecord is one package. Hashes are those that its source lists.
type packageRecord struct {
	Hashes []getproviders.Hash `json:"hashes,omitempty"`
}

// signedRecord is getproviders.SignedDocuments, which authenticate all packages of a version.
type signedRecord struct {
	Sums      []byte                   `json:"sums"`
	Signature []byte                   `json:"signature"`
	Keys      []getproviders.PublicKey `json:"keys"`
}

// versionsOf returns the versions of a provider.
func (s *Server) versionsOf(ctx context.Context, p getproviders.Provider) (*answer[versionsRecord], error) {
	return s.versions.get(ctx, keyOf(p, "versions.json"), func(ctx context.Context) (versionsRecord, error) {
		source := s.fresh()
		available, err := source.Versions(ctx, p)
		if err != nil {
			return versionsRecord{}, err
		}
		slices.SortFunc(available.Versions, getproviders.Version.Compare)
		return versionsRecord{Versions: available.Versions, Warnings: slices.Concat(available.Warnings, available.PassedOver), Details: detailsOf(available), Sources: s.sourcesOf(ctx, source, p, available)}, nil
	})
}

// sourcesOf groups versions by their source, if the policy may ask for it.
func (s *Server) sourcesOf(ctx context.Context, source getproviders.Source, p getproviders.Provider, available getproviders.Available) (all []sourceRecord) {
	if s.fetcher.Choice.Listed == nil {
		return nil
	}
	r := s.fetcher.Resolver()
	r.Source = source
	for _, v := range available.Versions {
		asking := r
		if has := available.Details[v].Platforms; len(has) > 0 { // this server's platform may be missing
			asking.Platform = has[0]
		}
		c := asking.Listed(ctx, p, v, available)
		at := slices.IndexFunc(all, func(known sourceRecord) bool { return known.URL == c.SourceURL && known.Registry == c.FromRegistry })
		if at < 0 {
			at = len(all)
			all = append(all, sourceRecord{URL: c.SourceURL, Registry: c.FromRegistry})
		}
		all[at].Versions = append(all[at].Versions, v)
	}
	return all
}

// allowedOf returns the versions of a provider, and those that the policy lets
// clients choose. For one answer of the source these stay the same for a day.
func (s *Server) allowedOf(ctx context.Context, p getproviders.Provider) (*answer[versionsRecord], []getproviders.Version, error) {
	found, err := s.versionsOf(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if !s.fetcher.Choice.LeavesAny() {
		return found, found.value.Versions, nil
	}
	got, err := s.choices.get(ctx, providerPath(p)+"/"+found.asked.String(), func(ctx context.Context) ([]getproviders.Version, error) {
		from := map[getproviders.Version]sourceRecord{}
		for _, known := range found.value.Sources {
			for _, v := range known.Versions {
				from[v] = known
			}
		}
		var listed []getproviders.Candidate
		for _, v := range found.value.Versions {
			listed = append(listed, getproviders.Candidate{
				Provider: p, Version: v, Platform: s.fetcher.Platform, State: getproviders.StateListed, SourceURL: from[v].URL, FromRegistry: from[v].Registry,
			})
		}
		allowed, left := s.fetcher.Resolver().Allowed(ctx, listed)
		if len(left.Versions) > 0 {
			s.opts.Log.Info("versions are left out by policy", "provider", p.String(), "left_out", left.String())
		}
		return allowed, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return found, got.value, nil
}

// packagesOf returns the packages of a version.
func (s *Server) packagesOf(ctx context.Context, p getproviders.Provider, v getproviders.Version) (*answer[packagesRecord], error) {
	return s.packages.get(ctx, keyOf(p, v.String()+"/packages.json"), func(ctx context.Context) (packagesRecord, error) {
		return s.askPackages(ctx, p, v)
	})
}

// usualPlatforms are asked for if a source doesn't list its platforms.
var usualPlatforms = []getproviders.Platform{
	{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"}, {OS: "darwin", Arch: "amd64"}, {OS: "windows", Arch: "amd64"},
}

// packageQueries is how many platforms of a version are asked for at once.
const packageQueries = 4

// askPackages asks the source for the packages of a version: for one of
// them, if its signed documents list the others, else for each.
func (s *Server) askPackages(ctx context.Context, p getproviders.Provider, v getproviders.Version) (record packagesRecord, err error) {
	source := s.fresh()
	var platforms []getproviders.Platform
	if list := source.Describe(p).Platforms; list != nil {
		if platforms, err = list(ctx, p, v); err != nil {
			return record, err
		}
	}
	told := len(platforms) > 0
	if !told {
		platforms = usualPlatforms
	}
	record.Packages = map[getproviders.Platform]packageRecord{}
	if err := askFirst(ctx, source, p, v, platforms, told, &record); err != nil {
		return record, err
	}
	missing := slices.DeleteFunc(slices.Clone(platforms), func(plat getproviders.Platform) bool { return len(record.Packages[plat].Hashes) > 0 })
	if record.Signed != nil && !told {
		missing = nil // the signed list has them all
	}
	found, errs := par.Map(ctx, packageQueries, missing, func(ctx context.Context, plat getproviders.Platform) (packageRecord, error) {
		_, trust, err := askPackage(ctx, source, p, v, plat)
		return packageRecord{Hashes: listedHashes(trust)}, err
	})
	for i, plat := range missing {
		switch {
		case errs[i] == nil:
			record.Packages[plat] = found[i]
		case !errors.Is(errs[i], getproviders.ErrPlatformMissing):
			return record, errs[i]
		}
	}
	return record, nil
}

// askFirst asks for the first existing platform, and takes the hashes of all platforms from its signed documents.
func askFirst(ctx context.Context, source getproviders.Source, p getproviders.Provider, v getproviders.Version, platforms []getproviders.Platform, told bool, record *packagesRecord) error {
	for _, plat := range platforms {
		pkg, trust, err := askPackage(ctx, source, p, v, plat)
		if errors.Is(err, getproviders.ErrPlatformMissing) {
			continue
		}
		if err != nil {
			return err
		}
		record.Protocols, record.Source, record.SourceURL, record.FromRegistry = strings.Join(pkg.Protocols, ","), pkg.Source, pkg.SourceURL, pkg.FromRegistry
		record.Packages[plat] = packageRecord{Hashes: listedHashes(trust)}
		if trust.Documents == nil {
			return nil
		}
		result, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: trust.ExpectedSHA256})
		if err != nil {
			return err
		}
		record.Level, record.KeyID = result.TrustLevel, result.KeyID
		record.Signed = (*signedRecord)(trust.Documents)
		for plat, zh := range trust.Documents.Archives(p, v) {
			if !told || slices.Contains(platforms, plat) {
				hashes := append(slices.Clone(record.Packages[plat].Hashes), zh)
				if h1 := trust.RegistryHashes[plat]; h1 != "" {
					hashes = append(hashes, h1)
				}
				record.Packages[plat] = packageRecord{Hashes: hashing.Sort(hashes)}
			}
		}
		return nil
	}
	return getproviders.Subject{Source: source.Describe(p).Name, Provider: p, Version: v}.Missing()
}

// askPackage asks the source for a package, and loads the documents that authenticate it.
func askPackage(ctx context.Context, source getproviders.Source, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, getproviders.Trust, error) {
	pkg, err := source.Package(ctx, p, v, plat)
	if err != nil {
		return pkg, getproviders.Trust{}, err
	}
	trust, err := pkg.Trust.Loaded(ctx)
	return pkg, trust, err
}

// listedHashes returns the hashes that a source lists for a package.
func listedHashes(trust getproviders.Trust) []getproviders.Hash {
	hashes := slices.Clone(trust.ListedHashes)
	if trust.ExpectedSHA256 != ([32]byte{}) {
		hashes = append(hashes, getproviders.ZH(trust.ExpectedSHA256))
	}
	return hashing.Sort(hashes)
}

// hashesOf returns the known hashes of a platform's package: those that its source lists, and those of the archive in the bucket.
func (r packagesRecord) hashesOf(plat getproviders.Platform, stored []storedArchive) []getproviders.Hash {
	own := r.Packages[plat].Hashes
	if archive, ok := r.Packages[plat].find(stored, plat); ok {
		own = append(slices.Clone(own), archive.H1, archive.ZH)
	}
	return hashing.Sort(own)
}
