package cause

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

func named(kind string, err error) error {
	p := getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: kind}
	return getproviders.Selection{Provider: p}.Failed(during.Query, err)
}

func query(err error) error {
	return getproviders.Provider{}.QueryFailed("provider registry", err)
}

func request(url string) error {
	return query(answering(url, func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }))
}

// answering returns the error for a malformed document of a server.
func answering(address string, server storagetest.RoundTrip) error {
	at, _ := url.Parse(address)
	_, err := hosts.GetDocument(context.Background(), &http.Client{Transport: server}, hosts.DocumentRequest{URL: at})
	return err
}

// failing is a source without providers.
type failing struct{ err error }

func (f failing) Versions(context.Context, getproviders.Provider) (getproviders.Available, error) {
	return getproviders.Available{}, f.err
}

func (f failing) Package(context.Context, getproviders.Provider, getproviders.Version, getproviders.Platform) (getproviders.Package, error) {
	return getproviders.Package{}, f.err
}

func (f failing) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{}
}

func TestCauses_PutTogetherWhatFailedForOne(t *testing.T) {
	discovery := hosts.Discovery{Client: &http.Client{Transport: storagetest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("timeout") })}}
	_, undiscovered := discovery.Service(t.Context(), "example.com", "providers.v1")
	silent := query(undiscovered)
	refused := func(sent bool) error {
		return &getproviders.Fault{
			Kind: getproviders.ErrUnauthorized, Subject: getproviders.Subject{Host: "example.com"},
			Err: &hosts.Refusal{Host: "example.com", Sent: sent, Err: &hosts.StatusError{Document: &hosts.Document{StatusCode: 401, Status: "401"}}},
		}
	}
	searched := func(errs ...error) error {
		several := getproviders.MultiSource{Fallback: getproviders.NextOnFailure}
		for _, err := range errs {
			several.Selectors = append(several.Selectors, getproviders.Selector{Source: failing{err}})
		}
		_, err := several.Versions(t.Context(), getproviders.Provider{})
		return err
	}
	notMirror := func(source string) error {
		missing := getproviders.Subject{Source: source, Provider: getproviders.Provider{}}.Missing()
		missing.Hint = "it looks like a registry"
		return missing
	}
	missing := getproviders.Subject{Source: "a", Provider: getproviders.Provider{}}.Missing()
	large := query(answering("https://example.com/x", func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: http.NoBody, ContentLength: 1, Request: r}, nil
	}))
	bucket := &hosts.Fault{Err: &hosts.Fault{Err: errors.New("denied"), Common: "s3://bucket: denied"}}
	for name, c := range map[string]struct {
		errs []error
		want string // the providers of each cause
	}{
		"one discovery":                {[]error{silent, silent, silent}, "a,b,c"},
		"two hosts":                    {[]error{request("https://one.example/a"), request("https://two.example/b"), request("https://one.example/c")}, "a,c b"},
		"a token is missing, or bad":   {[]error{refused(false), refused(true), refused(false)}, "a,c b"},
		"unlike failures":              {[]error{errors.New("x"), errors.New("x")}, "a b"},
		"an answer that is too large":  {[]error{large, large}, "a b"},
		"a bucket below another error": {[]error{bucket, bucket}, "a,b"},
		"sources that all fail so":     {[]error{searched(silent, silent), silent}, "a,b"},
		"sources that don't":           {[]error{searched(silent, request("https://two.example/b")), silent}, "a b"},
		"a source without it":          {[]error{searched(getproviders.ErrProviderNotFound, silent), silent}, "a,b"},
		"a source that may be none":    {[]error{notMirror("a"), searched(notMirror("a")), notMirror("b"), missing}, "a,b c d"},
		"nothing":                      {nil, ""},
	} {
		var failures []error
		for i, err := range c.errs {
			failures = append(failures, named(string(rune('a'+i)), err))
		}
		var got []string
		for _, cause := range Causes(errors.Join(failures...)) {
			var names []string
			for _, f := range cause.Failures {
				names = append(names, f.Provider.Type)
			}
			got = append(got, strings.Join(names, ","))
			if len(names) > 1 && strings.Contains(cause.Err.Error(), "example.com/acme") {
				t.Errorf("%s: a cause of several names one of them: %v", name, cause.Err)
			}
		}
		must.Equal(t, strings.Join(got, " "), c.want, name)
	}
}

func TestSharedCause_NamesNoQuery(t *testing.T) {
	key, common := SharedCause(query(&url.Error{Op: "Get", URL: "https://user:pw@example.com/blob?signature=secret", Err: errors.New("connection refused")}))
	must.Equal(t, key, "request https://example.com")
	must.Contain(t, common, "connection refused")
	for _, secret := range []string{"secret", "pw"} {
		must.NotContain(t, common, secret)
	}
}

func TestCauses_KeepWhatIsAboutNoProvider(t *testing.T) {
	blocked := Unwritable("target", nil, errors.New("read-only"))
	causes := Causes(errors.Join(blocked, named("a", errors.New("no"))))
	if len(causes) != 2 || causes[0].Err != error(blocked) || len(causes[0].Failures) != 0 || len(causes[1].Failures) != 1 {
		t.Errorf("got %+v", causes)
	}
}
