package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

func TestPolicy_HookPassesOnWhatIsKnown(t *testing.T) {
	now := time.Now()
	p := parse(t, "sources = [\"example.com\"]\nrefuse_downgrades = true\nminimum_age {\n age = \"1h\"\n}\n")
	hook := p.Hook(policy.HookOptions{
		Against: func(getproviders.Candidate) (locked, seen getproviders.Version) {
			return getproviders.MustParseVersion("2.0.0"), getproviders.MustParseVersion("3.0.0")
		},
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
		must.Equal(t, rule, c.rule, c.candidate.Version, c.candidate.Released)
	}
	if (policy.Policy{}).Hook(policy.HookOptions{}) != nil {
		t.Error("a policy without rules asks to be asked")
	}
}

// A registry whose newest version another key has signed: the one before it is chosen, and the rules count for its package, too.
func TestPolicy_ChoiceLeavesOutWhatOthersHaveSigned(t *testing.T) {
	registry := must.Get(providertest.NewRegistry(providertest.Options{}))(t)
	t.Cleanup(registry.Close)
	other := providertest.NewSigner(providertest.SignerOptions{})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.1.0", Signer: other})
	widget := registry.Provider("acme", "widget")
	rules := "signed_by \"" + widget.String() + "\" {\n keys = [\"KEY\"]\n}\n"
	for key, want := range map[string]string{registry.Signer().KeyID(): "1.0.0", other.KeyID(): "1.1.0"} {
		p := parse(t, strings.ReplaceAll(rules, "KEY", key))
		f := &providercache.Fetcher{Source: registry.Source(), Client: registry.Client(), Policy: p.Hook(policy.HookOptions{}), Choice: p.Choice()}
		in := providercache.Installer{Fetcher: f, Target: &providercache.Store{Dir: t.TempDir()}}
		locks, _, err := in.Install(t.Context(), getproviders.Requirements{widget: nil}, nil, providercache.Normal)
		must.Succeed(t, err)
		lock, _ := locks.Provider(widget)
		must.Equal(t, lock.Version.String(), want)
	}
}
