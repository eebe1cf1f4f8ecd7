package policy_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

var terraform = getproviders.Terraform("1.15.9")

func parse(t testing.TB, text string) policy.Policy {
	t.Helper()
	p, diags := policy.Parse([]byte(text), "tfdeps.hcl", terraform)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

func provider(t testing.TB, address string) getproviders.Provider {
	t.Helper()
	return must.Get(terraform.ParseProvider(address))(t)
}

var widget = getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: "widget"}

func TestPolicy_Check(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	of := func(address, v string) policy.Candidate {
		return policy.Candidate{Candidate: getproviders.Candidate{Provider: provider(t, address), Version: getproviders.MustParseVersion(v)}, Now: now}
	}
	by := func(address string, level getproviders.TrustLevel, key string) policy.Candidate {
		return policy.Candidate{Candidate: getproviders.Candidate{Provider: provider(t, address), Authentication: getproviders.AuthenticationResult{TrustLevel: level, KeyID: key}}}
	}
	after := func(texts ...string) policy.Candidate { // the version, the locked one, and the one that was seen
		var v [3]getproviders.Version
		for i, text := range texts {
			if text != "" {
				v[i] = getproviders.MustParseVersion(text)
			}
		}
		return policy.Candidate{Candidate: getproviders.Candidate{Version: v[0]}, Locked: v[1], Seen: v[2]}
	}
	released := func(later time.Duration) policy.Candidate {
		return policy.Candidate{Candidate: getproviders.Candidate{Released: now.Add(later)}, Now: now}
	}
	ofRegistry := policy.Candidate{Candidate: getproviders.Candidate{SourceURL: "https://cdn.example/v1/", FromRegistry: true, Provider: provider(t, "acme.example/a/b")}}
	const key, other = "34365D9472D7468F", "0123456789ABCDEF"
	for name, c := range map[string]struct {
		policy    string
		candidate policy.Candidate
		want      string // a part of the refusal; "" is none
	}{
		"no rule": {"", policy.Candidate{}, ""},

		"unknown source":                  {`sources = ["https://m.example/p"]`, policy.Candidate{}, "it isn't known where"},
		"registry, its service elsewhere": {`sources = ["Acme.example"]`, ofRegistry, ""},
		"another registry":                {`sources = ["other.example"]`, ofRegistry, "not one of the allowed sources"},
		"a mirror of the registry":        {`sources = ["acme.example"]`, policy.Candidate{Candidate: getproviders.Candidate{SourceURL: "https://cdn.example/v1/", Provider: provider(t, "acme.example/a/b")}}, "not one of the allowed sources"},
		"no source at all":                {`sources = []`, ofRegistry, "not one of the allowed sources"},

		"provider":       {`providers = ["example.com/acme/*"]`, by("example.com/acme/widget", 0, ""), ""},
		"other provider": {`providers = ["example.com/acme/*"]`, by("acme/widget", 0, ""), "matches none of the allowed patterns"},

		"pinned key, the host with a dot": {`signed_by "example.com/acme/*" { keys = ["` + key + `"] }`, by("example.com./acme/widget", getproviders.LevelCommunity, other), "has to be signed by one of the keys"},
		"pinned key, the rule with a dot": {`signed_by "example.com./acme/*" { keys = ["` + key + `"] }`, by("example.com/acme/widget", getproviders.LevelCommunity, other), "has to be signed by one of the keys"},
		"allowed providers, with a dot":   {`providers = ["example.com/acme/*"]`, by("example.com./acme/widget", 0, ""), "matches none of the allowed patterns"},

		"trust":            {`minimum_trust = "partner"`, by("acme/widget", getproviders.LevelOfficial, ""), ""},
		"too little trust": {`minimum_trust = "partner"`, by("acme/widget", getproviders.LevelCommunity, key), "it is self-signed, and has to be at least signed by a HashiCorp partner"},

		"upgrade":                            {`refuse_downgrades = true`, after("1.10.0", "1.9.0"), ""},
		"the same":                           {`refuse_downgrades = true`, after("1.9.0", "1.9.0"), ""},
		"first use":                          {`refuse_downgrades = true`, after("1.9.0"), ""},
		"downgrade":                          {`refuse_downgrades = true`, after("1.9.0", "1.10.0"), "the lock file has 1.10.0"},
		"not refused":                        {`refuse_downgrades = false`, after("1.9.0", "1.10.0", "1.10.0"), ""},
		"older than seen":                    {`refuse_downgrades = true`, after("1.9.0", "", "1.10.0"), "1.10.0 was used on this machine before"},
		"locked, newer seen":                 {`refuse_downgrades = true`, after("1.9.0", "1.9.0", "1.10.0"), ""},
		"newer than locked, older than seen": {`refuse_downgrades = true`, after("1.9.0", "1.8.0", "1.10.0"), "1.10.0 was used on this machine before"},

		"old enough":    {`minimum_age { age = "72h" }`, released(-72 * time.Hour), ""},
		"too young":     {`minimum_age { age = "72h" }`, released(-71 * time.Hour), "it was released at 2026-02-26T01:00:00Z, and has to be 72h0m0s old"},
		"unknown age":   {`minimum_age { age = "72h" }`, policy.Candidate{Now: now}, "it isn't known when it was released"},
		"excepted":      {"minimum_age {\n age = \"72h\"\n except = [\"acme/*\"]\n}", policy.Candidate{Candidate: getproviders.Candidate{Provider: widget}, Now: now}, ""},
		"from tomorrow": {`minimum_age { age = "1h" }`, released(time.Hour), "it was released at"},

		"allowed version":          {`versions "acme/*" { allow = ">= 1.2, != 1.3.1" }`, of("acme/widget", "1.3.0"), ""},
		"version that is too old":  {`versions "example.com/acme/*" { allow = ">= 1.2, != 1.3.1" }`, of("example.com./acme/widget", "1.1.0"), `only versions ">= 1.2.0, != 1.3.1" are allowed`},
		"version that is excluded": {`versions "acme/*" { allow = ">= 1.2, != 1.3.1" }`, of("acme/widget", "1.3.1"), "are allowed"},
		"prerelease":               {`versions "acme/*" { allow = ">= 1.2" }`, of("acme/widget", "1.3.0-beta1"), "are allowed"},
		"version of another":       {`versions "acme/*" { allow = ">= 1.2" }`, of("other/widget", "1.1.0"), ""},

		"build of an excluded version":      {`versions "acme/*" { allow = "!= 1.0.0" }`, of("acme/widget", "1.0.0+x"), `only versions "!= 1.0.0" are allowed`},
		"version of an excluded build":      {`versions "acme/*" { allow = "!= 1.0.0+x" }`, of("acme/widget", "1.0.0"), "are allowed"},
		"another build than the excluded":   {`versions "acme/*" { allow = "!= 1.0.0+x" }`, of("acme/widget", "1.0.0+y"), "are allowed"},
		"build beside an excluded version":  {`versions "acme/*" { allow = "!= 1.0.0" }`, of("acme/widget", "1.0.1+x"), ""},
		"build of an excluded prerelease":   {`versions "acme/*" { allow = "1.0.0-a+x, != 1.0.0-a" }`, of("acme/widget", "1.0.0-a+x"), "are allowed"},
		"allowed build":                     {`versions "acme/*" { allow = "1.0.0+x" }`, of("acme/widget", "1.0.0+x"), ""},
		"another build than the allowed":    {`versions "acme/*" { allow = "1.0.0+x" }`, of("acme/widget", "1.0.0+y"), "are allowed"},
		"build of a version that's allowed": {`versions "acme/*" { allow = "1.0.0" }`, of("acme/widget", "1.0.0+x"), "are allowed"},

		"quarantine":            {"quarantine \"acme/widget\" {\n versions = [\"1.0.0\", \"1.1.0\"]\n reason = \"it loses state\"\n}", of("acme/widget", "1.1.0"), "it is in quarantine, it loses state (rule quarantine"},
		"not in quarantine":     {"quarantine \"acme/widget\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n}", of("acme/widget", "1.1.0"), ""},
		"another's quarantine":  {"quarantine \"acme/widget\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n}", of("acme/gadget", "1.0.0"), ""},
		"quarantine's last day": {"quarantine \"example.com/acme/widget\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n until = \"2026-03-01\"\n}", of("example.com./acme/widget", "1.0.0"), "it is in quarantine, until 2026-03-01: x"},
		"build in quarantine":   {"quarantine \"acme/widget\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n}", of("acme/widget", "1.0.0+x"), "it is in quarantine"},
		"quarantine of a build": {"quarantine \"acme/widget\" {\n versions = [\"1.0.0+x\"]\n reason = \"x\"\n}", of("acme/widget", "1.0.0+y"), "it is in quarantine"},
		"its prerelease":        {"quarantine \"acme/widget\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n}", of("acme/widget", "1.0.0-x"), ""},
		"quarantine has ended":  {"quarantine \"acme/widget\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n until = \"2026-02-28\"\n}", of("acme/widget", "1.0.0"), ""},

		"signed by it":         {`signed_by "acme/*" { keys = ["34365d9472d7468f"] }`, by("acme/widget", getproviders.LevelCommunity, key), ""},
		"every digit of a key": {`signed_by "acme/*" { keys = ["0123456789abcdef"] }`, by("acme/widget", getproviders.LevelCommunity, other), ""},
		"signed by another":    {`signed_by "acme/*" { keys = ["34365D9472D7468F"] }`, by("acme/widget", getproviders.LevelPartner, other), "it is signed by the key " + other},
		"not signed":           {`signed_by "acme/*" { keys = ["34365D9472D7468F"] }`, by("acme/widget", getproviders.LevelVerifiedChecksum, ""), "it is verified checksum, and has to be signed"},
		"signed by HashiCorp":  {`signed_by "acme/*" { keys = ["hashicorp"] }`, by("acme/widget", getproviders.LevelOfficial, ""), ""},
		"another's provider":   {`signed_by "acme/*" { keys = ["34365D9472D7468F"] }`, by("other/widget", getproviders.LevelCommunity, other), ""},
		"no key is acceptable": {`signed_by "acme/*" { keys = [] }`, by("acme/widget", getproviders.LevelOfficial, ""), "signed by the key hashicorp"},
	} {
		refusal := parse(t, c.policy).Check(c.candidate)
		switch {
		case c.want == "" && refusal != nil:
			t.Errorf("%s: %v", name, refusal)
		case c.want != "" && (refusal == nil || !strings.Contains(refusal.Error(), c.want) || refusal.Pos.Line != 1 || refusal.Pos.File != "tfdeps.hcl"):
			t.Errorf("%s: got %v, want %q", name, refusal, c.want)
		}
	}
}

