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
	"github.com/tfdeps/tfdeps/providercache/event"
)

var (
	alpha   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "alpha"}
	beta    = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "beta"}
	gamma   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "gamma"}
	builtIn = getproviders.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"}
)

// recorded is a record that has seen events.
func recorded(events ...event.Event) *run {
	r := newRun(Options{Product: getproviders.Terraform("1.15.9")})
	for _, e := range events {
		r.observe(e)
	}
	return r
}

// names makes lines short enough for tables.
func names(lines []line) string {
	var texts []string
	for _, l := range lines {
		_, name, _ := strings.Cut(l.human+l.json, "acme/")
		name = strings.FieldsFunc(name+" terraform", func(r rune) bool { return !unicode.IsLetter(r) })[0]
		switch {
		case l.kind == "package":
			texts = append(texts, fmt.Sprint(l.keys[3], " ", name))
		case strings.HasPrefix(l.human, "- Finding"):
			texts = append(texts, "query "+name)
		case strings.HasPrefix(l.human, "- Installing"):
			texts = append(texts, "fetching "+name)
		}
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
		{event.BuiltInEvent{Addr: builtIn}, "built_in terraform, query alpha, query beta"},
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
	r := recorded()
	for i, step := range steps {
		r.observe(step.event)
		if got := names(r.turns.take()); got != step.want {
			t.Errorf("step %d, %T: released %q, want %q", i, step.event, got, step.want)
		}
	}
	if rest := r.turns.rest(); len(rest) > 0 {
		t.Errorf("%q were held back", names(rest))
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
		r := recorded()
		var got []line
		for _, e := range events {
			r.observe(e)
			got = append(got, r.turns.take()...)
		}
		if names(got) != want {
			t.Errorf("released %q, want %q", names(got), want)
		}
	}
}

func TestSequence_GivesUpTheRestInOrder(t *testing.T) {
	r := recorded(pending(alpha, beta, gamma), event.QueryEvent{Addr: gamma}, event.QueryEvent{Addr: beta}, event.FetchingEvent{Addr: beta})
	if got, want := names(r.turns.rest()), "query beta, query gamma, fetching beta"; got != want {
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
			event.QueryEvent{Addr: gamma}, event.WarningEvent{Addr: gamma},
			event.FetchingEvent{Addr: gamma}, event.FailedEvent{Addr: gamma, Err: errors.New("no")},
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
		if names(got) != want {
			t.Fatalf("released %q, want %q", names(got), want)
		}
		if told := r.takeWarnings(); len(told) != 2 || !strings.Contains(told[0].Detail, "beta") || !strings.Contains(told[1].Detail, "gamma") {
			t.Fatalf("warnings: %v", told)
		}
	}
}
