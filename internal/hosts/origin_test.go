package hosts

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func mustURL(t testing.TB, text string) *url.URL {
	t.Helper()
	return must.Get(url.Parse(text))(t)
}

func TestConfidential(t *testing.T) {
	for want, texts := range map[bool]string{
		true: `
		https://example.com/ https://127.0.0.1/ http://localhost/ http://LocalHost:8080/ http://127.0.0.1:1/ http://127.8.9.10/
		http://[::1]:8080/ http://[::ffff:127.0.0.1]/`,
		false: `
		http://example.com/ http://localhost.example/ http://127.0.0.1.example/ http://10.0.0.1/ http://0.0.0.0/ http://[::2]/
		http://[fe80::1%25lo]/ http:/// ftp://localhost/ /path`,
	} {
		for text := range strings.FieldsSeq(texts) {
			must.Equal(t, Confidential(mustURL(t, text)), want, text)
		}
	}
}

func TestSameOrigin(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"https://example.com/a?b#c", "https://example.com/d", true},
		{"https://Example.com", "https://example.COM:443/", true},
		{"http://example.com", "http://example.com:80/", true},
		{"https://me:pw@example.com", "https://example.com/", true},
		{"https://example.com:8443", "https://example.com:8443/", true},
		{"https://[::1]", "https://[::1]:443/", true},
		{"https://example.com", "http://example.com", false},
		{"https://example.com:80", "http://example.com", false},
		{"https://example.com", "https://example.com:8443", false},
		{"https://example.com", "https://sub.example.com", false},
		{"https://sub.example.com", "https://example.com", false},
		{"https://localhost", "https://127.0.0.1", false},
		{"https://example.com", "https://example.com.", false},
	} {
		must.Equal(t, SameOrigin(mustURL(t, tc.a), mustURL(t, tc.b)), tc.want, tc.a, tc.b)
		must.Equal(t, SameOrigin(mustURL(t, tc.b), mustURL(t, tc.a)), tc.want, tc.b, tc.a)
	}
}

func TestHostname_Of(t *testing.T) {
	for text, want := range map[string]Hostname{
		"https://Example.com/p":            "example.com",
		"https://example.com:443":          "example.com",
		"https://me:pw@example.com:8443/":  "example.com:8443",
		"http://example.com":               "example.com:80",
		"http://example.com:443":           "example.com",
		"http://127.0.0.1:8080":            "127.0.0.1:8080",
		"https://XN--bcher-kva.example":    "xn--bcher-kva.example",
		"https://xn--bcher-kva.example:81": "xn--bcher-kva.example:81",
		"https://bücher.example":           "xn--bcher-kva.example",
	} {
		must.Equal(t, must.Get(HostnameOf(mustURL(t, text)))(t), want, text)
	}
	for _, text := range []string{"https://[::1]/", "https://a..b/", "https://", "https://xn--a/", "https://a_b/"} {
		must.Refuse(HostnameOf(mustURL(t, text)))(t, text)
	}
}
