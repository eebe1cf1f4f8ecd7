// Package oci reads and publishes packages of providers in OCI registries, in the layout that OpenTofu reads: a
// repository for each provider, a tag for each version, an image index with a manifest for each platform, which has
// the archive as its layer.
//
//	client := &oci.Client{HTTP: httpClient, Logins: logins.Find}
//	source := &oci.Source{Client: client, Repository: func(p getproviders.Provider) (oci.Repository, error) {
//		return oci.ParseRepository("registry.example.com/providers/" + p.Namespace + "/" + p.Type)
//	}}
//
// [Client.Push] publishes packages. All requests use https.
package oci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Client is a client of registries. The zero value sends no credentials. Many goroutines may use it; don't copy it
// after its first use.
type Client struct {
	// HTTP sends all requests; nil means hosts.DefaultClient.
	HTTP *http.Client
	// Logins returns the credentials for a repository, when its registry wants some, or the zero Login. They are
	// sent to the registry and to the token service that it names, and not with redirects to other hosts. nil means
	// none.
	Logins func(ctx context.Context, r Repository) (Login, error)
	// CreateRepository creates a repository that a registry doesn't have, before publishing is tried again. It is
	// called once for each repository, and again only after a failure. nil makes a missing repository an error.
	CreateRepository func(ctx context.Context, r Repository) error

	opened  par.Memo[Repository, *remote.Repository]
	created par.Memo[Repository, struct{}]
	sent    par.Memo[sentBlob, Repository] // archives that this client has published
}

// sentBlob is a blob of a registry, in any of its repositories.
type sentBlob struct {
	registry string
	digest   digest.Digest
}

// Login is a username and a password, or tokens.
type Login = auth.Credential

// Repository is the address of a repository. The zero value means none.
type Repository struct {
	Registry string // the host, perhaps with a port
	Name     string // "providers/hashicorp/random"
}

// String returns the address in OpenTofu's form: "HOST/NAME".
func (r Repository) String() string { return r.Registry + "/" + r.Name }

// url returns the address with a scheme, for messages and policies.
func (r Repository) url() string { return "oci://" + r.String() }

// ErrRepository says that the address of a repository is invalid.
var ErrRepository = errors.New("invalid address of an OCI repository")

// ParseRepository parses HOST/NAME, without tag and digest. The error matches ErrRepository.
func ParseRepository(address string) (Repository, error) {
	ref, err := registry.ParseReference(address)
	if err == nil && ref.Reference != "" {
		err = errors.New("it has a tag or a digest")
	}
	if err != nil {
		return Repository{}, fmt.Errorf("%w: %.200q: %w", ErrRepository, address, err)
	}
	return Repository{ref.Registry, ref.Repository}, nil
}

// open returns the client of a repository, without a request.
func (c *Client) open(ctx context.Context, r Repository) (*remote.Repository, error) {
	return c.opened.Do(ctx, r, func(context.Context) (*remote.Repository, error) {
		repo, err := remote.NewRepository(r.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRepository, err)
		}
		repo.MaxMetadataBytes = manifestBytes
		repo.TagListMaxPages, repo.ReferrerListMaxPages = maxTagPages, maxTagPages
		if err := repo.SetReferrersCapability(true); err != nil { // the fallback is a tag that publishers overwrite concurrently
			return nil, err
		}
		repo.Client = &auth.Client{
			Client: cmp.Or(c.HTTP, hosts.DefaultClient()),
			Cache:  auth.NewCache(),
			Credential: func(ctx context.Context, host string) (auth.Credential, error) {
				if c.Logins == nil || host != repo.Reference.Host() {
					return auth.EmptyCredential, nil
				}
				return c.Logins(ctx, r)
			},
		}
		return repo, nil
	})
}

// The types of the layout.
const (
	typeProvider = "application/vnd.opentofu.provider"
	typeTarget   = "application/vnd.opentofu.provider-target"
	typeArchive  = "archive/zip"

	// manifestBytes is the largest manifest, as in OpenTofu.
	manifestBytes = 4 << 20
)

// Tag returns the tag of a version: tags can't have a plus sign.
func Tag(v getproviders.Version) string { return strings.ReplaceAll(v.String(), "+", "_") }

