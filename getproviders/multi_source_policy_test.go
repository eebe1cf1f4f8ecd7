package getproviders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestFallback calls the same sources under each policy: a mirror, and the origin registry, which
// has the provider.
func TestFallback(t *testing.T) {
	const stop, next, exclusive = StopOnFailure, NextOnFailure, Exclusive
	none := Subject{Source: "mirror", Provider: widget}.Missing()
	denied := &Fault{
		Code: "unauthorized", Kind: ErrUnauthorized, Subject: Subject{Provider: widget, Host: "mirror.example"}, Err: &hosts.StatusError{Document: &hosts.Document{StatusCode: 401}},
	}
	for name, test := range map[string]struct {
		mirror   error
		excluded bool // from the mirror
		policy   Fallback
		asked    string
		err      error // nil means that the registry has the package
	}{
		"missing, stop":       {none, false, stop, "mirror registry", nil},
		"missing, next":       {none, false, next, "mirror registry", nil},
		"missing, exclusive":  {none, false, exclusive, "mirror", ErrProviderNotFound},
		"failing, stop":       {errFailed, false, stop, "mirror", ErrUnreachable},
		"failing, next":       {errFailed, false, next, "mirror registry", nil},
		"failing, exclusive":  {errFailed, false, exclusive, "mirror", ErrUnreachable},
		"denied, stop":        {denied, false, stop, "mirror", ErrUnauthorized},
		"denied, next":        {denied, false, next, "mirror registry", nil},
		"denied, exclusive":   {denied, false, exclusive, "mirror", ErrUnauthorized},
		"excluded, stop":      {errFailed, true, stop, "registry", nil},
		"excluded, next":      {errFailed, true, next, "registry", nil},
		"excluded, exclusive": {errFailed, true, exclusive, "registry", nil},
	} {
		t.Run(name, func(t *testing.T) {
			source, asked := inOrder(
				stub{name: "mirror", err: test.mirror},
				stub{name: "registry", available: Available{Versions: versions("1.0.0")}, suggests: mustParse(t, "acme/other")},
			)
			source.Fallback, source.Selectors[1].IsRegistry = test.policy, true
			if test.excluded {
				source.Selectors[0].Exclude = never
			}
			for query, ask := range queries(source) {
				*asked = nil
				wantKind(t, ask(t.Context()), test.err, query)
				must.Equal(t, strings.Join(*asked, " "), test.asked, query)
			}
			if test.policy == exclusive {
				must.Equal(t, source.Describe(widget).Name, test.asked)
			}
			// A registry that mirrors exclude isn't asked for a hint either.
			*asked = nil
			_, suggested := source.Describe(widget).Suggest(t.Context(), widget)
			want := test.policy != exclusive || test.excluded
			must.Equal(t, suggested, want)
			must.Equal(t, slices.Contains(*asked, "registry"), want)
		})
	}
}

// queries calls the two methods of a source.
func queries(source Source) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Versions": func(ctx context.Context) error {
			_, err := source.Versions(ctx, widget)
			return err
		},
		"Package": func(ctx context.Context) error {
			_, err := source.Package(ctx, widget, v1, linux)
			return err
		},
	}
}

func TestMultiSource_NextOnFailureTellsWhatWasSkipped(t *testing.T) {
	source, _ := inOrder(
		lacks("a", errFailed),
		lacks("b", errNoProvider),
		stub{name: "c", available: Available{Versions: versions("1.0.0"), Warnings: []string{"from c"}}},
	)
	source.Fallback = NextOnFailure
	available := must.Get(versionsOf(t, source))(t)
	must.EqualSlices(t, available.Warnings, []string{"from c"})
	must.EqualSlices(t, available.PassedOver, []string{"a was passed over because it failed: disk on fire: source unreachable or failing"})
	found := must.Get(packageOf(t, source))(t)
	must.Equal(t, found.Source, "c")
	must.Fail(t, found.Skipped, errFailed)
	must.Equal(t, found.Skipped.Error(), "a: disk on fire: source unreachable or failing")
	source.Selectors = source.Selectors[1:]
	must.Equal(t, must.Get(packageOf(t, source))(t).Skipped, nil)
}

func TestMultiSource_NextOnFailure_WhereNoneServes(t *testing.T) {
	source, _ := inOrder(lacks("a", errFailed), lacks("b", errNoProvider), lacks("c", errFailed))
	source.Fallback = NextOnFailure
	for query, head := range map[string]string{
		"Versions": "provider registry.example/acme/widget",
		"Package":  "provider registry.example/acme/widget v1.0.0 for linux_amd64",
	} {
		err := queries(source)[query](t.Context())
		wantKind(t, err, ErrUnreachable, query)
		must.Equal(t, err.Error(), head+" was not found in any of the search locations, and not all of them work"+
			"\n\n  - a: disk on fire: source unreachable or failing\n  - b: does not have the provider\n  - c: disk on fire: source unreachable or failing", query)
	}
}

