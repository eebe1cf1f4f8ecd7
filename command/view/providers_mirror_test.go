package view

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

func mirroredPackage(t *testing.T, name, platform string) providercache.Outcome {
	t.Helper()
	p := lockedPackage(t, name, platform)
	return providercache.Outcome{Selection: p.Selection, Platform: p.Platform, Path: name + platform, Authentication: p.Authentication}
}

func TestMirror_PackagesAreShownInOrder(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	v := NewMirror(into(&out, &problems))
	one, two, three := mirroredPackage(t, "a", "linux_amd64"), mirroredPackage(t, "a", "darwin_arm64"), mirroredPackage(t, "c", "linux_amd64")
	one.Locked, two.Locked = true, true
	three.Constraints = getproviders.MustParseConstraints("~> 1.0")
	v.Skip(getproviders.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"})
	nobody := mirroredPackage(t, "b", "linux_amd64").Provider
	v.Observe(ended(event.Failed, nobody, errors.New("no")))
	v.Observe(event.Event{Kind: event.Queued, Packages: []providercache.Outcome{one, two, three}})
	three.Err = getproviders.Selection{}.Failed(during.Metadata, errors.New("no"))
	v.Observe(of(event.Done, three))
	two.State = event.Present
	v.Observe(of(event.Done, two))
	v.Observe(of(event.Fetching, one))
	v.Observe(of(event.Done, one))
	v.End(mirror.Result{Pruned: []string{"x.zip"}})
	const want = `- Mirroring acme/a...
  - Selected v1.0.0 to match dependency lock file
  - Downloading package for linux_amd64...
  - Package authenticated: self-signed
    note: old key
  - Package for darwin_arm64 is there already
- Mirroring acme/b...
- Mirroring acme/c...
  - Selected v1.0.0 to meet constraints ~> 1.0
  - Downloading package for linux_amd64...
- Skipping terraform.io/builtin/terraform because it is built in to Terraform CLI
- Removed x.zip
`
	if out.String() != want || problems.Len() != 0 {
		t.Errorf("got\n%s%s\nwant\n%s", &out, &problems, want)
	}
}

// TestMirror_PlatformsOfOnePathAreApart has a tag of a registry as the path of two packages.
func TestMirror_PlatformsOfOnePathAreApart(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	o := into(&out, &out)
	o.Now = clock
	v := NewMirror(o)
	one, two := mirroredPackage(t, "a", "darwin_arm64"), mirroredPackage(t, "a", "linux_amd64")
	one.Path, two.Path = "oci://host/a:1.0.0", "oci://host/a:1.0.0"
	v.Observe(event.Event{Kind: event.Queued, Packages: []providercache.Outcome{one, two}})
	v.Observe(of(event.Fetching, two))
	v.Observe(of(event.Fetching, one))
	v.Observe(of(event.Done, two))
	v.Observe(of(event.Done, one))
	v.End(mirror.Result{Packages: []providercache.Outcome{one, two}})
	const want = `- Mirroring acme/a...
  - Selected v1.0.0 with no constraints
  - Downloading package for darwin_arm64...
  - Package authenticated: self-signed
    note: old key
  - Downloading package for linux_amd64...
  - Package authenticated: self-signed
    note: old key
`
	must.Equal(t, out.String(), want)
	if a, b := v.Activity.Span(one), v.Activity.Span(two); a == b {
		t.Errorf("both began and ended at the same times: %+v", a)
	}
}

func TestMirrorProblems_SayWhatFailed(t *testing.T) {
	t.Parallel()
	p := mirroredPackage(t, "a", "linux_amd64")
	onLinux := func(step string, err error) error {
		failed := p.Failed(step, err)
		failed.Platform = p.Platform
		return failed
	}
	got := asTerraform.MirrorProblems(errors.Join(
		p.Failed(during.Query, errors.New("gone")),
		onLinux(during.Metadata, errors.New("gone")),
		onLinux(during.Fetch, errors.New("gone")),
		onLinux(during.Authenticate, errors.New("gone")),
		&getproviders.Fault{Code: "mirror_index", Err: errors.New("x.zip: gone")},
		errors.New("gone"),
	), "mirror_index", "Failed to write the mirror", explain.Wanted{})
	var lines []string
	for _, p := range got {
		lines = append(lines, p.Summary+": "+p.Detail)
	}
	want := []string{
		"Provider not available: Failed to download registry.terraform.io/acme/a: gone",
		"Provider release not available: Failed to download registry.terraform.io/acme/a v1.0.0 for linux_amd64: gone",
		"Cannot download provider release: Failed to download registry.terraform.io/acme/a v1.0.0 for linux_amd64: gone",
		"Invalid provider package: Failed to authenticate registry.terraform.io/acme/a v1.0.0 for linux_amd64: gone",
		"Failed to update indexes: The indexes can't list all that is in the mirror: x.zip: gone",
		"Failed to write the mirror: gone",
	}
	must.EqualSlices(t, lines, want, strings.Join(lines, "\n"), strings.Join(want, "\n"))
}

// into are options for lines without boxes.
func into(out, problems *bytes.Buffer) Options {
	return Options{Now: time.Now, Names: asTerraform, Plain: true, Stdout: terminal.Stream{Writer: out}, Stderr: terminal.Stream{Writer: problems}}
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
