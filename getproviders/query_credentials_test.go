package getproviders

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestErrUnauthorized_SaysWhatToDo: the error says whether credentials were sent, and if not, why.
func TestErrUnauthorized_SaysWhatToDo(t *testing.T) {
	const (
		needs    = "host registry.example requires authentication credentials for provider registry.example/acme/widget: GET "
		rejected = "host registry.example rejected the given authentication credentials for provider registry.example/acme/widget: GET "
		set      = `the program needs credentials for "registry.example"`
		check    = "the credentials for registry.example may have expired, or lack the right to read this"
	)
	for name, test := range map[string]struct {
		api     string
		change  pages
		with    hosts.Credentials
		message string
		hint    string
	}{
		"no token":           {ownAPI, pages{ownAPI + versionsDoc: "401"}, nil, needs + `"https://registry.example/v1/acme/widget/versions": 401 Unauthorized`, set},
		"a token of another": {ownAPI, pages{ownAPI + versionsDoc: "401"}, knownTokens{"api.example": "hunter2"}, needs + `"https://registry.example/v1/acme/widget/versions": 401 Unauthorized`, set},
		"a bad token":        {ownAPI, pages{ownAPI + versionsDoc: "401"}, everyToken, rejected + `"https://registry.example/v1/acme/widget/versions": 401 Unauthorized`, check},
		"a weak token":       {ownAPI, pages{ownAPI + versionsDoc: "403"}, everyToken, rejected + `"https://registry.example/v1/acme/widget/versions": 403 Forbidden`, check},
		"a service elsewhere": {
			"https://api.example/", pages{"https://api.example/" + versionsDoc: "401"}, everyToken,
			rejected + `"https://api.example/acme/widget/versions": 401 Unauthorized`, check,
		},
		"plain http": {
			"http://registry.example/", pages{"http://registry.example/" + versionsDoc: "401"}, everyToken,
			needs + `"http://registry.example/acme/widget/versions": 401 Unauthorized`,
			"credentials are not sent over plain http: the service has to have an https URL",
		},
		"redirected elsewhere": {
			ownAPI, pages{ownAPI + versionsDoc: "302 https://cdn.example/v?k=hunter2", "https://cdn.example/v": "401"}, everyToken,
			`host cdn.example requires authentication credentials for provider registry.example/acme/widget: GET "https://cdn.example/v?k=REDACTED": 401 Unauthorized`,
			"the request was redirected there from https://registry.example/v1/acme/widget/versions, and credentials are not sent along to another host",
		},
		"discovery, no token": {
			ownAPI, pages{discoveryURL: "401"}, nil,
			"could not query provider registry for registry.example/acme/widget: could not connect to registry.example: failed to request discovery document: 401 Unauthorized", set,
		},
		"discovery, a bad token": {
			ownAPI, pages{discoveryURL: "403"}, everyToken,
			"could not query provider registry for registry.example/acme/widget: could not connect to registry.example: failed to request discovery document: 403 Forbidden", check,
		},
		"discovery, something else": {
			ownAPI, pages{discoveryURL: "410"}, everyToken,
			"could not query provider registry for registry.example/acme/widget: could not connect to registry.example: failed to request discovery document: 410 Gone", "",
		},
		"no token to be had": {
			ownAPI, nil, brokenHelper{},
			"could not query provider registry for registry.example/acme/widget: failed to retrieve credentials for registry.example: the helper failed", "",
		},
	} {
		answers := registryWeb(t, test.api, ownFiles)
		maps.Copy(answers, test.change)
		w := newWeb(t, answers)
		source := w.registry(test.with, test.with)
		if strings.HasPrefix(test.api, "http:") { // only the user may choose that
			source.Discovery.Forced = map[hosts.Hostname]map[string]string{widget.Hostname: {"providers.v1": test.api}}
		}
		_, err := versionsOf(t, source)
		must.Equal(t, fmt.Sprint(err), test.message, name)
		must.Equal(t, hint(err), test.hint, name)
	}
}

func TestErrUnauthorized_NamesPorts(t *testing.T) {
	const at = "https://registry.example:8443/"
	w := newWeb(t, pages{
		at + ".well-known/terraform.json":     `{"providers.v1": "/"}`,
		at + "acme/widget/versions":           "401",
		at + "acme/widget/1.0.0/download/a/b": "401",
	})
	for _, test := range []struct {
		with hosts.Credentials
		hint string
	}{
		{nil, `the program needs credentials for "registry.example:8443"`},
		{everyToken, "the credentials for registry.example:8443 may have expired, or lack the right to read this"},
	} {
		_, err := w.registry(nil, test.with).Versions(t.Context(), mustParse(t, "registry.example:8443/acme/widget"))
		must.Fail(t, err, ErrUnauthorized)
		must.Equal(t, hint(err), test.hint)
	}
}

func TestErrUnauthorized_FilesOfRegistriesNeedNoCredentials(t *testing.T) {
	answers := registryWeb(t, ownAPI, ownFiles)
	answers[ownFiles+"sums"] = "403"
	w := newWeb(t, answers)
	_, err := must.Get(packageOf(t, w.registry(nil, everyToken)))(t).Trust.Loaded(t.Context())
	must.Fail(t, err, ErrUnauthorized)
	must.Contain(t, hint(err), "no credentials are ever sent for checksum lists and signatures")
}

func TestMirror_ThatRedirectsDoesNotGiveItsPasswordAway(t *testing.T) {
	w := newWeb(t, pages{indexDoc: "302 https://cdn.example/i", "https://cdn.example/i": "401"})
	base := strings.Replace(mirrorURL, "https://", "https://me:hunter2@", 1)
	_, err := versionsOf(t, must.Get(NewNetworkMirrorSource(base, w.client, nil, Product{}))(t))
	must.Equal(t, hint(err), "the request was redirected there from "+indexDoc+", and credentials are not sent along to another host")
	must.DeepEqual(t, w.heard(), map[string]string{indexDoc: "Basic bWU6aHVudGVyMg=="})
	must.NotContain(t, err.Error()+w.log.String(), "hunter2")
}
