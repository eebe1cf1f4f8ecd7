package explain

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

var asTerraform = Names{getproviders.Terraform("1.15.9"), "tfdeps"}

var (
	alpha = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "alpha"}
	beta  = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "beta"}
	gamma = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "gamma"}
)

// advised is an error with advice.
type advised struct {
	error
	hint string
}

func (a advised) Hint() string  { return a.hint }
func (a advised) Unwrap() error { return a.error }

func fail(p getproviders.Provider, step string, err error) error {
	return getproviders.Selection{Provider: p, Version: getproviders.Version{Major: 1}}.Failed(step, err)
}

// Further failures are in the command's testdata/failures.txtar.
func TestInstallProblems(t *testing.T) {
	plain := errors.New("it broke")
	tests := []struct {
		name            string
		err             error
		summary, detail string
	}{
		{
			"an interrupt", fail(alpha, during.Cancel, context.Canceled),
			"Provider installation was canceled by an interrupt signal.", "",
		},
		{"an interrupt before anything began", context.Canceled, "Provider installation was canceled by an interrupt signal.", ""},
		{"what is nobody's failure", plain, "Failed to install providers", "it broke"},
		{
			"advice, each piece once",
			fail(alpha, during.Fetch, advised{fmt.Errorf("a: %w", advised{advised{plain, "wait"}, "wait"}), "try again"}),
			"Failed to install provider",
			"Error while installing example.com/acme/alpha v1.0.0: a: it broke\n\nhint: try again\n\nhint: wait",
		},
		{
			"advice of errors that were joined",
			fail(alpha, during.Fetch, errors.Join(advised{plain, "wait"}, advised{plain, ""})),
			"Failed to install provider",
			"Error while installing example.com/acme/alpha v1.0.0: it broke\nit broke\n\nhint: wait",
		},
	}
	for _, tt := range tests {
		problems := asTerraform.InstallProblems(nil, tt.err, nil)
		must.Len(t, problems, 1, tt.name)
		if got := problems[0]; problem.IsWarning(got) || got.Summary != tt.summary || got.Detail != tt.detail {
			t.Errorf("%s: got %q: %q\nwant %q: %q", tt.name, got.Summary, got.Detail, tt.summary, tt.detail)
		}
	}
}