// TestPolicy_ChecksSources has what a rule allows, and where a package comes from.
func TestPolicy_ChecksSources(t *testing.T) {
	for text, allowed := range map[string]bool{
		"registry.example.com https://registry.example.com/v1/providers/":                                               true,  // host
		"Registry.Example.com https://registry.example.com/v1/":                                                         true,  // host, upper case
		"registry.example.com:9443 https://registry.example.com:9443/v1/":                                               true,  // host with a port
		"registry.example.com https://registry.example.com:8443/v1/":                                                    false, // another port
		"registry.example.com http://registry.example.com/v1/":                                                          false, // host, no TLS
		"registry.example.com https://registry.example.com:443/v1/":                                                     true,  // host, its own port
		"registry.example.com:443 https://registry.example.com/v1/":                                                     true,  // host, port 443 in the rule
		"registry.example.com oci://registry.example.com/a":                                                             false, // host of an OCI registry
		"company s3://company/mirror/":                                                                                  false, // a bucket's name
		"192.0.2.7 https://192.0.2.7/v1/":                                                                               true,  // address of a host
		"s3://company/mirror s3://company/mirror/":                                                                      true,  // bucket
		"gs://company gs://company/mirror/":                                                                             true,  // bucket, below
		"s3://company/ s3://company/mirror/?endpoint=https://evil.example":                                              false, // bucket elsewhere
		"s3://company/?endpoint=https://minio.example s3://company/mirror/?endpoint=https://minio.example/":             true,  // bucket at the endpoint
		"s3://company/?endpoint=https://minio.example s3://company/mirror/?endpoint=https://minio.example.evil.example": false, // bucket at another endpoint
		"gs://company/?endpoint=https://minio.example gs://company/mirror/":                                             false, // bucket not at the endpoint
		"oci://r.example/acme oci://r.example/acme/widget":                                                              true,  // OCI registry
		"oci://r.example/acme oci://r.example:8443/acme/widget":                                                         false, // OCI registry, a port
		"https://m.example/p https://m.example:443/p/":                                                                  true,  // mirror, its own port
		"https://m.example/p https://m.example:8443/p/":                                                                 false, // mirror, a port
		"https://m.example/p http://m.example/p/":                                                                       false, // mirror, no TLS
		"https://m.example/p https://m.example/p/../q/":                                                                 false, // out of a mirror
		"https://m.example/p https://m.example/p/%2e%2e/q/":                                                             false, // out of a mirror, encoded
		"example.com https://example.com.evil.example/v1/":                                                              false, // longer host
		"https://m.example/p/ https://m.example/p/":                                                                     true,  // mirror
		"https://m.example/p https://m.example/p/q/":                                                                    true,  // below a mirror
		"https://m.example/p https://[::1":                                                                              false, // no URL
		"https://m.example/p https://m.example/path/":                                                                   false, // beside a mirror
	} {
		rule, sourceURL, _ := strings.Cut(text, " ")
		refusal := parse(t, `sources = ["`+rule+`"]`).Check(policy.Candidate{Candidate: getproviders.Candidate{SourceURL: sourceURL}})
		if (refusal == nil) != allowed || !allowed && !strings.Contains(refusal.Error(), "not one of the allowed sources") {
			t.Errorf("%s: %v", text, refusal)
		}
	}
}

