package getproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// stub is a source with one answer for everything.
type stub struct {
	name      string
	available Available
	err       error
	suggests  Provider
	asked     *[]string // names of the sources that were called; nil means not recorded
}

func (s stub) note() {
	if s.asked != nil {
		*s.asked = append(*s.asked, s.name)
	}
}

func (s stub) Versions(context.Context, Provider) (Available, error) {
	s.note()
	return s.available, s.err
}

func (s stub) Package(_ context.Context, p Provider, v Version, plat Platform) (Package, error) {
	s.note()
	if s.err != nil {
		return Package{}, s.err
	}
	return Package{Provider: p, Version: v, Platform: plat, Location: LocalDirectory(s.name)}, nil
}

func (s stub) Describe(Provider) Description {
	return Description{Name: s.name, Suggest: s.suggest}
}

func (s stub) suggest(context.Context, Provider) (Provider, bool) {
	s.note()
	return s.suggests, s.suggests != Provider{}
}

// lacks is a source that fails, or has no provider.
func lacks(name string, err error) stub { return stub{name: name, err: err} }

func has(name string, list ...string) stub {
	return stub{name: name, available: Available{Versions: versions(list...)}}
}

// inOrder makes a MultiSource of stubs that records which ones were called.
func inOrder(stubs ...stub) (source MultiSource, asked *[]string) {
	asked = new([]string)
	for _, s := range stubs {
		s.asked = asked
		source.Selectors = append(source.Selectors, Selector{Source: s})
	}
	return source, asked
}

// never excludes every provider.
var never = []Pattern{{Hostname: "*", Namespace: "*", Type: "*"}}

var (
	errNoProvider = Subject{Source: "stub", Provider: widget}.Missing()
	errNoVersion  = Subject{Source: "stub", Provider: widget, Version: version("1.0.0")}.Missing()
	errNoPlatform = Subject{Provider: widget, Version: version("1.0.0"), Platform: linux, Source: "stub", Newest: version("0.9.0")}.Missing()
	errProtocol   = &Fault{Kind: ErrProtocol, Err: errors.New("it speaks plugin protocol 4.0"), Hint: "upgrade"}
	errFailed     = fmt.Errorf("disk on fire: %w", ErrUnreachable)
)

func TestMultiSource_UnitesVersions(t *testing.T) {
	source, _ := inOrder(
		stub{name: "a", available: Available{Versions: versions("1.0.0", "1.1.0"), Warnings: []string{"from a"}}},
		lacks("b", errNoProvider),
		stub{name: "c"},
		stub{name: "d", available: Available{Versions: versions("1.1.0", "0.9.0"), Warnings: []string{"from d"}}},
	)
	source.Selectors[0].Include = []Pattern{{Hostname: "other.example", Namespace: "*", Type: "*"}, Pattern(widget)}
	source.Selectors = append(source.Selectors, Selector{
		Source:  has("e", "9.0.0"),
		Exclude: never,
	})
	got := must.Get(versionsOf(t, source))(t)
	must.EqualSlices(t, got.Versions, versions("1.0.0", "1.1.0", "0.9.0"))
	must.EqualSlices(t, got.Warnings, []string{"from a", "from d"})
}

// TestMultiSource_DetailsAreThoseOfThePackages: the details of a version are those of the first
// source that has it, even if they are empty.
func TestMultiSource_DetailsAreThoseOfThePackages(t *testing.T) {
	telling := func(protocol string, list ...string) Available {
		told := Available{Versions: versions(list...), Details: map[Version]Listed{}}
		for _, v := range told.Versions {
			told.Details[v] = Listed{Protocols: []string{protocol}}
		}
		return told
	}
	source, asked := inOrder(
		has("a", "1.0.0"),
		stub{name: "b", available: telling("5.0", "1.0.0", "1.1.0")},
		stub{name: "c", available: telling("6.0", "1.0.0", "1.1.0", "1.2.0")},
	)
	got := must.Get(Memoize(source).Versions(t.Context(), widget))(t)
	for v, want := range map[string]string{"1.0.0": "[]", "1.1.0": "[5.0]", "1.2.0": "[6.0]", "1.3.0": "[]"} {
		must.Equal(t, fmt.Sprint(got.Details[version(v)].Protocols), want, v)
	}
	must.Len(t, *asked, 3)
	source, _ = inOrder(stub{available: Available{Versions: versions("1.0.0")}})
	if got, err := versionsOf(t, source); got.Details != nil || err != nil {
		t.Errorf("details of a source that tells none, %v", err)
	}
}

func TestMultiSource_VersionsFailures(t *testing.T) {
	someVersions := Available{Versions: versions("1.0.0", "2.0.0")}
	for name, test := range map[string]struct {
		stubs   []stub
		exclude int // index + 1
		kind    error
		message string
	}{
		"nobody has it": {
			stubs:   []stub{lacks("/mirror", errNoProvider), lacks("registry r", errNoProvider)},
			kind:    ErrProviderNotFound,
			message: "provider registry.example/acme/widget was not found in any of the search locations\n\n  - /mirror: does not have the provider\n  - registry r: does not have the provider",
		},
		"nobody is for it": {
			stubs:   []stub{{name: "/mirror"}},
			exclude: 1,
			kind:    ErrProviderNotFound,
			message: "provider registry.example/acme/widget was not found in any of the search locations\n\n  - /mirror: excluded by \"*/*/*\"",
		},
		"nobody has a version": {
			stubs:   []stub{{name: "/mirror"}, {name: "registry r"}},
			exclude: 1,
			kind:    ErrProviderNotFound,
			message: "provider registry.example/acme/widget was not found in any of the search locations\n\n  - /mirror: excluded by \"*/*/*\"\n  - registry r: has no version of it",
		},
		"there is nobody": {
			kind:    ErrProviderNotFound,
			message: "no source is configured for provider registry.example/acme/widget",
		},
		"one fails": {
			stubs:   []stub{{name: "a", available: someVersions}, lacks("b", errNoProvider), lacks("c", errFailed), {name: "d", available: someVersions}},
			kind:    ErrUnreachable,
			message: "the search for provider registry.example/acme/widget ended at a source that failed\n\n  - a: has versions of it: 2\n  - b: does not have the provider\n  - c: disk on fire: source unreachable or failing\n  - d: not asked",
		},
	} {
		source, _ := inOrder(test.stubs...)
		if test.exclude > 0 {
			source.Selectors[test.exclude-1].Exclude = never
		}
		got, err := versionsOf(t, source)
		wantKind(t, err, test.kind, name)
		must.Equal(t, err.Error(), test.message, name)
		must.Len(t, got.Versions, 0, name)
	}
}

