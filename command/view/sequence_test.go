package view

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

var (
	alpha   = acme("alpha")
	beta    = acme("beta")
	gamma   = acme("gamma")
	builtIn = getproviders.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"}
)

func acme(name string) getproviders.Provider {
	return getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: name}
}

// recorded is a record that has seen events.
func recorded(events ...event.Event) *run {
	r := newRun(Options{Names: asTerraform})
	for _, e := range events {
		r.observe(e)
	}
	return r
}

// names shortens lines for tables.
func names(lines []line) string {
	var texts []string
	for _, l := range lines {
		_, name, _ := strings.Cut(l.human+l.json, "acme/")
		name = strings.FieldsFunc(name+" terraform", func(r rune) bool { return !unicode.IsLetter(r) })[0]
		switch {
		case l.kind == "package":
			texts = append(texts, fmt.Sprint(l.keys[3], " ", name))
		case strings.HasPrefix(l.human, "Finding"):
			texts = append(texts, "query "+name)
		case strings.HasPrefix(l.human, "Installing"):
			texts = append(texts, "fetching "+name)
		}
	}
	return strings.Join(texts, ", ")
}

// on returns an event about a provider. Each further value sets the field of its type: a text is a path or
// source, numbers are bytes, and an error after a link mode is its reason.
func on(kind event.Kind, p getproviders.Provider, more ...any) event.Event {
	e := event.Event{Kind: kind, Outcome: event.Outcome{Selection: getproviders.Selection{Provider: p}}}
	for _, value := range more {
		switch v := value.(type) {
		case getproviders.Version:
			e.Version = v
		case getproviders.Platform:
			e.Platform = v
		case getproviders.Constraints:
			e.Constraints = v
		case getproviders.AuthenticationResult:
			e.Authentication = v
		case event.State:
			e.State = v
		case event.Phase:
			e.Phase = v
		case providercache.LinkMode:
			e.Link = v
		case error:
			if e.Err = v; e.Link != 0 {
				e.Err, e.LinkReason = nil, v
			}
		case bool:
			e.Locked = v
		case string:
			e.Path, e.Source = v, v
		case []string:
			e.Warnings = v
		case [2]int64:
			e.Done, e.Total = v[0], v[1]
		case getproviders.Location: // the last case, because any value with a String method is a Location
			e.Package.Location = v
		default:
			panic(fmt.Sprintf("an event has no %T", value))
		}
	}
	return e
}

// of returns an event with a given outcome.
func of(kind event.Kind, o event.Outcome) event.Event { return event.Event{Kind: kind, Outcome: o} }

// ended is the last event about a provider.
func ended(state event.State, p getproviders.Provider, more ...any) event.Event {
	return on(event.Done, p, append(more, state)...)
}

func pending(providers ...getproviders.Provider) event.Event {
	req := getproviders.Requirements{}
	for _, p := range providers {
		req[p] = []getproviders.Requirement{{}}
	}
	return event.Event{Kind: event.Queued, Requirements: req}
}

func TestSequence_ReleasesAsEarlyAsTheOrderAllows(t *testing.T) {
	steps := []struct {
		event event.Event
		want  string
	}{
		{pending(gamma, alpha, builtIn, beta), ""},
		{on(event.Query, beta), ""},
		{on(event.Query, alpha), ""},
		{ended(event.BuiltIn, builtIn), "built_in terraform, query alpha, query beta"},
		{on(event.Fetching, beta), ""},
		{on(event.Fetching, alpha), ""},
		{on(event.Progress, alpha, [2]int64{1, 2}), ""},
		{on(event.Selected, gamma), ""},
		{on(event.Query, gamma), "query gamma, fetching alpha"},
		{ended(event.Fetched, beta), ""},
		{ended(event.Present, gamma), ""},
		{ended(event.Fetched, alpha), "fetched alpha, fetching beta, fetched beta, present gamma"},
		{ended(event.Fetched, alpha), ""}, // it isn't waited for any more
	}
	r := recorded()
	for i, step := range steps {
		r.observe(step.event)
		must.Equal(t, names(r.turns.take()), step.want, i, step.event)
	}
	must.Len(t, r.turns.rest(), 0, "held back")
}

func TestSequence_DoesNotWaitForWhatFailed(t *testing.T) {
	failed := func(p getproviders.Provider) event.Event {
		return ended(event.Failed, p, errors.New("no"))
	}
	for want, events := range map[string][]event.Event{
		// before its query
		"query beta, failed alpha, present beta": {
			pending(alpha, beta), on(event.Query, beta), failed(alpha), ended(event.Present, beta),
		},
		// while it was fetched
		"query alpha, query beta, fetching alpha, failed alpha, present beta": {
			pending(alpha, beta), on(event.Query, beta), on(event.Query, alpha),
			ended(event.Present, beta), on(event.Fetching, alpha), failed(alpha),
		},
		// a built-in one
		"query alpha, present alpha": {
			pending(alpha, builtIn), on(event.Query, alpha), failed(builtIn), ended(event.Present, alpha),
		},
	} {
		r := recorded()
		var got []line
		for _, e := range events {
			r.observe(e)
			got = append(got, r.turns.take()...)
		}
		must.Equal(t, names(got), want)
	}
}

func TestSequence_GivesUpTheRestInOrder(t *testing.T) {
	r := recorded(pending(alpha, beta, gamma), on(event.Query, gamma), on(event.Query, beta), on(event.Fetching, beta))
	must.Equal(t, names(r.turns.rest()), "query beta, query gamma, fetching beta")
}

// Events of one provider are in order, but those of several interleave in any way, on which the
// output must not depend.
func TestSequence_IsTheSameForEveryInterleaving(t *testing.T) {
	streams := [][]event.Event{
		{ended(event.BuiltIn, builtIn)},
		{
			on(event.Query, alpha), on(event.Selected, alpha),
			on(event.Fetching, alpha), ended(event.Fetched, alpha),
		},
		{
			on(event.Query, beta), on(event.Warning, beta),
			ended(event.Present, beta),
		},
		{
			on(event.Query, gamma), on(event.Warning, gamma),
			on(event.Fetching, gamma), ended(event.Failed, gamma, errors.New("no")),
		},
	}
	const want = "built_in terraform, query alpha, query beta, query gamma, " +
		"fetching alpha, fetched alpha, present beta, fetching gamma, failed gamma"
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		r := recorded(pending(alpha, beta, gamma, builtIn))
		got := r.turns.take()
		left := slices.Clone(streams)
		for len(left) > 0 {
			i := random.IntN(len(left))
			r.observe(left[i][0])
			got = append(got, r.turns.take()...)
			if left[i] = left[i][1:]; len(left[i]) == 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		must.Equal(t, names(got), want)
		if told := r.takeWarnings(); len(told) != 2 || !strings.Contains(told[0].Detail, "beta") || !strings.Contains(told[1].Detail, "gamma") {
			t.Fatalf("warnings: %v", told)
		}
	}
}