// TestPolicy_SourcesKnowDirectories has a real mirror: what it says of its packages isn't a URL.
func TestPolicy_SourcesKnowDirectories(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "mirror")
	linux := getproviders.Platform{OS: "linux", Arch: "amd64"}
	at := filepath.Join(dir, "registry.terraform.io", "acme", "widget")
	must.Succeed(t, errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "terraform-provider-widget_1.0.0_linux_amd64.zip"), nil, 0o600)))
	sourceURL := must.Get((&getproviders.FilesystemMirrorSource{Dir: dir}).Describe(widget).SourceURL(t.Context(), widget, getproviders.MustParseVersion("1.0.0"), linux))(t)
	for source, allowed := range map[string]bool{dir: true, dir + string(filepath.Separator): true, top: true, filepath.Join(top, "mir"): false, filepath.Join(top, "other"): false} {
		must.Equal(t, parse(t, fmt.Sprintf("sources = [%q]\n", source)).Check(policy.Candidate{Candidate: getproviders.Candidate{Provider: widget, SourceURL: sourceURL}}) == nil, allowed, source)
	}
}

func TestPolicy_AdviceRefusesNothing(t *testing.T) {
	both := policy.All(parse(t, "advisory = true\nproviders = [\"other/*\"]\nversions \"acme/*\" {\n allow = \"< 1.0\"\n}\n"), parse(t, "advisory = false\nminimum_trust = \"partner\"\n"))
	c := policy.Candidate{Candidate: getproviders.Candidate{Provider: widget, Version: getproviders.MustParseVersion("1.1.0"), Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelPartner}}}
	must.Equal(t, both.Check(c), nil)
	if refusal, unasked := both.CheckNumber(c.Provider, c.Version, time.Time{}); refusal != nil || strings.Join(unasked, " ") != "minimum_trust" {
		t.Errorf("an advisory rule refuses: %v, or these aren't those that weren't asked: %q", refusal, unasked)
	}
	if both.Choice().Listed != nil {
		t.Error("an advisory rule leaves versions out")
	}
	var said []string
	for _, advice := range both.Advice(c) {
		said = append(said, advice.Rule)
	}
	must.Equal(t, strings.Join(said, " "), "providers versions")
	c.Authentication = getproviders.AuthenticationResult{}
	must.Equal(t, both.Check(c).Rule, "minimum_trust")
}

