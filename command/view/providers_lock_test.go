package view

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// into are options for lines without boxes.
func into(out, problems *bytes.Buffer) Options {
	return Options{Now: time.Now, Product: asTerraform, Plain: true, Stdout: terminal.Stream{Writer: out}, Stderr: terminal.Stream{Writer: problems}}
}

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
	v := NewLock(into(&out, &problems))
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
