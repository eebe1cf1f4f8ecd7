// Package oci has packages of providers in OCI registries, in the layout that OpenTofu reads: a repository for each
// provider, a tag for each version, an image index with a manifest for each platform, and in that the archive as its
// layer.
//
//	client := &oci.Client{HTTP: httpClient, Logins: logins.Find}
//	source := &oci.Source{Client: client, Repository: func(p getproviders.Provider) (oci.Repository, error) {
//		return oci.ParseRepository("registry.example.com/providers/" + p.Namespace + "/" + p.Type)
//	}}
//
// [Client.Push] publishes packages. Registries are asked by https alone.
package oci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

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

// Client asks registries. The zero value asks without credentials. It is safe for many goroutines, and not to be copied
// after its first use.
type Client struct {
	// HTTP makes all requests; nil: hosts.DefaultClient.
	HTTP *http.Client
	// Logins finds the credentials for a repository, when its registry wants some: the zero Login if there are none.
	// They are sent to the registry and to the service that it names for tokens, and no redirect carries them
	// elsewhere. nil: there are none.
	Logins func(ctx context.Context, r Repository) (Login, error)
	// CreateRepository makes a repository that a registry doesn't have when something is published there, before that
	// is tried once more. It is called once for each of them, unless it failed. nil: that is an error.
	CreateRepository func(ctx context.Context, r Repository) error
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	opened  par.Memo[Repository, *remote.Repository]
	created par.Memo[Repository, struct{}]
	sent    par.Memo[sentBlob, Repository] // archives that this client has published
}

// sentBlob is a blob of a registry, in whichever repository.
type sentBlob struct {
	registry string
	digest   digest.Digest
}

// Login is what a registry accepts: a username and a password, or tokens.
type Login = auth.Credential

// Repository is the address of a repository. The zero value is none.
type Repository struct {
	Registry string // the host, perhaps with a port
	Name     string // "providers/hashicorp/random"
}

// String is the address as OpenTofu writes it: "HOST/NAME".
func (r Repository) String() string { return r.Registry + "/" + r.Name }

// url is the address with a scheme, for people and policies.
func (r Repository) url() string { return "oci://" + r.String() }

// ErrRepository says that something isn't the address of a repository.
var ErrRepository = errors.New("invalid address of an OCI repository")

// ParseRepository reads HOST/NAME, without tag and digest. The error matches ErrRepository.
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

// open returns what asks a repository. Nothing is asked yet.
func (c *Client) open(ctx context.Context, r Repository) (*remote.Repository, error) {
	return c.opened.Do(ctx, r, func(context.Context) (*remote.Repository, error) {
		repo, err := remote.NewRepository(r.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRepository, err)
		}
		repo.MaxMetadataBytes = manifestBytes
		repo.TagListMaxPages, repo.ReferrerListMaxPages = maxTagPages, maxTagPages
		if err := repo.SetReferrersCapability(true); err != nil { // what stands in for it is a tag that publishers overwrite for one another
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

// What the layout consists of.
const (
	typeProvider = "application/vnd.opentofu.provider"
	typeTarget   = "application/vnd.opentofu.provider-target"
	typeArchive  = "archive/zip"

	// manifestBytes is how large a manifest may be, for OpenTofu as well.
	manifestBytes = 4 << 20
)

// Tag is the tag of a version: none has a plus sign.
func Tag(v getproviders.Version) string { return strings.ReplaceAll(v.String(), "+", "_") }

// readManifest gets a manifest by its descriptor, and compares its digest.
func readManifest(ctx context.Context, repo *remote.Repository, d ocispec.Descriptor) ([]byte, error) {
	if d.Size > manifestBytes {
		return nil, fmt.Errorf("the manifest %s has %d bytes, and may have %d", d.Digest, d.Size, manifestBytes)
	}
	if err := d.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("the manifest has the digest %.100q: %w", d.Digest, err)
	}
	return counted(ctx, d, func() ([]byte, error) { return content.FetchAll(ctx, repo.Manifests(), d) })
}

// readReference reads what a tag or a digest leads to; text is nil if that is larger than a manifest may be.
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

// counted tells the meter of a context of what is read, and of what decoding makes of it; see hosts.WithMeter.
func counted(ctx context.Context, d ocispec.Descriptor, read func() ([]byte, error)) (text []byte, err error) {
	if err = hosts.Count(ctx, d.Size); err == nil {
		text, err = read()
	}
	if err == nil {
		err = hosts.Count(ctx, hosts.DecodedBytes(text))
	}
	return text, err
}

// isMissing reports whether a registry says that it doesn't have what it was asked for.
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

// explained is an error of a registry with what callers branch on, and without the queries of URLs in its text: a
// redirect may have led to a signed one.
func explained(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, auth.ErrBasicCredentialNotFound) {
		return fmt.Errorf("%w: the registry wants a username and a password, and there are none for it", hosts.ErrUnauthorized)
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

// withoutQueries is an error whose text has no queries of URLs. The error itself stays as it is: goroutines share it,
// and those that wrap it have its text already.
type withoutQueries struct{ err error }

var queries = par.OnceRegexp(`(https?://[^\s"?]+)\?[^\s"]*`)

// Error implements error.
func (e withoutQueries) Error() string { return queries().ReplaceAllString(e.err.Error(), "$1") }

// Unwrap returns the error with its whole text.
func (e withoutQueries) Unwrap() error { return e.err }

// withRepository has something published, and if its registry doesn't have the repository, and doesn't make it by itself, has it created, and tries again.
func (c *Client) withRepository(ctx context.Context, r Repository, publish func() error) error {
	err := publish()
	if isMissing(err) && c.CreateRepository != nil {
		_, failed := c.created.Do(ctx, r, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.CreateRepository(ctx, r) })
		err = publish() // also where creating it failed: another process may have created it at the same time
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