func TestPolicy_CheckModule(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	strict := parse(t, "modules {\n hosts = [\"Example.com\"]\n require_commit = true\n require_constraint = true\n}\n")
	for call, want := range map[policy.ModuleCall]string{
		{Registry: "example.com", Constraint: "1.0"}:                                  "",
		{Registry: "example.com"}:                                                     "has to have a version constraint",
		{Registry: "other.example", Constraint: "1.0"}:                                `the host "other.example", which is not one of the allowed ones`,
		{Kind: "git", URL: "https://example.com/a.git", Ref: commit}:                  "",
		{Kind: "git", URL: "https://example.com/a.git", Ref: commit + commit[:24]}:    "",
		{Kind: "git", URL: "ssh://git@example.com/a.git", Ref: commit}:                "",
		{Kind: "hg", URL: "https://example.com/a", Ref: commit}:                       "",
		{Kind: "git", URL: "https://example.com/a.git", Ref: "main"}:                  "a full commit",
		{Kind: "git", URL: "https://example.com/a.git", Ref: commit[:12]}:             "a full commit",
		{Kind: "git", URL: "https://example.com/a.git", Ref: commit + "-branch"}:      "a full commit",
		{Kind: "git", URL: "https://example.com/a.git", Ref: "branch-" + commit}:      "a full commit",
		{Kind: "git", URL: "https://example.com/a.git", Ref: strings.ToUpper(commit)}: "a full commit",
		{Kind: "git", URL: "https://example.com/a.git"}:                               "a full commit",
		{Kind: "git", URL: "git://example.com/a.git"}:                                 "a full commit",
		{Kind: "hg", URL: "https://example.com/a", Ref: "tip"}:                        "a full commit",
		{Kind: "new", URL: "https://example.com/a"}:                                   "a full commit",
		{URL: "https://example.com/a"}:                                                "a full commit",
		{Kind: "git", URL: "https://other.example/a.git", Ref: commit}:                "not one of the allowed ones",
		{Kind: "git", URL: "https://example.com:8443/a.git", Ref: commit}:             "not one of the allowed ones",
		{Kind: "git", URL: "file:///srv/a.git", Ref: commit}:                          "not one of the allowed ones",
		{Kind: "git", URL: "https://exa mple.com/a.git", Ref: commit}:                 "not one of the allowed ones",
		{Kind: "http", URL: "https://example.com/a.zip"}:                              "",
		{Kind: "http", URL: "http://example.com/a.zip"}:                               "not one of the allowed ones",
		{Kind: "http", URL: "https://example.com@other.example/a.zip"}:                "not one of the allowed ones",
		{Kind: "file", URL: "/srv/a"}:                                                 "not one of the allowed ones",
		{}:                                                                            "not one of the allowed ones",
	} {
		refusal := strict.CheckModule(call)
		if want == "" && refusal != nil || want != "" && (refusal == nil || !strings.Contains(refusal.Error(), want) || !strings.HasSuffix(refusal.Error(), "(rule modules, tfdeps.hcl:1)")) {
			t.Errorf("%v: got %v, want %q", call, refusal, want)
		}
		must.Equal(t, parse(t, "modules {}\n").CheckModule(call), nil, call)
	}
	if all := policy.All(parse(t, ""), strict); !all.HasModules() || all.IsZero() || all.CheckModule(policy.ModuleCall{Registry: "example.com"}) == nil {
		t.Error("the rules get lost among others")
	}
}

