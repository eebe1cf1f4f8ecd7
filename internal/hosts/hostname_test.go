package hosts

import (
	"strings"
	"testing"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseHostname(t *testing.T) {
	for given, want := range map[string]string{ // in ASCII, and as it is shown
		"example.com":        "example.com example.com",
		"Example.COM":        "example.com example.com",
		"example.com:443":    "example.com example.com",
		"example.com:0443":   "example.com example.com",
		"example.com:8443":   "example.com:8443 example.com:8443",
		"example.com:080":    "example.com:80 example.com:80",
		"example.com:65535":  "example.com:65535 example.com:65535",
		"localhost":          "localhost localhost",
		"localhost:18443":    "localhost:18443 localhost:18443",
		"127.0.0.1:80":       "127.0.0.1:80 127.0.0.1:80",
		"example.com.":       "example.com. example.com.",
		"испытание.com":      "xn--80akhbyknj4f.com испытание.com",
		"Испытание.com:8443": "xn--80akhbyknj4f.com:8443 испытание.com:8443",
		"ß.de":               "xn--zca.de ß.de",
		"１２.com":             "12.com 12.com",
		"www.ⅷ.com":          "www.viii.com www.viii.com",
		"a。b":                "a.b a.b",
	} {
		h := must.Get(ParseHostname(given))(t, given)
		must.Equal(t, h.ASCII()+" "+h.String(), want, given)
	}
}

func TestParseHostname_Refuses(t *testing.T) {
	for reason, all := range map[string][]string{
		"empty":              {"", ":80"},
		"empty label":        {"a..b", ".a", "。。", "。a"}, // 。。: full stops that become ".." when mapped
		"punycode":           {"xn--80akhbyknj4f.com", "XN--80ak6aa92e.com", "a.Xn--"},
		"not a decimal port": {"example.com:", "example.com:x", "example.com:+8", "example.com:-1", "example.com:80:90", "example.com:８０", "[::1]"},
		"65535":              {"example.com:65536"},
		"port":               {"example.com:99999999999999999999"},
		"not a URL":          {"https://example.com", "HTTP:"},
		"disallowed":         {"example.com/path", "user@example.com", "a b", "under_score.com", "℀.com", "a\x00b", "\ufffd.com"}, // ℀.com: would be "a/c.com"
		"invalid label":      {"-a.com", "a-.com", "ab--c.com"},
		"UTF-8":              {"\xff.com"},
		"253":                {strings.Repeat("a.", 126) + "aa"},
	} {
		for _, given := range all {
			must.Contain(t, must.ErrorOf(ParseHostname(given)), reason, given)
		}
	}
}

func TestHostname_ThatWasNotParsedIsShownAsItIs(t *testing.T) {
	for _, h := range []Hostname{"", "xn--zn7c.com", "xn--\xff:1"} {
		must.Equal(t, h.String(), string(h), h)
	}
}

func FuzzParseHostname(f *testing.F) {
	for _, seed := range []string{"Example.COM:443", "испытание.com:8443", "a。b", "xn--a", "\xff.com", ":", "https://x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		h, err := ParseHostname(given)
		if err != nil {
			return
		}
		must.Equal(t, must.Get(ParseHostname(h.String()))(t), h, given, h.ASCII())
		if strings.ContainsAny(h.String(), "/\\\x00") || strings.Trim(h.String(), ".") == "" {
			t.Errorf("%q = %q is no name for a directory", given, h)
		}
		must.Equal(t, svchost.Hostname(h).ForDisplay(), h.String(), given, h.ASCII(), h)
	})
}

func TestHostname_Rootless(t *testing.T) {
	for given, want := range map[Hostname]Hostname{"example.com": "example.com", "example.com.": "example.com", "example.com.:8443": "example.com:8443", "example.com:8443": "example.com:8443", "": ""} {
		must.Equal(t, given.Rootless(), want, given)
	}
}