func TestMultiSource_TakesThePackageOfTheFirstThatHasIt(t *testing.T) {
	source, asked := inOrder(
		lacks("a", errNoProvider),
		lacks("b", errNoVersion),
		lacks("c", errNoPlatform),
		stub{name: "d"},
		stub{name: "e"},
	)
	source.Selectors = slices.Insert(source.Selectors, 0, Selector{Source: stub{name: "excluded"}, Exclude: never})
	got := must.Get(packageOf(t, source))(t)
	must.Equal(t, got.Location.String(), "d")
	must.Equal(t, got.Source, "d")
	must.EqualSlices(t, *asked, []string{"a", "b", "c", "d"})
}

func TestMultiSource_PackageFailures(t *testing.T) {
	const head = "provider registry.example/acme/widget v1.0.0 for linux_amd64"
	for name, test := range map[string]struct {
		errs    []error
		kind    error
		hint    string
		message string
	}{
		"the nearest answer counts": {
			errs:    []error{errNoVersion, errNoPlatform, errNoProvider},
			kind:    ErrPlatformMissing,
			hint:    errNoPlatform.Hint,
			message: head + " was not found in any of the search locations\n\n  - 0: does not have the version\n  - 1: has the version, but not for this platform\n  - 2: does not have the provider",
		},
		"a version before a provider": {
			errs:    []error{errNoProvider, errNoVersion},
			kind:    ErrVersionNotFound,
			message: head + " was not found in any of the search locations\n\n  - 0: does not have the provider\n  - 1: does not have the version",
		},
		"a failure before everything": {
			errs:    []error{errNoPlatform, errFailed, errNoProvider},
			kind:    ErrUnreachable,
			message: "the search for " + head + " ended at a source that failed\n\n  - 0: has the version, but not for this platform\n  - 1: disk on fire: source unreachable or failing\n  - 2: not asked",
		},
		"a version that is of no use speaks for itself": {errs: []error{errNoVersion, errProtocol}, kind: ErrProtocol, hint: errProtocol.Hint, message: errProtocol.Error()},
		"one source speaks for itself":                  {errs: []error{errNoPlatform}, kind: ErrPlatformMissing, hint: errNoPlatform.Hint, message: errNoPlatform.Error()},
	} {
		var stubs []stub
		for i, err := range test.errs {
			stubs = append(stubs, stub{name: fmt.Sprint(i), err: err})
		}
		source, _ := inOrder(stubs...)
		_, err := packageOf(t, source)
		wantKind(t, err, test.kind, name)
		must.Equal(t, err.Error(), test.message, name)
		if test.hint != "" && !slices.Equal(HintsOf(err), []string{test.hint}) {
			t.Errorf("%s: no hint %q in %v", name, test.hint, err)
		}
	}
}

func TestMultiSource_OfMultiSources(t *testing.T) {
	inner, _ := inOrder(lacks("a", errNoProvider), lacks("b", errNoVersion))
	outer := MultiSource{Selectors: []Selector{{Source: inner}, {Source: stub{name: "c"}}}}
	must.Equal(t, must.Get(packageOf(t, outer))(t).Location.String(), "c")
}

func TestMultiSource_TellsWhichPatternsKeepASourceOut(t *testing.T) {
	source, asked := inOrder(stub{name: "a"}, stub{name: "b"})
	elsewhere := []Pattern{{Hostname: "other.example", Namespace: "*", Type: "*"}}
	source.Selectors[0].Include = elsewhere
	source.Selectors[1].Include, source.Selectors[1].Exclude = never, append(elsewhere, Pattern(widget))
	_, err := versionsOf(t, source)
	want := "provider registry.example/acme/widget was not found in any of the search locations\n\n" +
		"  - a: not included by \"other.example/*/*\"\n" +
		"  - b: excluded by \"registry.example/acme/widget\""
	must.Equal(t, fmt.Sprint(err), want)
	must.Len(t, *asked, 0)
}

func TestMultiSource_Suggests(t *testing.T) {
	other := widget
	other.Namespace = "other"
	source, asked := inOrder(stub{name: "a"}, stub{name: "b", suggests: widget}, stub{name: "c", suggests: other}, stub{name: "d"})
	source.Selectors[1].Exclude = never
	source.Selectors = slices.Insert(source.Selectors, 0, Selector{Source: &FilesystemMirrorSource{}})
	if got, ok := source.Describe(widget).Suggest(t.Context(), widget); !ok || got != other {
		t.Errorf("got %s, %t, want %s", got, ok, other)
	}
	must.EqualSlices(t, *asked, []string{"a", "c"})
	source.Selectors = source.Selectors[:2]
	if got, ok := source.Describe(widget).Suggest(t.Context(), widget); ok {
		t.Errorf("got %s of sources that know nothing", got)
	}
}