func TestAll_RefusesWhatAnyRefuses(t *testing.T) {
	machine, repository := parse(t, "providers = [\"acme/*\"]\n"), parse(t, "\nproviders = [\"acme/widget\", \"other/*\"]\n")
	for address, want := range map[string]int{"acme/widget": 0, "other/one": 1, "acme/two": 2} {
		line := 0
		if refusal := policy.All(machine, repository).Check(policy.Candidate{Candidate: getproviders.Candidate{Provider: provider(t, address)}}); refusal != nil {
			line = refusal.Pos.Line
		}
		must.Equal(t, line, want, address)
	}
}

func TestParse_Refuses(t *testing.T) {
	for text, want := range map[string]string{
		`source = ["a.example"]`:                                                "tfdeps.hcl:1,1-7: Unsupported argument",
		`sources = "a.example"`:                                                 "list of string",
		`sources = ["https://a.example/?x=1"]`:                                  "is neither the name of a host",
		`sources = ["https://user:secret@a.example/"]`:                          "is neither the name of a host",
		`sources = ["a b"]`:                                                     "is neither the name of a host",
		`sources = ["https://a/?endpoint=https://b"]`:                           "is neither the name of a host",
		`sources = ["s3://a/?region=b"]`:                                        "is neither the name of a host",
		`sources = ["s3://a/?endpoint=b"]`:                                      "is neither the name of a host",
		`sources = ["s3://a/?endpoint=https://u:p@b"]`:                          "is neither the name of a host",
		`sources = ["s3://a/?endpoint=https://b&x=y"]`:                          "is neither the name of a host",
		`sources = ["../mirror"]`:                                               "is neither the name of a host",
		`providers = ["*/widget"]`:                                              `"*/widget" names no providers`,
		`minimum_trust = "high"`:                                                `has to be "verified_checksum"`,
		`refuse_downgrades = "often"`:                                           "bool",
		`allow_overrides = "never"`:                                             "bool",
		`lock_platforms = ["linux"]`:                                            `"linux" is not a platform`,
		`lock_platforms = "linux_amd64"`:                                        "list of string",
		`minimum_age {}`:                                                        "Missing required argument",
		`minimum_age { age = "3 days" }`:                                        "is not a time",
		`minimum_age { age = "-1h" }`:                                           "is not a time",
		`signed_by {}`:                                                          "Missing provider for signed_by",
		`signed_by "acme/*" { keys = ["72D7468F"] }`:                            `"72D7468F" is not the ID of a key, which has 16 hexadecimal digits, and not "hashicorp".`,
		`versions {}`:                                                           "Missing provider for versions",
		`versions "acme/*" {}`:                                                  "Missing required argument",
		`versions "*/widget" { allow = "1.0" }`:                                 "names no providers",
		`versions "acme/*" { allow = "new" }`:                                   "invalid version constraint",
		`quarantine "acme/*" { versions = ["1.0.0"] }`:                          "Missing required argument",
		"quarantine \"acme/*\" {\n versions = [\"~> 1.0\"]\n reason = \"x\"\n}": "invalid version",
		"quarantine \"acme/*\" {\n versions = [\"1.0.0\"]\n reason = \"x\"\n until = \"soon\"\n}": `"soon" is not a day`,
		"advisory = true\nallow_overrides = false":                                                "can't be advisory",
		"advisory = true\nmodules {}":                                                             "can't be advisory",
		`modules { hosts = ["a b"] }`:                                                             "is not the name of a host",
		`modules "x" {}`:                                                                          "Extraneous label",
		`advisory = "soon"`:                                                                       "bool",
		`minimum_trust = var.level`:                                                               "Variables not allowed",
		`{`:                                                                                       "Argument or block definition required",
		"minimum_trust = " + strings.Repeat("[", 100_000):                                         "nested too deeply",
		"minimum_trust = " + strings.Repeat("!", 100_000):                                         "nested too deeply",
		// A comment closes nothing.
		"#" + strings.Repeat("]", 100_000) + "\nminimum_trust = " + strings.Repeat("[", 100_000): "nested too deeply",
	} {
		_, diags := policy.Parse([]byte(text), "tfdeps.hcl", terraform)
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", text, diags, want)
		}
	}
}

