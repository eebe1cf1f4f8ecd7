package view

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

var (
	alpha   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "alpha"}
	beta    = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "beta"}
	gamma   = getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "gamma"}
	builtIn = getproviders.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: "terraform"}
)

// name makes events short enough for tables.
func name(e providercache.Event) string {
	switch e := e.(type) {
	case providercache.BuiltInAvailable:
		return "builtin " + e.Provider.Type
	case providercache.QueryBegin:
		return "query " + e.Provider.Type
	case providercache.QueryWarning:
		return "warning " + e.Provider.Type
	case providercache.AlreadyInstalled:
		return "present " + e.Provider.Type
	case providercache.FetchBegin:
		return "fetch " + e.Provider.Type
	case providercache.FetchDone:
		return "done " + e.Provider.Type
	case providercache.Failed:
		return "failed " + e.Provider.Type
	}
	return fmt.Sprintf("%T", e)
}

func names(events []providercache.Event) string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = name(e)
	}
	return strings.Join(texts, ", ")
}

func pending(providers ...getproviders.Provider) providercache.Pending {
	req := getproviders.Requirements{}
	for _, p := range providers {
		req[p] = []getproviders.Requirement{{}}
	}
	return providercache.Pending{Requirements: req}
}

func TestSequence_ReleasesAsEarlyAsTheOrderAllows(t *testing.T) {
	steps := []struct {
		event providercache.Event
		want  string
	}{
		{pending(gamma, alpha, builtIn, beta), ""},
		{providercache.QueryBegin{Provider: beta}, ""},
		{providercache.QueryBegin{Provider: alpha}, ""},
		{providercache.BuiltInAvailable{Provider: builtIn}, "builtin terraform, query alpha, query beta"},
		{providercache.FetchBegin{Provider: beta}, ""},
		{providercache.FetchBegin{Provider: alpha}, ""},
		{providercache.FetchProgress{Provider: alpha, Done: 1, Total: 2}, ""},
		{providercache.QueryDone{Provider: gamma}, ""},
		{providercache.QueryBegin{Provider: gamma}, "query gamma, fetch alpha"},
		{providercache.FetchDone{Provider: beta}, ""},
		{providercache.AlreadyInstalled{Provider: gamma}, ""},
		{providercache.FetchDone{Provider: alpha}, "done alpha, fetch beta, done beta, present gamma"},
		{providercache.FetchDone{Provider: alpha}, ""}, // nobody waits for it any more
	}
	var s sequence
	for i, step := range steps {
		if got := names(s.add(step.event)); got != step.want {
			t.Errorf("step %d, %s: released %q, want %q", i, name(step.event), got, step.want)
		}
	}
	if rest := s.rest(); len(rest) > 0 {
		t.Errorf("%q were held back", names(rest))
	}
}

func TestSequence_DoesNotWaitForWhatFailed(t *testing.T) {
	failed := func(p getproviders.Provider) providercache.Event {
		return providercache.Failed{Provider: p, Err: errors.New("no")}
	}
	tests := []struct {
		name   string
		events []providercache.Event
		want   string
	}{
		{
			"before its query",
			[]providercache.Event{
				pending(alpha, beta), providercache.QueryBegin{Provider: beta}, failed(alpha),
				providercache.AlreadyInstalled{Provider: beta},
			},
			"query beta, failed alpha, present beta",
		},
		{
			"while it was fetched",
			[]providercache.Event{
				pending(alpha, beta), providercache.QueryBegin{Provider: beta}, providercache.QueryBegin{Provider: alpha},
				providercache.AlreadyInstalled{Provider: beta}, providercache.FetchBegin{Provider: alpha}, failed(alpha),
			},
			"query alpha, query beta, fetch alpha, failed alpha, present beta",
		},
		{
			"a built-in one",
			[]providercache.Event{
				pending(alpha, builtIn), providercache.QueryBegin{Provider: alpha}, failed(builtIn),
				providercache.AlreadyInstalled{Provider: alpha},
			},
			"query alpha, present alpha",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s sequence
			var got []providercache.Event
			for _, e := range tt.events {
				got = append(got, s.add(e)...)
			}
			if names(got) != tt.want {
				t.Errorf("released %q, want %q", names(got), tt.want)
			}
		})
	}
}

func TestSequence_GivesUpTheRestInOrder(t *testing.T) {
	var s sequence
	s.add(pending(alpha, beta, gamma))
	s.add(providercache.QueryBegin{Provider: gamma})
	s.add(providercache.QueryBegin{Provider: beta})
	s.add(providercache.FetchBegin{Provider: beta})
	if got, want := names(s.rest()), "query beta, query gamma, fetch beta"; got != want {
		t.Errorf("the rest is %q, want %q", got, want)
	}
}

// Events of one provider come in order, but those of several come in any:
// what is told must not depend on it.
func TestSequence_IsTheSameForEveryInterleaving(t *testing.T) {
	streams := [][]providercache.Event{
		{providercache.BuiltInAvailable{Provider: builtIn}},
		{
			providercache.QueryBegin{Provider: alpha}, providercache.QueryDone{Provider: alpha},
			providercache.FetchBegin{Provider: alpha}, providercache.FetchDone{Provider: alpha},
		},
		{
			providercache.QueryBegin{Provider: beta}, providercache.QueryWarning{Provider: beta},
			providercache.AlreadyInstalled{Provider: beta},
		},
		{
			providercache.QueryBegin{Provider: gamma},
			providercache.FetchBegin{Provider: gamma}, providercache.Failed{Provider: gamma},
		},
	}
	const want = "builtin terraform, query alpha, query beta, query gamma, " +
		"fetch alpha, done alpha, warning beta, present beta, fetch gamma, failed gamma"
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
		if names(got) != want {
			t.Fatalf("released %q, want %q", names(got), want)
		}
	}
}
