package bucket

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	googleoauth "golang.org/x/oauth2/google"

	"github.com/tfdeps/tfdeps/internal/googlestorage"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// newGCS is Google Cloud Storage with a few objects.
func newGCS(t *testing.T, objects map[string]string) *storagetest.GCS {
	t.Helper()
	gcs := storagetest.StartGCS(t)
	for key, content := range objects {
		gcs.Add(key, []byte(content))
	}
	return gcs
}

const gcsBucket = "https://www.googleapis.com/storage/v1/bucket/"

func emulated(t *testing.T, gcs *storagetest.GCS) *Services {
	t.Helper()
	s := &Services{Environ: []string{strings.Replace(gcs.Variable(), "http://", "", 1)}}
	t.Cleanup(s.Close)
	return s
}

func TestGCS_ListsAllPages(t *testing.T) {
	t.Parallel()
	gcs := newGCS(t, map[string]string{"a": "", "d/1": "", "d/2": "", "d/3": "", "d/4": "", "d/5 ü/x": ""})
	s := emulated(t, gcs)
	wantKeys(t, s, "gcs", gcsBucket+"d", "d/1", "d/2", "d/3", "d/4", "d/5 ü/x")
	wantKeys(t, s, "gcs", gcsBucket+"x")
}

func TestGCS_ReadsAnObject(t *testing.T) {
	t.Parallel()
	gcs := newGCS(t, map[string]string{"d/1 ü?": "content"})
	s := emulated(t, gcs)
	const at = gcsBucket + "d/1%20%C3%BC%3F"
	for _, address := range []string{at, at + "#1"} {
		must.Equal(t, must.Get(read(t, s, "gcs", address))(t), "content", address)
	}
	must.Equal(t, last(gcs.Log()).Get("Authorization"), "", "an emulator was sent Authorization")
	must.Refuse(read(t, s, "gcs", at+"#17"))(t, "another generation")
	var answer interface{ HTTPStatusCode() int }
	if _, err := read(t, s, "gcs", gcsBucket+"none"); !errors.As(err, &answer) || answer.HTTPStatusCode() != 404 || !strings.Contains(err.Error(), "No such object: bucket/none") {
		t.Errorf("what isn't there: %v", err)
	}
	gcs.Damage.Store(true)
	must.Fail(t, must.ErrorOf(read(t, s, "gcs", at)), googlestorage.ErrDamaged, "what was damaged")
}

func TestGCS_RefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://example.com/storage/v1/b/k", "https://googleapis.com/storage/v1/b/k", "https://a.b.googleapis.com/storage/v1/b/k",
		"https://www.googleapis.com/storage/v1/b", gcsBucket + "k#x",
	} {
		must.Fail(t, must.ErrorOf(open(t, &Services{}, "gcs", text)), ErrAddress, text)
	}
}