// Every rule has an example in the document, which is a policy that can be read.
func TestParse_ReadsTheExamplesOfTheDocument(t *testing.T) {
	text := string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "policy.md")))(t))
	all := ""
	for i, block := range strings.Split(text, "```") {
		if example, ok := strings.CutPrefix(block, "hcl\n"); ok && i%2 == 1 {
			parse(t, example)
			all += example
		}
	}
	for _, rule := range []string{"sources", "providers", "minimum_trust", "refuse_downgrades", "lock_platforms", "allow_overrides", "minimum_age", "signed_by", "versions", "quarantine", "modules", "advisory"} {
		must.Contain(t, "\n"+all, "\n"+rule+" ")
	}
}

func TestLoad_NamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hcl")
	if _, diags := policy.Load(path, terraform); !strings.Contains(diags.Error(), "There is no policy at "+path) {
		t.Errorf("got %v", diags)
	}
	must.Succeed(t, os.WriteFile(path, []byte(`providers = ["acme/*"]`), 0o600))
	p, diags := policy.Load(path, terraform)
	if refusal := p.Check(policy.Candidate{}); diags.HasErrors() || refusal == nil || refusal.Pos.File != path {
		t.Errorf("got %v, %v", refusal, diags)
	}
}

func TestFind_SearchesUpToTheRepository(t *testing.T) {
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, dir := range []string{"out/repo/.git", "out/repo/live/net", "out/alone/below"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	for _, step := range []struct{ put, from, want string }{
		{"out/tfdeps.hcl", "out/repo/live/net", ""},
		{"out/alone/tfdeps.hcl", "out/alone/below", ""},
		{"out/repo/tfdeps.hcl", "out/repo/live/net", "out/repo/tfdeps.hcl"},
		{"out/repo/live/tfdeps.hcl", "out/repo/live/net", "out/repo/tfdeps.hcl out/repo/live/tfdeps.hcl"},
		{"out/repo/live/net/tfdeps.hcl", "out/repo/live/net", "out/repo/tfdeps.hcl out/repo/live/tfdeps.hcl out/repo/live/net/tfdeps.hcl"},
		{"out/alone/below/tfdeps.hcl", "out/alone/below", "out/alone/below/tfdeps.hcl"},
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(top, step.put), nil, 0o600))
		got := must.Get(policy.Find(filepath.Join(top, step.from)))(t)
		var want []string
		for name := range strings.FieldsSeq(step.want) {
			want = append(want, filepath.Join(top, name))
		}
		must.EqualSlices(t, got, want, step.put)
	}
	t.Run("out/link", func(t *testing.T) {
		repository, link := filepath.Join(top, "out", "repo"), filepath.Join(top, "out", "link")
		cachetest.LinkOrSkip(t, filepath.Join(repository, "live"), link)
		must.EqualSlices(t, must.Get(policy.Find(link))(t), []string{filepath.Join(repository, policy.FileName), filepath.Join(repository, "live", policy.FileName)})
	})
}

