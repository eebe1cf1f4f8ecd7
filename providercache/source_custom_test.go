package providercache_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// A source that a program brings along has archives in memory and an authenticator of its own.
func TestInstall_FromMemoryTrustedByAFunction(t *testing.T) {
	source := parallelSource(t)
	archive := zipOf(t, map[string]string{"terraform-provider-widget": "x"})
	source.Add("acme/widget", "1.0.0", getproviders.ReaderArchive{Name: "blob 1", Reader: bytes.NewReader(archive), Size: int64(len(archive))})
	approved := sha256.Sum256(archive)
	pkg := source.Packages[acmeWidget][v1]
	pkg.Trust = getproviders.TrustedBy(authenticatorFunc(func(d getproviders.Digests) (getproviders.AuthenticationResult, error) {
		if d.SHA256 != approved {
			return getproviders.AuthenticationResult{}, getproviders.ErrAuthentication
		}
		return getproviders.AuthenticationResult{TrustLevel: getproviders.LevelVerifiedChecksum}, nil
	}))
	source.Packages[acmeWidget][v1] = pkg
	_, report := install(t, newInstaller(t, source), widgets, nil)
	must.Equal(t, report.Outcomes[0].Authentication.TrustLevel, getproviders.LevelVerifiedChecksum)
	approved[0]++
	if err := attempt(t, newInstaller(t, source), widgets, nil); !errors.Is(err, getproviders.ErrAuthentication) {
		t.Errorf("another archive: %v", err)
	}
}

// A source that lists a package without anything to authenticate it by causes an error and no
// panic.
func TestLock_OfHashesWithoutAnAuthenticator(t *testing.T) {
	source := widgetSource(t)
	pkg := source.Packages[acmeWidget][v1]
	listed := getproviders.Hash("h1:" + strings.Repeat("A", 43) + "=")
	pkg.Trust = getproviders.Trust{ListedHashes: []getproviders.Hash{listed}, RegistryHashes: map[getproviders.Platform]getproviders.Hash{linux: listed}}
	source.Packages[acmeWidget][v1] = pkg
	in := newInstaller(t, source)
	request := providercache.LockRequest{Requirements: require("acme/widget", "")}
	if got := installtest.First(in.Fetcher.Lock(t.Context(), request)); got.Err != nil || got.Packages[0].H1 == listed {
		t.Errorf("%+v", got)
	}
	must.Equal(t, installtest.First(in.Fetcher.Locate(t.Context(), request)).Err, nil)
}

// authenticatorFunc is a function that is an Authenticator.
type authenticatorFunc func(getproviders.Digests) (getproviders.AuthenticationResult, error)

func (f authenticatorFunc) Authenticate(d getproviders.Digests) (getproviders.AuthenticationResult, error) {
	return f(d)
}
