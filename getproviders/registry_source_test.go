package getproviders

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

const (
	versionsPath = "/v1/acme/widget/versions"
	packagePath  = "/v1/acme/widget/1.0.0/download/linux/amd64"
)

func TestRegistrySource_Versions(t *testing.T) {
	for name, test := range map[string]struct {
		body     string
		versions []Version
		warnings []string
	}{
		"in the registry's order": {
			body:     `{"versions": [{"version": "1.0.0"}, {"version": "2.0.0-beta1"}, {"version": "0.9.0+b1"}]}`,
			versions: versions("1.0.0", "2.0.0-beta1", "0.9.0+b1"),
		},
		"with warnings": {
			body:     `{"versions": [{"version": "1.0.0"}], "warnings": ["moved", "deprecated"]}`,
			versions: versions("1.0.0"),
			warnings: []string{"moved", "deprecated"},
		},
		"without those that can't be parsed": {
			body:     `{"versions": [{"version": "1.0.0"}, {"version": "v2"}, {"version": ""}, {}, {"version": "1.1.0"}]}`,
			versions: versions("1.0.0", "1.1.0"),
		},
		"each once": {
			body:     `{"versions": [{"version": "1.0"}, {"version": "1.0.0"}, {"version": "1.0.0"}]}`,
			versions: versions("1.0.0"),
		},
		"with odd hints passed over": {
			body:     `{"versions": [{"version": "1.0.0", "protocols": [null, "x"], "platforms": [null, {"os": "a b", "arch": "c"}]}]}`,
			versions: versions("1.0.0"),
		},
		"unknown properties": {body: `{"id": "acme/widget", "versions": [{"version": "1.0.0", "x": {}}]}`, versions: versions("1.0.0")},
		"empty list":         {body: `{"versions": []}`},
		"null list":          {body: `{"versions": null, "warnings": null}`},
		"no list":            {body: `{}`},
	} {
		source := newFakeRegistry(t, pages{versionsPath: test.body}).source(t)
		got := must.Get(versionsOf(t, source))(t, name)
		must.EqualSlices(t, got.Versions, test.versions, name)
		must.EqualSlices(t, got.Warnings, test.warnings, name)
	}
}

func TestRegistrySource_RefusesMalformedVersions(t *testing.T) {
	for body, problem := range map[string]string{
		`<html>`:                            "invalid character '<'",
		``:                                  "unexpected end of JSON input",
		`{"versions": [{"version": "1.0.0"`: "unexpected end of JSON input",
		`{"versions": []} {}`:               "after top-level value",
		`null`:                              "it is null, not an object",
		`[]`:                                "it is a JSON array, not an object",
		`{"versions": {"1.0.0": {}}}`:       "versions can't be a JSON object", // a mirror's index
		`{"versions": [{"version": "1.0.0"}, null]}`: "versions[1] is null",
		`{"versions": [{"version": 1.0}]}`:           "versions.version can't be a JSON number",
		strings.Repeat(`{"a":`, 20000):               "exceeded max depth",
		`{"versions": [], "warnings": "x"}`:          "warnings can't be a JSON string",
	} {
		fake := newFakeRegistry(t, pages{versionsPath: body})
		_, err := versionsOf(t, fake.source(t))
		wantQueryError(t, err, "could not query provider registry for registry.example/acme/widget: malformed answer", fake.URL+versionsPath, problem)
	}
}

func TestRegistrySource_RefusesHugeAnswers(t *testing.T) {
	body := `{"versions": []}` + strings.Repeat(" ", 16<<20)
	fake := newFakeRegistry(t, pages{versionsPath: body})
	_, err := versionsOf(t, fake.source(t))
	wantQueryError(t, err, fake.URL+versionsPath, "larger than 16777216 bytes")
}

// wantQueryError checks that the error means that a registry failed, and that its message contains
// all texts.
func wantQueryError(t *testing.T, err error, texts ...string) {
	t.Helper()
	wantKind(t, err, ErrUnreachable)
	if query := FaultOf(err, ErrUnreachable); query == nil || query.Provider != widget {
		t.Errorf("err = %#v, want a *Fault about %s", err, widget)
	}
	for _, text := range texts {
		must.Contain(t, err, text)
	}
}