func FuzzParse(f *testing.F) {
	f.Add("sources = [\"a.example\"]\nproviders = [\"acme/*\"]\nminimum_trust = \"partner\"\nrefuse_downgrades = true\n")
	f.Add("minimum_age {\n age = \"72h\"\n except = [\"acme/*\"]\n}\nsigned_by \"acme/*\" {\n keys = [\"34365D9472D7468F\"]\n}\n")
	candidate := policy.Candidate{Candidate: getproviders.Candidate{SourceURL: "https://a.example/", Authentication: getproviders.AuthenticationResult{}}}
	f.Fuzz(func(_ *testing.T, text string) {
		p, _ := policy.Parse([]byte(text), "tfdeps.hcl", terraform)
		p.Check(candidate)
	})
}

// TestPolicy_CheckOverride: one policy that forbids it is enough, and packages aren't meant.
func TestPolicy_CheckOverride(t *testing.T) {
	rule := func(given string) policy.Policy {
		p, diags, ok := policy.ParseRule(given, "-policy", terraform)
		if !ok || diags.HasErrors() {
			t.Fatal(ok, diags)
		}
		return p
	}
	yes, no := parse(t, "allow_overrides = true\n"), parse(t, "\nallow_overrides = false\n")
	for name, c := range map[string]struct {
		p    policy.Policy
		want string
	}{
		"none": {policy.Policy{}, ""}, "allowed": {policy.All(yes, rule("allow_overrides=true")), ""},
		"forbidden":           {policy.All(no, yes), "it comes by dev_overrides, to which no rule applies (rule allow_overrides, tfdeps.hcl:2)"},
		"forbidden, nearer":   {policy.All(yes, no), "tfdeps.hcl:2"},
		"forbidden by option": {policy.All(yes, rule("allow_overrides=false")), "(rule allow_overrides, -policy=allow_overrides=false)"},
	} {
		refusal := c.p.CheckOverride(widget, "dev_overrides")
		if (refusal == nil) != (c.want == "") || refusal != nil && !strings.Contains(refusal.Error(), c.want) || c.p.IsZero() != (c.want == "") {
			t.Errorf("%s: %v, %v", name, refusal, c.p.IsZero())
		}
		must.Equal(t, c.p.Check(policy.Candidate{Candidate: getproviders.Candidate{Provider: widget}}), nil, name)
	}
}