func TestMultiSource_NextOnFailure_DoesNotPassOverAProtocol(t *testing.T) {
	source, asked := inOrder(lacks("a", errFailed), lacks("b", errProtocol), stub{name: "c"})
	source.Fallback = NextOnFailure
	must.Equal(t, must.ErrorOf(packageOf(t, source)), error(errProtocol))
	must.EqualSlices(t, *asked, []string{"a", "b"})
}

func TestMultiSource_Exclusive_TellsWhichMirrorKeepsTheRegistryOut(t *testing.T) {
	source, _ := inOrder(lacks("m1", errNoProvider), lacks("m2", errNoProvider), stub{name: "registry"})
	source.Fallback, source.Selectors[2].IsRegistry = Exclusive, true
	source.Selectors[0].Exclude = never
	_, err := versionsOf(t, source)
	want := "provider registry.example/acme/widget was not found in any of the search locations" +
		"\n\n  - m1: excluded by \"*/*/*\"\n  - m2: does not have the provider" +
		"\n  - registry: kept out, because mirrors are exclusive and there is one for this provider: m2"
	must.Equal(t, fmt.Sprint(err), want)
	must.Equal(t, source.Describe(widget).Name, "m2")
}

func TestMultiSource_RepeatsAdviceAndNotEndlessPatterns(t *testing.T) {
	source, _ := inOrder(stub{name: "a"}, stub{name: "b", err: &Fault{Kind: ErrProviderNotFound, Err: errors.New("no"), Hint: "mind the slash"}}, lacks("c", errNoPlatform))
	for i := range 12 {
		p := widget
		p.Type = fmt.Sprintf("t%d", i)
		source.Selectors[0].Include = append(source.Selectors[0].Include, Pattern(p))
	}
	_, err := packageOf(t, source)
	must.Contain(t, err, `"registry.example/acme/t9", and 2 more`+"\n")
	must.Contain(t, err, "b: does not have the provider (mind the slash)")
}

func TestMultiSource_RulesOutWithoutARequest(t *testing.T) {
	dir := t.TempDir()
	must.Succeed(t, os.MkdirAll(filepath.Join(dir, "full", widget.String(), "1.0.0", "plan9_mips"), 0o755))
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))

	mirror := func(name string) Selector {
		return Selector{Source: &FilesystemMirrorSource{Dir: filepath.Join(dir, name)}}
	}
	requested := new([]string)
	online := Selector{Source: stub{name: "registry", err: errFailed, asked: requested}, IsRegistry: true}
	excluded := online
	excluded.Exclude = never

	for name, test := range map[string]struct {
		selectors []Selector
		fallback  Fallback
		ruledOut  error
	}{
		"one who knows":               {[]Selector{online}, StopOnFailure, nil},
		"excluded":                    {[]Selector{excluded}, StopOnFailure, ErrProviderNotFound},
		"none":                        {nil, StopOnFailure, ErrProviderNotFound},
		"in a directory, for others":  {[]Selector{mirror("full")}, StopOnFailure, nil},
		"in no directory":             {[]Selector{mirror("empty"), excluded}, StopOnFailure, ErrProviderNotFound},
		"in the second directory":     {[]Selector{mirror("empty"), mirror("full")}, StopOnFailure, nil},
		"after a directory":           {[]Selector{mirror("empty"), online}, StopOnFailure, nil},
		"after a failure":             {[]Selector{mirror("absent"), online}, StopOnFailure, ErrUnreachable},
		"after a failure, by next":    {[]Selector{mirror("absent"), online}, NextOnFailure, nil},
		"after an exclusive mirror":   {[]Selector{mirror("empty"), online}, Exclusive, ErrProviderNotFound},
		"in sources of other sources": {[]Selector{{Source: MultiSource{Selectors: []Selector{mirror("empty"), excluded}}}}, StopOnFailure, ErrProviderNotFound},
	} {
		source := Memoize(MultiSource{Selectors: test.selectors, Fallback: test.fallback})
		err := source.Describe(widget).RulesOut(t.Context(), widget, version("1.0.0"))
		wantKind(t, err, test.ruledOut, name)
	}

	err := MultiSource{Selectors: []Selector{mirror("full")}}.Describe(widget).RulesOut(t.Context(), widget, version("2.0.0"))
	wantKind(t, err, ErrVersionNotFound, "another version")
	must.Len(t, *requested, 0)
}