// wantKind ends the test unless an error is of the kind (nil means no error), and fails it if the error is of another
// kind, too.
func wantKind(t *testing.T, err, kind error, about ...any) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("%v: %v, want %v", about, err, kind)
	}
	for _, each := range []error{
		ErrProviderNotFound, ErrVersionNotFound, ErrPlatformMissing, ErrProtocol, ErrUnauthorized, ErrUnreachable,
	} {
		must.Equal(t, errors.Is(err, each), each == kind, each, err, about)
	}
}

func TestRegistrySource_TellsStatusesApart(t *testing.T) {
	for _, test := range []struct {
		status   string
		kind     error
		requests int
		text     string // %s is the URL
	}{
		{"404", ErrProviderNotFound, 1, `provider registry registry.example does not have a provider named registry.example/acme/widget`},
		{"401", ErrUnauthorized, 1, `host registry.example requires authentication credentials for provider registry.example/acme/widget: GET "%s": 401 Unauthorized`},
		{"403", ErrUnauthorized, 1, `host registry.example denies access, or requires authentication credentials for provider registry.example/acme/widget: GET "%s": 403 Forbidden`},
		{"418", ErrUnreachable, 1, `could not query provider registry for registry.example/acme/widget: GET "%s": 418 I'm a teapot`},
		{"204", ErrUnreachable, 1, `could not query provider registry for registry.example/acme/widget: GET "%s": 204 No Content`},
		{"501", ErrUnreachable, 1, `could not query provider registry for registry.example/acme/widget: GET "%s": 501 Not Implemented`},
		{"429", ErrUnreachable, 2, `could not query provider registry for registry.example/acme/widget: the request failed after 2 attempts, please try again later: GET "%s": 429 Too Many Requests`},
		{"503", ErrUnreachable, 2, `could not query provider registry for registry.example/acme/widget: the request failed after 2 attempts, please try again later: GET "%s": 503 Service Unavailable`},
	} {
		fake := newFakeRegistry(t, pages{versionsPath: test.status})
		_, err := versionsOf(t, fake.source(t))
		wantKind(t, err, test.kind, test.status)
		must.Equal(t, err.Error(), strings.ReplaceAll(test.text, "%s", fake.URL+versionsPath), test.status)
		must.Equal(t, fake.requests(versionsPath), test.requests, test.status)
	}
}

func TestRegistrySource_DoesNotTurnAFailedPackageQueryIntoAMissingPlatform(t *testing.T) {
	for status, kind := range map[string]error{"401": ErrUnauthorized, "403": ErrUnauthorized, "500": ErrUnreachable} {
		fake := newFakeRegistry(t, pages{packagePath: status})
		wantKind(t, must.ErrorOf(packageOf(t, fake.source(t))), kind, status)
	}
}

func TestRegistrySource_Unreachable(t *testing.T) {
	fake := newFakeRegistry(t, nil)
	source := fake.source(t)
	fake.Close()
	_, err := versionsOf(t, source)
	wantQueryError(t, err, "the request failed after 2 attempts", versionsPath)
}

func TestRegistrySource_OfAHostWithoutRegistry(t *testing.T) {
	source := newFakeRegistry(t, nil).source(t)
	p := widget
	p.Hostname = "empty.example"
	_, err := source.Versions(t.Context(), p)
	must.Fail(t, err, hosts.ErrNoService)
	must.Fail(t, err, ErrUnreachable)
}

func TestRegistrySource_ServiceURLIsAReferencesBase(t *testing.T) {
	body := `{"versions": [{"version": "1.0.0"}]}`
	for base, path := range map[string]string{
		"/v1/":          "/v1/acme/widget/versions",
		"/v1/providers": "/v1/acme/widget/versions", // as Terraform and OpenTofu have it
		"/":             "/acme/widget/versions",
		"":              "/acme/widget/versions",
	} {
		fake := newFakeRegistry(t, pages{path: body})
		must.Get(versionsOf(t, fake.sourceAt(t, fake.URL+base)))(t, base)
	}
}