// TestPolicy_CheckDowngrade has rules about what isn't known of a version that was only chosen.
func TestPolicy_CheckDowngrade(t *testing.T) {
	p := parse(t, "minimum_age {\n  age = \"72h\"\n}\nproviders = [\"other/*\"]\nrefuse_downgrades = true\n")
	version := getproviders.MustParseVersion
	of, none := widget, getproviders.Version{}
	if refusal := p.CheckDowngrade(of, version("1.0.0"), none, version("1.1.0")); refusal == nil || refusal.Rule != "refuse_downgrades" {
		t.Errorf("%v", refusal)
	}
	must.Equal(t, p.CheckDowngrade(of, version("1.0.0"), none, version("1.0.0")), nil)
}

// TestFind_RefusesWhatAnotherOneMayHavePutThere: such a file is neither used nor ignored.
func TestFind_RefusesWhatAnotherOneMayHavePutThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, policy.FileName)
	t.Run("directory", func(t *testing.T) {
		must.Succeed(t, os.Mkdir(path, 0o700))
		must.Contain(t, must.ErrorOf(policy.Find(dir)), "is not a file")
		must.Succeed(t, os.Remove(path))
	})
	t.Run("file of another user", func(t *testing.T) {
		must.Succeed(t, os.WriteFile(path, []byte("refuse_downgrades = true\n"), 0o600))
		if err := os.Chown(path, 4711, -1); err != nil {
			t.Skipf("only root may give a file away: %v", err)
		}
		must.Contain(t, must.ErrorOf(policy.Find(dir)), "belongs to another user")
	})
	// In a directory such as /tmp, a repository of another user is ignored, with that user's policy.
	t.Run("repository of another user", func(t *testing.T) {
		shared := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
		dir, repository, theirs := filepath.Join(shared, "mine"), filepath.Join(shared, ".git"), filepath.Join(shared, policy.FileName)
		own := filepath.Join(dir, policy.FileName)
		must.Succeed(t, errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(repository, 0o700), os.WriteFile(theirs, nil, 0o600), os.WriteFile(own, nil, 0o600), os.Chmod(shared, fs.ModeSticky|0o777)))
		for _, path := range []string{repository, theirs} {
			if err := os.Chown(path, 4711, -1); err != nil {
				t.Skipf("only root may give a file away: %v", err)
			}
		}
		must.EqualSlices(t, must.Get(policy.Find(dir))(t), []string{own})
		// Where only its owner can have put it, it is the repository that the directory is in: to pass over its policy would loosen it.
		must.Succeed(t, os.Chmod(shared, 0o755))
		must.Contain(t, must.ErrorOf(policy.Find(dir)), "belongs to another user")
	})
}
