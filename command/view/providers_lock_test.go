package view

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

func lockedPackage(t *testing.T, name, platform string) providercache.LockedPackage {
	t.Helper()
	p := must.Get(asTerraform.ParseProvider("acme/" + name))(t)
	plat := must.Get(getproviders.ParsePlatform(platform))(t)
	return providercache.LockedPackage{Outcome: providercache.Outcome{
		Selection: getproviders.Selection{Provider: p, Version: getproviders.MustParseVersion("1.0.0")}, Platform: plat,
		Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelCommunity, KeyID: "ABC", Notes: []string{"old key"}},
	}}
}

func TestLock_PackagesAreShownInOrder(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	v := NewLock(Options{Now: time.Now, Product: asTerraform, Plain: true, Stdout: terminal.Stream{Writer: &out}, Stderr: terminal.Stream{Writer: &problems}})
	one, two, three := lockedPackage(t, "a", "linux_amd64"), lockedPackage(t, "b", "linux_amd64"), lockedPackage(t, "a", "darwin_arm64")
	v.Observe(event.Event{Kind: event.Queued, Packages: []providercache.Outcome{one.Outcome, two.Outcome, three.Outcome}})
	two.State, three.Err = event.Recalled, errors.New("no")
	v.Observe(of(event.Done, two.Outcome))
	v.Observe(of(event.Fetching, three.Outcome))
	if out.Len() != 0 {
		t.Fatalf("told too early: %s", &out)
	}
	v.Observe(of(event.Fetching, one.Outcome))
	v.Observe(of(event.Done, one.Outcome))
	v.Observe(of(event.Done, three.Outcome))
	v.End()
	const want = `- Fetching acme/a 1.0.0 for linux_amd64...
- Retrieved acme/a 1.0.0 for linux_amd64 (self-signed, key ID ABC)
  note: old key
- Recalled acme/b 1.0.0 for linux_amd64 (self-signed, key ID ABC)
- Fetching acme/a 1.0.0 for darwin_arm64...
`
	if out.String() != want || problems.Len() != 0 {
		t.Errorf("got\n%s%s\nwant\n%s", &out, &problems, want)
	}
}

func TestLockProblems_AreByPlatform(t *testing.T) {
	t.Parallel()
	product := asTerraform
	one, two := lockedPackage(t, "a", "linux_amd64"), lockedPackage(t, "b", "darwin_arm64")
	fail := func(p providercache.LockedPackage, plat getproviders.Platform, err error) error {
		return &getproviders.Fault{Subject: getproviders.Subject{Provider: p.Provider, Platform: plat, Step: during.Metadata}, Err: err}
	}
	problems := explain.LockProblems(product, explain.LockedDir{Dir: "d", Named: true, Result: providercache.LockResult{Err: errors.Join(
		fail(one, one.Platform, errors.New("gone")),
		fail(two, two.Platform, errors.New("lost")),
		fail(two, getproviders.Platform{}, errors.New("nowhere")),
	)}})
	wants := []string{
		"for linux_amd64 in order to calculate their checksums for d: some providers could not be installed:\n- registry.terraform.io/acme/a: gone",
		"for darwin_arm64 in order",
		"providers in order to calculate their checksums for d: some providers could not be installed:\n- registry.terraform.io/acme/b: nowhere",
	}
	must.Len(t, problems, len(wants))
	for i, want := range wants {
		must.Contain(t, problems[i].Detail, want, i)
	}
	interrupted := explain.LockProblems(product, explain.LockedDir{Result: providercache.LockResult{Err: getproviders.Selection{}.Failed(during.Cancel, errors.New("x"))}})
	must.Len(t, interrupted, 1)
	must.Contain(t, interrupted[0].Summary, "canceled")
}
