package cliconfig

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// fixed has the token for hosts that no source before it knows.
var fixed = hosts.NewStaticTokens(map[hosts.Hostname]string{
	"a.com": "FALLBACK", "b.com": "FALLBACK", "a.com:8443": "FALLBACK", "xn--bcher-kva.example": "FALLBACK",
})

func tokenOf(t *testing.T, config *Config, host hosts.Hostname) string {
	t.Helper()
	token := must.Get(hosts.FirstOf(config.Tokens, fixed).Token(t.Context(), host))(t)
	return token
}

func TestRead_CredentialsBlocks(t *testing.T) {
	for src, want := range map[string]string{ // a host, and its token
		"":                                      "a.com FALLBACK", // none
		`credentials "a.com" { token = "x y" }`: "a.com x y",      // block
		`credentials "b.com" { token = "x" }`:   "a.com FALLBACK", // another host's
		`credentials = { "a.com" = { token = "x" } }`:                                      "a.com x",                 // map
		`{"credentials": {"a.com": {"token": "x"}}}`:                                       "a.com x",                 // JSON
		`{"credentials": [{"a.com": [{"token": "x"}]}]}`:                                   "a.com x",                 // JSON lists
		`credentials "Bücher.example:443" { token = "x" }`:                                 "xn--bcher-kva.example x", // names are normalised
		`credentials "a.com:8443" { token = "x" }`:                                         "a.com:8443 x",            // port
		`credentials "a.com:8443" { token = "x" } `:                                        "a.com FALLBACK",          // a port is another host
		`credentials "a.com" { token = "" }`:                                               "a.com ",                  // empty token
		`credentials "a.com" { }`:                                                          "a.com ",                  // no token
		`{"credentials": {"a.com": {"token": null}}}`:                                      "a.com ",                  // null
		`credentials "a.com" { user = "u" token = "x" scopes = ["y"] }`:                    "a.com x",                 // other arguments
		`credentials "a.com" { TOKEN = "x" }`:                                              "a.com ",                  // only exactly token
		"credentials \"a.com\" { token = \"x\" }\ncredentials \"A.com\" { token = \"y\" }": "a.com y",                 // the last token counts
		"credentials \"a.com\" { token = \"x\" }\ncredentials \"a.com\" { user = \"y\" }":  "a.com x",                 // blocks in a file add up
	} {
		host, token, _ := strings.Cut(want, " ")
		must.Equal(t, tokenOf(t, mustParse(t, src), hosts.Hostname(host)), token, src)
	}
}

func TestRead_CredentialsHelper(t *testing.T) {
	for src, want := range map[string]string{
		`credentials_helper "x" { }`:                                                               `&{"x" []}`,              // no arguments
		`credentials_helper "x" { args = ["a", "b c", 5] }`:                                        `&{"x" ["a" "b c" "5"]}`, // arguments
		`credentials_helper "x" { args = ["a"] args = ["b"] }`:                                     `&{"x" ["a" "b"]}`,       // repeated arguments add up
		"credentials_helper \"x\" { args = [\"a\"] }\ncredentials_helper \"x\" { args = [\"b\"] }": `&{"x" ["b"]}`,           // the later block replaces the earlier
		`{"credentials_helper": {"x": {"args": ["a"]}}}`:                                           `&{"x" ["a"]}`,           // JSON
		`credentials_helper "x" { path = "/x" }`:                                                   `&{"x" []}`,              // unknown arguments
	} {
		must.Equal(t, fmt.Sprintf("%q", mustParse(t, src).Helper), want, src)
	}
}