func TestInstallProblems_OneForEachCause(t *testing.T) {
	dead := func(path string) error {
		return alpha.QueryFailed("provider registry", &hosts.Fault{Err: fmt.Errorf("Get %q: refused", "https://example.com"+path), Common: "request https://example.com"})
	}
	unwritable := cause.Unwritable("target", []getproviders.Provider{alpha, gamma}, errors.New("read-only"))
	err := errors.Join(fail(alpha, during.Cancel, context.Canceled), unwritable, fail(alpha, during.Query, dead("/a")), fail(beta, during.Query, errors.New("no")),
		fail(gamma, during.Query, dead("/c")), errors.Join(fail(gamma, during.Cancel, context.Canceled)))
	want := []string{
		"Failed to install providers: No package can be put into target: read-only\n\nThese providers are not installed:\n  - example.com/acme/alpha\n  - example.com/acme/gamma",
		"Failed to query available provider packages: Could not retrieve the list of available versions for these providers:\n" +
			"  - example.com/acme/alpha v1.0.0\n  - example.com/acme/gamma v1.0.0\n\nGet \"https://example.com/a\": refused",
		"Failed to query available provider packages: Could not retrieve the list of available versions for provider example.com/acme/beta: no",
		"Provider installation was canceled by an interrupt signal.: ",
	}
	var got []string
	for _, p := range asTerraform.InstallProblems(nil, err, nil) {
		got = append(got, p.Summary+": "+p.Detail)
	}
	must.Equal(t, fmt.Sprint(got), fmt.Sprint(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
}

func TestInstallProblems_SuggestAnAddress(t *testing.T) {
	implied := must.Get(asTerraform.ImpliedProvider("widget"))(t)
	meant := getproviders.Provider{Hostname: implied.Hostname, Namespace: "acme", Type: "widget"}
	knows := func(getproviders.Provider) (Suggestion, bool) { return Suggestion{Provider: meant}, true }
	knowsNothing := func(getproviders.Provider) (Suggestion, bool) { return Suggestion{}, false }
	tests := []struct {
		name     string
		provider getproviders.Provider
		cause    error
		suggest  Suggest
		want     string // "" means that it isn't mentioned
	}{
		{"what was meant", implied, getproviders.ErrProviderNotFound, knows, "Did you intend to use acme/widget?"},
		{"nothing is known", implied, &getproviders.Fault{Kind: getproviders.ErrProviderNotFound, Subject: getproviders.Subject{Registry: true}, Err: errors.New("no")}, knowsNothing, "All modules should specify"},
		{"an address that a registry doesn't have", alpha, &getproviders.Fault{Kind: getproviders.ErrProviderNotFound, Subject: getproviders.Subject{Registry: true}, Err: errors.New("no")}, knows, "All modules should specify"},
		{"a mirror doesn't have it", implied, getproviders.Subject{Source: "mirror", Provider: alpha}.Missing(), knowsNothing, ""},
		{"there is nobody to ask", implied, getproviders.ErrProviderNotFound, nil, ""},
		{"an address that was given on purpose", alpha, getproviders.ErrProviderNotFound, knows, ""},
		{"another failure", implied, getproviders.ErrUnreachable, knows, ""},
		{"the address of a repository", getproviders.Provider{Hostname: "github.com", Namespace: "acme", Type: "alpha"}, hosts.ErrNoService, nil, "The address names a repository"},
	}
	for _, tt := range tests {
		detail := asTerraform.InstallProblems(nil, fail(tt.provider, during.Query, tt.cause), tt.suggest)[0].Detail
		switch {
		case tt.want == "" && strings.Contains(detail, "\n"):
			t.Errorf("%s: got %q, want nothing of addresses", tt.name, detail)
		case !strings.Contains(detail, tt.want):
			t.Errorf("%s: got %q, want %q in it", tt.name, detail, tt.want)
		}
	}
}

func TestIncompleteLock_NamesAnotherPlatform(t *testing.T) {
	got := asTerraform.IncompleteLock([]getproviders.Provider{alpha, beta})
	own := getproviders.CurrentPlatform()
	if !problem.IsWarning(got) || !strings.Contains(got.Detail, "\n  - example.com/acme/alpha\n  - example.com/acme/beta\n") {
		t.Errorf("got %q", got.Detail)
	}
	must.NotContain(t, got.Detail, "-platform="+own.String(), own)
}

func TestInstallProblems_SayWhereTokensBelong(t *testing.T) {
	t.Parallel()
	refused := func(host hosts.Hostname, sent bool) error {
		return refusal(host, sent, &hosts.Document{StatusCode: 401})
	}
	const (
		missing  = "put a token into the environment variable TF_TOKEN_a_example, or into a credentials block for \"a.example\" in the CLI configuration"
		port     = "put a token into a credentials block for \"a.example:8443\" in the CLI configuration"
		rejected = "the credentials for b.example may have expired, or lack the right to read this; they come from the environment variable TF_TOKEN_b_example, " +
			"a credentials block or a credentials helper of the CLI configuration"
	)
	unread := &hosts.Fault{Host: "a.example", Err: &hosts.Refusal{Host: "a.example", Err: errors.New("401")}}
	module := &getproviders.Fault{
		Kind: modules.ErrModuleNotFound, Subject: getproviders.Subject{Host: "a.example"}, Err: &hosts.Refusal{Host: "a.example", Lead: "if it is private, ", Err: errors.New("gone")},
	}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{refused("a.example", false), []string{missing}},
		{refused("b.example", true), []string{rejected}},
		{refused("a.example:8443", false), []string{port}},
		{errors.Join(refused("a.example", false), refused("b.example", true), refused("b.example", true)), []string{missing, rejected}},
		{&getproviders.Fault{Err: unread}, []string{missing}},
		{module, []string{"if it is private, " + missing}},
	} {
		var want string
		for _, hint := range c.want {
			want += "\n\nhint: " + hint
		}
		must.Equal(t, asTerraform.WithHint(c.err), c.err.Error()+want, want)
	}
	must.Equal(t, asTerraform.Hint(module), "\n\nhint: if it is private, "+missing)
}

func refusal(host hosts.Hostname, sent bool, doc *hosts.Document) error {
	return &getproviders.Fault{Code: "unauthorized", Kind: getproviders.ErrUnauthorized, Subject: getproviders.Subject{Host: host},
		Err: &hosts.Refusal{Host: host, Sent: sent, Err: &hosts.StatusError{Document: doc}}}
}

// A host that refuses is one cause, however many packages come from there.
func TestPackageProblems_AreByCause(t *testing.T) {
	t.Parallel()
	linux := getproviders.Platform{OS: "linux", Arch: "amd64"}
	refused := refusal("a.example", false, &hosts.Document{StatusCode: 401, URL: &url.URL{Path: "u"}, Status: "401"})
	onLinux := func(p getproviders.Provider, err error) error {
		failed := getproviders.Selection{Provider: p, Version: getproviders.Version{Major: 1}}.Failed(during.Metadata, err)
		failed.Platform = linux
		return failed
	}
	lost := onLinux(beta, errors.New("it broke"))
	nowhere := fail(gamma, during.Metadata, getproviders.Subject{Provider: gamma, Source: "b"}.Missing())
	err := errors.Join(onLinux(alpha, refused), lost, onLinux(beta, refused), nowhere)
	const cause = "\n  - example.com/acme/alpha v1.0.0 for linux_amd64\n  - example.com/acme/beta v1.0.0 for linux_amd64\n\n" +
		"Host a.example requires authentication credentials: GET \"u\": 401\n\nhint: put a token into the environment variable TF_TOKEN_a_example, " +
		"or into a credentials block for \"a.example\" in the CLI configuration"
	for name, c := range map[string]struct {
		problems problem.List
		want     []string
	}{
		"lock": {asTerraform.LockProblems(LockedDir{Dir: "d", Named: true, Result: providercache.LockResult{Err: err}}), []string{
			"Could not retrieve providers for locking: Terraform failed to fetch the requested providers in order to calculate their checksums for d: some providers could not be installed:" + cause + " (unauthorized)",
			"Could not retrieve providers for locking: Terraform failed to fetch the requested providers for linux_amd64 in order to calculate their checksums for d: some providers could not be installed:\n- example.com/acme/beta: it broke (failed)",
			"Could not retrieve providers for locking: Terraform failed to fetch the requested providers in order to calculate their checksums for d: some providers could not be installed:\n- example.com/acme/gamma: b does not have a provider named example.com/acme/gamma (provider_not_found)",
		}},
		"mirror": {asTerraform.MirrorProblems(err, "", "", Wanted{}), []string{
			"Provider release not available: Failed to download these providers:" + cause + " (unauthorized)",
			"Provider release not available: Failed to download example.com/acme/beta v1.0.0 for linux_amd64: it broke (failed)",
			"Provider not available: Failed to download example.com/acme/gamma: b does not have a provider named example.com/acme/gamma (provider_not_found)",
		}},
		"urls": {asTerraform.LocateProblems(err), []string{
			"Failed to query available provider packages: The source of these providers doesn't say where their packages are:" + cause + " (unauthorized)",
			"Failed to query available provider packages: example.com/acme/beta v1.0.0 for linux_amd64: it broke (failed)",
			"Provider package not found: example.com/acme/gamma v1.0.0: b does not have a provider named example.com/acme/gamma (provider_not_found)",
		}},
	} {
		var got []string
		for _, p := range c.problems {
			got = append(got, fmt.Sprintf("%s: %s (%s)", p.Summary, p.Detail, CodeOf(p)))
		}
		must.EqualSlices(t, got, c.want, name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
	}
	interrupted := asTerraform.LockProblems(LockedDir{Result: providercache.LockResult{Err: fail(alpha, during.Cancel, errors.New("x"))}})
	must.Len(t, interrupted, 1)
	must.Contain(t, interrupted[0].Summary, "canceled")
}
