package view

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// TestFetchedLines_NameTheSource: people see where a package came from if it isn't the provider's
// own registry, and programs always do.
func TestFetchedLines_NameTheSource(t *testing.T) {
	const origin, mirror = "registry example.com", "provider mirror at https://mirror.example.com/"
	down := errors.New("GET \"https://down.example.com/\":\n503")
	done := func(source string, skipped error) event.Event {
		e := ended(event.Fetched, alpha, v1)
		e.Source, e.Skipped = source, skipped
		return e
	}
	const installed = "- Installed example.com/acme/alpha v1.2.3 (unauthenticated)\n"
	const installedJSON = `"Installed provider version: example.com/acme/alpha v1.2.3 (unauthenticated)"`
	tests := []struct {
		name        string
		event       event.Event
		human, json string
	}{
		{"it isn't known", done("", nil), installed, jsonLog(installedJSON)},
		{"the registry of its address", done(origin, nil), installed, jsonLogFrom(installedJSON, origin)},
		{"another registry", done("registry example.org", nil), installed + "  from registry example.org\n", jsonLogFrom(installedJSON, "registry example.org")},
		{"a mirror", done(mirror, nil), installed + "  from " + mirror + "\n", jsonLogFrom(installedJSON, mirror)},
		{
			"after others failed", done(origin, errors.Join(down, errors.New("gone"))),
			installed + "  note: a source before it failed: GET \"https://down.example.com/\": 503\n  note: a source before it failed: gone\n",
			jsonLogFrom(installedJSON, origin) +
				jsonLog(`"example.com/acme/alpha v1.2.3: a source before it failed: GET \"https://down.example.com/\": 503"`) +
				jsonLog(`"example.com/acme/alpha v1.2.3: a source before it failed: gone"`),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, json := range []bool{false, true} {
				s := newSpeaker(func(o *Options) { o.JSON = json })
				s.Observe(pending(alpha))
				s.Observe(on(event.Query, alpha, true))
				s.out.Reset()
				s.Observe(tt.event)
				want := tt.human
				if json {
					want = tt.json + jsonFetched("alpha", tt.event.Source, "unauthenticated", "", "")
				}
				s.check(t, want, "")
			}
		})
	}
}

// jsonFetched is the object for a package of example.com/acme that was fetched; ended and begun are
// keys with their values.
func jsonFetched(name, source, level, ended, begun string) string {
	return jsonStart + `"example.com/acme/` + name + ` v1.2.3: fetched"` + jsonStamp + `"action":"fetched","authentication":"` + level + `","bytes":0,"cache":"unused",` +
		ended + `"provider":"example.com/acme/` + name + `","source":"` + source + `"` + begun + `,"type":"package","version":"1.2.3"}` + "\n"
}

// jsonLogFrom is jsonLog with a source.
func jsonLogFrom(text, source string) string {
	return strings.Replace(jsonLog(text), `"type"`, `"source":"`+source+`","type"`, 1)
}

// The note that packages are copies, or aren't symlinks, is printed once, with the reason.
func TestInit_WhyPackagesAreNoLinksIsShownOnce(t *testing.T) {
	linked := func(p getproviders.Provider, mode providercache.LinkMode, why ...error) event.Event {
		return ended(event.Linked, p, v1, mode, errors.Join(why...))
	}
	others, clone, hardlink := fmt.Errorf("/shared: %w", link.ErrChangedByOthers), errors.New("clone: not here"), errors.New("hardlink: another\ndisk")
	const from = " v1.2.3 from the shared cache directory\n"
	for want, events := range map[string][]event.Event{
		"- Using example.com/acme/alpha" + from + "- Using example.com/acme/beta" + from +
			"  note: packages are copied from the shared cache, because they can't be linked: hardlink: another disk\n- Using example.com/acme/gamma" + from: {
			linked(alpha, providercache.LinkHardlink, clone), linked(beta, providercache.LinkCopy, hardlink), linked(gamma, providercache.LinkCopy, hardlink),
		},
		"- Using example.com/acme/alpha" + from + "  note: packages come from the shared cache by hardlink, not by symlink: /shared: other users can change what is there\n" +
			"- Using example.com/acme/beta" + from: {
			linked(alpha, providercache.LinkHardlink, others, clone), linked(beta, providercache.LinkCopy, others, clone),
		},
	} {
		s := newSpeaker(func(o *Options) { o.Plain = true })
		s.Observe(pending(alpha, beta, gamma))
		for _, e := range events {
			s.Observe(e)
		}
		s.ProvidersEnd()
		s.check(t, want, "")
	}
}
