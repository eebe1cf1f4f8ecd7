package places

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/remote"
)

// ociScheme is the scheme of a template's URL: oci://HOST/PATH/${namespace}/${type}.
const ociScheme = "oci://"

// IsOCI reports whether an argument is the URL of an OCI registry.
func IsOCI(given string) bool {
	scheme, _, isURL := strings.Cut(given, "://")
	return isURL && strings.EqualFold(scheme, "oci")
}

// Logins returns the credentials that OpenTofu would find. It reads no files yet.
func Logins(user cliconfig.User, said cliblock.OCI) *oci.Logins {
	found := &oci.Logins{
		Helper: said.DefaultHelper, Files: said.Files, Ambient: !said.NoAmbient, Environ: user.Environ, HomeDir: user.HomeDir, GOOS: user.GOOS,
	}
	for _, c := range said.Credentials {
		found.Blocks = append(found.Blocks, oci.LoginBlock{
			Prefix: c.Prefix, Helper: c.Helper,
			Login: oci.Login{Username: c.Username, Password: c.Password, AccessToken: c.AccessToken, RefreshToken: c.RefreshToken},
		})
	}
	return found
}

// OCI returns a client of OCI registries. It makes no request yet.
func (h Hosts) OCI() *oci.Client {
	client := &oci.Client{HTTP: h.Client}
	if h.Logins != nil {
		client.Logins = h.Logins.Find
	}
	return client
}

// modulesIn returns a function that finds module packages in OCI registries.
func modulesIn(client *oci.Client) func(context.Context, fetch.OCIPackage) (fetch.OCIArchive, error) {
	return func(ctx context.Context, at fetch.OCIPackage) (fetch.OCIArchive, error) {
		archive, sum, err := client.Module(ctx, oci.Repository{Registry: at.Registry, Name: at.Repository}, at.Tag, at.Digest)
		if errors.Is(err, oci.ErrNoModule) {
			err = fmt.Errorf("%w: %w", fetch.ErrNotFound, err)
		}
		return fetch.OCIArchive{Archive: archive, SHA256: sum}, err
	}
}

// repositoriesAt parses oci://HOST/PATH/${namespace}/${type}. ${hostname} is optional, as a mirror may have the
// providers of only one host.
func repositoriesAt(address string) (func(getproviders.Provider) (oci.Repository, error), error) {
	oneHost := getproviders.Pattern{Hostname: "any", Namespace: "*", Type: "*"}
	_, path, _ := strings.Cut(address, "://")
	template, err := cliblock.ParseRepositoryTemplate(path, []getproviders.Pattern{oneHost})
	return repositories(template.Address), err
}

func repositories(address func(getproviders.Provider) string) func(getproviders.Provider) (oci.Repository, error) {
	return func(p getproviders.Provider) (oci.Repository, error) { return oci.ParseRepository(address(p)) }
}

// OCIMirror returns the source of an oci_mirror block.
func (h Hosts) OCIMirror(address func(getproviders.Provider) string) getproviders.Source {
	return getproviders.Memoize(&oci.Source{Client: h.OCI(), Repository: repositories(address), Signers: h.Signers})
}

// Releases publishes packages in the repositories of a URL, as repositoriesAt parses it. create makes a missing
// repository; it may be nil. Releases makes no request yet.
func (h Hosts) Releases(address string, create func(context.Context, oci.Repository) error) (remote.Releases, error) {
	find, err := repositoriesAt(address)
	if err != nil {
		return nil, err
	}
	client := h.OCI()
	client.CreateRepository = create
	return ociRegistry{client, find}, nil
}

// ociRegistry implements remote.Releases for an OCI registry.
type ociRegistry struct {
	client *oci.Client
	find   func(getproviders.Provider) (oci.Repository, error)
}

// Published implements remote.Releases.
func (r ociRegistry) Published(ctx context.Context, p getproviders.Provider, v getproviders.Version) (all []remote.Release, signed bool, err error) {
	at, err := r.find(p)
	if err != nil {
		return nil, false, err
	}
	return r.client.Pushed(ctx, at, v)
}

// Publish implements remote.Releases.
func (r ociRegistry) Publish(ctx context.Context, p getproviders.Provider, v getproviders.Version, archives []remote.Release, signed *getproviders.SignedDocuments) error {
	at, err := r.find(p)
	if err != nil {
		return err
	}
	return r.client.Push(ctx, at, oci.Release{Provider: p, Version: v, Targets: archives, Signed: signed})
}

// Path implements remote.Releases.
func (r ociRegistry) Path(p getproviders.Provider, v getproviders.Version) string {
	at, err := r.find(p)
	if err != nil {
		return ociScheme
	}
	return ociScheme + at.String() + ":" + oci.Tag(v)
}