var credentialsCases = map[string]string{
	"\ncredentials \"a com\" { token = \"SECRET\" }":              `2 Invalid CLI configuration: "a com"`,                                   // hostname
	`credentials "xn--bcher-kva.example" { token = "SECRET" }`:    `1 Invalid CLI configuration: "xn--bcher-kva.example"`,                   // punycode
	`credentials "https://a.com" { token = "SECRET" }`:            "1 Invalid CLI configuration: not a URL",                                 // URL
	`credentials = "SECRET"`:                                      "1 Invalid CLI configuration: needs a hostname and braces",               // no braces
	"credentials {\n token = \"SECRET\"\n}":                       "2 Invalid CLI configuration: must contain a token, but it is a string",  // no host
	`{"credentials": {"a.com": null}}`:                            "1 Invalid CLI configuration: must contain a token, but it is null",      // null
	`credentials "a.com" { token = 5 }`:                           "ours 1 Invalid CLI configuration: must be a string, but it is a number", // number as token
	"credentials \"a.com\" {\n token = [\"SECRET\"]\n}":           "ours 2 Invalid CLI configuration: must be a string, but it is a list",   // list as token
	`credentials "a.com" { token = { x = "SECRET" } }`:            "ours 1 Invalid CLI configuration: must be a string, but it is a map",    // map as token
	"credentials \"a.com\" {\n token = SECRET\n}":                 "2 Invalid CLI configuration: quotes are missing",                        // token without quotes
	"credentials \"a.com\" {\n token SECRET\n}":                   "3 Invalid CLI configuration: can't be parsed",                           // token without equals sign
	"credentials \"a.com\" {\n token \"SECRET\"\n}":               "3 Invalid CLI configuration: can't be parsed",                           // token without equals sign, quoted
	"credentials \"a.com\" {\n token = 'SECRET'\n}":               "2 Invalid CLI configuration: can't be parsed",                           // token in single quotes
	"credentials \"a.com\" {\n token = \"SECRET\n}":               "2 Invalid CLI configuration: can't be parsed",                           // token in one quote
	"credentials \"a.com\" {\n token = \"a\" SECRET\n}":           "3 Invalid CLI configuration: can't be parsed",                           // token and more
	"credentials_helper \"x\" {\n args = [\"a\" \"SECRET\"]\n}":   "2 Invalid CLI configuration: can't be parsed",                           // list without comma
	"{\"credentials\": {\"a.com\": {\"token\":\nSECRET}}}":        "2 Invalid CLI configuration: invalid JSON",                              // JSON without quotes
	"{\"credentials\": {\"a.com\": {\"token\":\n\"\\xSECRET\"}}}": "2 Invalid CLI configuration: invalid JSON",                              // JSON escape
	`credentials_helper { args = ["SECRET"] }`:                    "1 Invalid CLI configuration: needs a name and braces",                   // helper without a name
	`credentials_helper = "x"`:                                    "1 Invalid CLI configuration: needs a name and braces",                   // helper string
	`{"credentials_helper": {"x": null}}`:                         "1 Invalid CLI configuration: needs a name and braces",                   // helper null
	"credentials_helper \"x\" {\n args = \"SECRET\"\n}":           "2 Invalid CLI configuration: must be a list of strings",                 // arguments string
	`credentials_helper "x" { args = ["a", true] }`:               "1 Invalid CLI configuration: must be a list of strings",                 // arguments bool
	`{"credentials_helper": {"x": {"args": null}}}`:               "1 Invalid CLI configuration: must be a list of strings",                 // arguments null
	"credentials_helper \"x\" {}\ncredentials_helper \"y\" {}":    `2 No more than one credentials_helper block may be specified: "y"`,      // two helpers
}

func TestConfig_PrintsWithoutTokens(t *testing.T) {
	config, problems := parse(`credentials "a.com" { token = "` + secret + `" }`)
	if len(problems) > 0 || tokenOf(t, config, "a.com") != secret {
		t.Fatalf("problems: %+v", problems)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{config, *config, struct{ c Config }{*config}} {
			hexed := fmt.Sprintf("%x", secret)
			if text := fmt.Sprintf(verb, value); strings.Contains(text, secret) || strings.Contains(text, hexed) {
				t.Errorf("%s of %T: %s", verb, value, text)
			}
		}
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", config, "tokens", config.Tokens)
	must.NotContain(t, log.String(), secret)
}
