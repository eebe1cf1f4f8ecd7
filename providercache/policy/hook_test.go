package policy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

func TestPolicy_HookPassesOnWhatIsKnown(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	p := parse(t, "sources = [\"example.com\"]\nrefuse_downgrades = true\nminimum_age {\n age = \"1h\"\n}\n")
	hook := p.Hook(policy.HookOptions{
		Now:    func() time.Time { return now },
		Locked: func(getproviders.Provider) getproviders.Version { return getproviders.MustParseVersion("2.0.0") },
		Seen:   func(getproviders.Provider) getproviders.Version { return getproviders.MustParseVersion("3.0.0") },
	})
	candidate := func(version string, released time.Time) getproviders.Candidate {
		return getproviders.Candidate{
			Provider: getproviders.Provider{Hostname: "example.com"}, FromRegistry: true, SourceURL: "https://cdn.example/",
			Version: getproviders.MustParseVersion(version), Released: released,
		}
	}
	for _, c := range []struct {
		candidate getproviders.Candidate
		rule      string
	}{
		{candidate("2.0.0", now.Add(-time.Hour)), ""},
		{candidate("1.0.0", now.Add(-time.Hour)), "refuse_downgrades"},
		{candidate("2.1.0", now.Add(-time.Hour)), "refuse_downgrades"},
		{candidate("2.0.0", now), "minimum_age"},
		{candidate("2.0.0", time.Time{}), "minimum_age"},
	} {
		rule := ""
		if refusal, ok := errors.AsType[*policy.Refusal](hook(t.Context(), c.candidate)); ok {
			rule = refusal.Rule
		}
		if rule != c.rule {
			t.Errorf("%s of %s: refused by %q, want %q", c.candidate.Version, c.candidate.Released, rule, c.rule)
		}
	}
	if (policy.Policy{}).Hook(policy.HookOptions{}) != nil {
		t.Error("a policy without rules asks to be asked")
	}
}
