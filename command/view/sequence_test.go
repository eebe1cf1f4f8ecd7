package view

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

var (
	alpha   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "alpha"}
	beta    = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "beta"}
	gamma   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "gamma"}
	builtIn = getproviders.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"}
)

// names makes events short enough for tables.
func names(events ...event.Event) string {
	var texts []string
	for _, e := range events {
		kind := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", e), "event."), "Event")
		texts = append(texts, strings.ToLower(kind)+" "+e.Provider().Type)
	}
	return strings.Join(texts, ", ")
}

func pending(providers ...getproviders.Provider) event.QueuedEvent {
	req := getproviders.Requirements{}
	for _, p := range providers {
		req[p] = []getproviders.Requirement{{}}
	}
	return event.QueuedEvent{Requirements: req}
}

func TestSequence_ReleasesAsEarlyAsTheOrderAllows(t *testing.T) {
	steps := []struct {
		event event.Event
		want  string
	}{
		{pending(gamma, alpha, builtIn, beta), ""},
		{event.QueryEvent{Addr: beta}, ""},
		{event.QueryEvent{Addr: alpha}, ""},
		{event.BuiltInEvent{Addr: builtIn}, "builtin terraform, query alpha, query beta"},
		{event.FetchingEvent{Addr: beta}, ""},
		{event.FetchingEvent{Addr: alpha}, ""},
		{event.ProgressEvent{Addr: alpha, Done: 1, Total: 2}, ""},
		{event.SelectedEvent{Addr: gamma}, ""},
		{event.QueryEvent{Addr: gamma}, "query gamma, fetching alpha"},
		{event.FetchedEvent{Addr: beta}, ""},
		{event.PresentEvent{Addr: gamma}, ""},
		{event.FetchedEvent{Addr: alpha}, "fetched alpha, fetching beta, fetched beta, present gamma"},
		{event.FetchedEvent{Addr: alpha}, ""}, // it isn't waited for any more
	}
	var s sequence
	for i, step := range steps {
		if got := names(s.add(step.event)...); got != step.want {
			t.Errorf("step %d, %s: released %q, want %q", i, names(step.event), got, step.want)
		}
	}
	if rest := s.rest(); len(rest) > 0 {
		t.Errorf("%q were held back", names(rest...))
	}
}

func TestSequence_DoesNotWaitForWhatFailed(t *testing.T) {
	failed := func(p getproviders.Provider) event.Event {
		return event.FailedEvent{Addr: p, Err: errors.New("no")}
	}
	for want, events := range map[string][]event.Event{
		// before its query
		"query beta, failed alpha, present beta": {
			pending(alpha, beta), event.QueryEvent{Addr: beta}, failed(alpha), event.PresentEvent{Addr: beta},
		},
		// while it was fetched
		"query alpha, query beta, fetching alpha, failed alpha, present beta": {
			pending(alpha, beta), event.QueryEvent{Addr: beta}, event.QueryEvent{Addr: alpha},
			event.PresentEvent{Addr: beta}, event.FetchingEvent{Addr: alpha}, failed(alpha),
		},
		// a built-in one
		"query alpha, present alpha": {
			pending(alpha, builtIn), event.QueryEvent{Addr: alpha}, failed(builtIn), event.PresentEvent{Addr: alpha},
		},
	} {
		var s sequence
		var got []event.Event
		for _, e := range events {
			got = append(got, s.add(e)...)
		}
		if names(got...) != want {
			t.Errorf("released %q, want %q", names(got...), want)
		}
	}
}

func TestSequence_GivesUpTheRestInOrder(t *testing.T) {
	var s sequence
	s.add(pending(alpha, beta, gamma))
	s.add(event.QueryEvent{Addr: gamma})
	s.add(event.QueryEvent{Addr: beta})
	s.add(event.FetchingEvent{Addr: beta})
	if got, want := names(s.rest()...), "query beta, query gamma, fetching beta"; got != want {
		t.Errorf("the rest is %q, want %q", got, want)
	}
}

// Events of one provider come in order, but those of several come in any order, on which the
// output must not depend.
func TestSequence_IsTheSameForEveryInterleaving(t *testing.T) {
	streams := [][]event.Event{
		{event.BuiltInEvent{Addr: builtIn}},
		{
			event.QueryEvent{Addr: alpha}, event.SelectedEvent{Addr: alpha},
			event.FetchingEvent{Addr: alpha}, event.FetchedEvent{Addr: alpha},
		},
		{
			event.QueryEvent{Addr: beta}, event.WarningEvent{Addr: beta},
			event.PresentEvent{Addr: beta},
		},
		{
			event.QueryEvent{Addr: gamma},
			event.FetchingEvent{Addr: gamma}, event.FailedEvent{Addr: gamma},
		},
	}
	const want = "builtin terraform, query alpha, query beta, query gamma, " +
		"fetching alpha, fetched alpha, warning beta, present beta, fetching gamma, failed gamma"
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var s sequence
		got := s.add(pending(alpha, beta, gamma, builtIn))
		left := slices.Clone(streams)
		for len(left) > 0 {
			i := random.IntN(len(left))
			got = append(got, s.add(left[i][0])...)
			if left[i] = left[i][1:]; len(left[i]) == 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		if names(got...) != want {
			t.Fatalf("released %q, want %q", names(got...), want)
		}
	}
}