// readManifest reads a manifest by its descriptor, and verifies its digest.
func readManifest(ctx context.Context, repo *remote.Repository, d ocispec.Descriptor) ([]byte, error) {
	if d.Size > manifestBytes {
		return nil, fmt.Errorf("the manifest %s has %d bytes, and may have %d", d.Digest, d.Size, manifestBytes)
	}
	if err := d.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("the manifest has the digest %.100q: %w", d.Digest, err)
	}
	return counted(ctx, d, func() ([]byte, error) { return content.FetchAll(ctx, repo.Manifests(), d) })
}

// readReference reads the manifest of a tag or a digest; text is nil if it is too large.
func readReference(ctx context.Context, repo *remote.Repository, reference string) (found ocispec.Descriptor, text []byte, err error) {
	found, body, err := repo.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return found, nil, err
	}
	defer body.Close()
	if found.Size <= manifestBytes {
		text, err = counted(ctx, found, func() ([]byte, error) { return content.ReadAll(body, found) })
	}
	return found, text, err
}

// counted reports the memory of reading and decoding to the context's meter; see hosts.WithMeter.
func counted(ctx context.Context, d ocispec.Descriptor, read func() ([]byte, error)) (text []byte, err error) {
	if err = hosts.Count(ctx, d.Size); err == nil {
		text, err = read()
	}
	if err == nil {
		err = hosts.Count(ctx, hosts.DecodedBytes(text))
	}
	return text, err
}

// isMissing reports whether a registry answered that it doesn't have the object.
func isMissing(err error) bool {
	if errors.Is(err, errdef.ErrNotFound) {
		return true
	}
	answer, ok := errors.AsType[*errcode.ErrorResponse](err)
	if !ok {
		return false
	}
	for _, each := range answer.Errors {
		if each.Code == errcode.ErrorCodeNameUnknown || each.Code == errcode.ErrorCodeNameInvalid || each.Code == errcode.ErrorCodeManifestUnknown {
			return true
		}
	}
	return len(answer.Errors) == 0 && answer.StatusCode == http.StatusNotFound
}

// explained returns an error of a registry with the errors that callers branch on, and without the queries of
// URLs in its text: a redirect may have led to a signed URL.
func explained(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, auth.ErrBasicCredentialNotFound) {
		return fmt.Errorf("%w: the registry wants a username and a password, and none are configured for it", hosts.ErrUnauthorized)
	}
	shown := withoutQueries{err}
	answer, ok := errors.AsType[*errcode.ErrorResponse](err)
	if !ok || answer.URL == nil {
		return shown
	}
	failed := &hosts.Fault{ID: "unreachable", Err: shown, Advice: hosts.StatusAdvice(answer.StatusCode)}
	if hosts.Refuses(answer.StatusCode) {
		failed.ID, failed.Err = "unauthorized", fmt.Errorf("%w: %w", hosts.ErrUnauthorized, shown)
		failed.Advice = fmt.Sprintf("check the login for %s, as docker login or an oci_credentials block has it, and what it allows", answer.URL.Host)
	}
	if failed.Advice != "" {
		failed.Common = fmt.Sprintf("%s %d", answer.URL.Host, answer.StatusCode)
	}
	return failed
}

// withoutQueries is an error whose text has no queries of URLs. It doesn't change the wrapped error: goroutines share
// it, and its wrappers have copied its text.
type withoutQueries struct{ err error }

var queries = par.OnceRegexp(`(https?://[^\s"?]+)\?[^\s"]*`)

// Error implements error.
func (e withoutQueries) Error() string { return queries().ReplaceAllString(e.err.Error(), "$1") }

// Unwrap returns the error with its complete text.
func (e withoutQueries) Unwrap() error { return e.err }

// withRepository publishes something. If the registry doesn't have the repository, and doesn't create it itself, it creates the repository and tries
// again.
func (c *Client) withRepository(ctx context.Context, r Repository, publish func() error) error {
	err := publish()
	if isMissing(err) && c.CreateRepository != nil {
		_, failed := c.created.Do(ctx, r, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.CreateRepository(ctx, r) })
		err = publish() // even after a failure: another process may have created it at the same time
		if failed != nil && isMissing(err) {
			err = fmt.Errorf("%w; creating it failed: %w", err, failed)
		}
	}
	if !isMissing(err) {
		return err
	}
	return fmt.Errorf("there is no repository %s, and the registry %s doesn't make repositories by itself: create %s there first, and then try again (%w)",
		r, r.Registry, r.Name, err)
}