// toward is a client that sends requests for Google's host to a fake, and leaves those for the fake
// unchanged.
func toward(fake string) *http.Client {
	to, _ := url.Parse(fake)
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "storage.googleapis.com" {
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host = to.Scheme, to.Host
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestGCS_SendsTheTokenOfTheEnvironment(t *testing.T) {
	t.Parallel()
	gcs := newGCS(t, map[string]string{"k": "content"})
	s := &Services{Client: toward(gcs.URL), Environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=tok", "GOOGLE_CLOUD_QUOTA_PROJECT=payer"}}
	t.Cleanup(s.Close)
	must.Equal(t, must.Get(read(t, s, "gcs", gcsBucket+"k"))(t), "content")
	header := last(gcs.Log())
	if header.Get("Authorization") != "Bearer tok" || header.Get("X-Goog-User-Project") != "payer" {
		t.Errorf("header: %v", header)
	}
}

func TestGCS_UsesApplicationDefaultCredentials(t *testing.T) {
	tokens := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"for %s","token_type":"Bearer","expires_in":3600}`, r.PostFormValue("grant_type"))
	})
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	der := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	file := must.Get(json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@example.com", "private_key_id": "1", "token_uri": tokens.BaseURL() + "/token", "quota_project_id": "files",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}))(t)
	path := filepath.Join(t.TempDir(), "adc.json")
	must.Write(t, path, string(file))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	gcs := newGCS(t, map[string]string{"k": "content", "l": "more"})
	s := &Services{Client: toward(gcs.URL)}
	t.Cleanup(s.Close)
	for _, key := range []string{"k", "l"} {
		must.Get(read(t, s, "gcs", gcsBucket+key))(t)
	}
	header := last(gcs.Log())
	if header.Get("Authorization") != "Bearer for urn:ietf:params:oauth:grant-type:jwt-bearer" || header.Get("X-Goog-User-Project") != "files" {
		t.Errorf("header: %v", header)
	}
	must.Equal(t, len(tokens.Log()), 1, "a token was asked for times")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "missing.json"))
	other := &Services{Client: toward(gcs.URL)}
	t.Cleanup(other.Close)
	must.Contain(t, must.ErrorOf(read(t, other, "gcs", gcsBucket+"k")), "GOOGLE_APPLICATION_CREDENTIALS", "a file that isn't there")
}

func TestGCS_AsksWithoutCredentialsWhereThereAreNone(t *testing.T) {
	t.Parallel()
	gcs := newGCS(t, map[string]string{"k": "public"})
	s := &Services{Client: toward(gcs.URL)}
	s.google.Find = func(context.Context, ...string) (*googleoauth.Credentials, error) {
		return nil, errors.New("google: could not find default credentials. See elsewhere")
	}
	t.Cleanup(s.Close)
	must.Equal(t, must.Get(read(t, s, "gcs", gcsBucket+"k"))(t), "public")
	private := newFake(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	s = &Services{Client: toward(private.BaseURL())}
	s.google.Find = func(context.Context, ...string) (*googleoauth.Credentials, error) {
		return nil, errors.New("google: could not find default credentials. See elsewhere")
	}
	t.Cleanup(s.Close)
	must.Contain(t, must.ErrorOf(read(t, s, "gcs", gcsBucket+"k")), "gcloud auth application-default login", "what is private")
}

func TestGCS_RenewsATokenThatHasEnded(t *testing.T) {
	t.Parallel()
	gcs := newGCS(t, map[string]string{"k": "content"})
	s := &Services{Client: toward(gcs.URL)}
	t.Cleanup(s.Close)
	source := &countingSource{}
	s.google.Find = func(context.Context, ...string) (*googleoauth.Credentials, error) {
		return &googleoauth.Credentials{TokenSource: source}, nil
	}
	for want := range 3 {
		must.Get(read(t, s, "gcs", gcsBucket+"k"))(t)
		must.Equal(t, last(gcs.Log()).Get("Authorization"), fmt.Sprintf("Bearer %d", want+1), "request", want+1)
	}
}

// countingSource has tokens that expire at once.
type countingSource struct{ made int }

// Token implements oauth2.TokenSource.
func (c *countingSource) Token() (*oauth2.Token, error) {
	c.made++
	return &oauth2.Token{AccessToken: strconv.Itoa(c.made), Expiry: longAgo}, nil
}

var longAgo = time.Unix(1, 0)

// TestGCS_AsksGoogleWhateverTheAddressNames has addresses with other servers: only Google's own server receives
// a token.
func TestGCS_AsksGoogleWhateverTheAddressNames(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://evil.googleapis.com/storage/v1/b/k", "http://www.googleapis.com/storage/v1/b/k", "https://me:secret@www.googleapis.com/storage/v1/b/k",
		"https://www.googleapis.com/@evil.example/v1/b/k", "https://www.googleapis.com/storage/v1/b/k?alt=json&pageToken=x",
	} {
		asked := ""
		s := &Services{Environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=hunter2"}, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = fmt.Sprint(r.URL, hosts.WantsOwnConnection(r.Context()))
			return nil, errors.New("no")
		})}}
		u := must.Get(url.Parse(address))(t)
		objects := must.Get(s.Open(t.Context(), "gcs", u, false))(t)
		_, _ = readKey(t.Context(), objects, objects.Key)
		s.Close()
		must.Equal(t, asked, "https://storage.googleapis.com/storage/v1/b/b/o/k?alt=media true", "asked", address)
	}
}
