package policy_test

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

func TestParseRule_ReadsWhatOptionsHave(t *testing.T) {
	young := policy.Candidate{Candidate: getproviders.Candidate{Provider: widget, SourceURL: "https://a.example/", Authentication: getproviders.AuthenticationResult{}, Version: getproviders.MustParseVersion("1.0.0")}, Locked: getproviders.MustParseVersion("2.0.0")}
	for given, want := range map[string]string{
		"sources=b.example,a.example": "",
		"sources=b.example":           "it comes from https://a.example/",
		"providers=other/*,acme/*":    "",
		"providers=other/*":           "matches none",
		"minimum_trust=partner":       "it is unauthenticated",
		"minimum_age=72h":             "it isn't known when",
		"refuse_downgrades=true":      "the lock file has 2.0.0",
		"refuse_downgrades=false":     "",
		"lock_platforms=linux_amd64":  "",
	} {
		p, diags, ok := policy.ParseRule(given, "-policy", terraform)
		if !ok || diags.HasErrors() {
			t.Errorf("%s: %t, %v", given, ok, diags)
			continue
		}
		name, _, _ := strings.Cut(given, "=")
		refusal := p.Check(young)
		switch {
		case want == "" && refusal != nil:
			t.Errorf("%s: %v", given, refusal)
		case want != "" && (refusal == nil || !strings.Contains(refusal.Error(), want) || !strings.HasSuffix(refusal.Error(), "(rule "+name+", -policy="+given+")")):
			t.Errorf("%s: got %v, want %q and the option", given, refusal, want)
		}
	}
}

func TestParseRule_Refuses(t *testing.T) {
	for given, want := range map[string]string{
		"minimum_trust=high":      "The option -policy=minimum_trust=high can't be used: minimum_trust is \"high\"",
		"minimum_age=3 days":      "is not a time",
		"refuse_downgrades=often": "is neither",
		"allow_overrides=never":   "is neither",
		"providers=*/widget":      "names no providers",
		"sources=../mirror":       "is neither the name of a host",
		"lock_platforms=linux":    "is not a platform",
	} {
		if _, diags, ok := policy.ParseRule(given, "-policy", terraform); !ok || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %t, %v, want %q", given, ok, diags, want)
		}
	}
	for _, file := range []string{"tfdeps.hcl", "a=b.hcl", "signed_by=x", ""} {
		if _, _, ok := policy.ParseRule(file, "-policy", terraform); ok {
			t.Errorf("%q is taken for a rule", file)
		}
	}
}

func TestPolicy_CheckLock(t *testing.T) {
	p := policy.All(parse(t, "lock_platforms = [\"linux_amd64\", \"linux_amd64\"]\n"), parse(t, "\nlock_platforms = [\"darwin_arm64\", \"linux_amd64\"]\n"))
	if got := p.LockPlatforms(); len(got) != 2 || got[0].String() != "linux_amd64" || got[1].String() != "darwin_arm64" || p.IsZero() {
		t.Errorf("platforms %v", got)
	}
	if p.Hook(policy.HookOptions{}) != nil {
		t.Error("a policy without rules about packages asks to be asked")
	}
	for hashes, line := range map[string]int{"zh:1 zh:2": 1, "h1:1 zh:1 zh:2": 2, "h1:1 h1:2": 0} {
		var lock depsfile.Lock
		for _, h := range strings.Fields(hashes) {
			lock.Hashes = append(lock.Hashes, getproviders.Hash(h))
		}
		got := 0
		if refusal := p.CheckLock(lock); refusal != nil {
			got = refusal.Pos.Line
		}
		must.Equal(t, got, line, hashes)
	}
}
