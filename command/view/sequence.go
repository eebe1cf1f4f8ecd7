package view

import (
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// sequence puts the events of an installation in one order: first the built-in
// providers, then the beginnings of all queries, then all other events, each
// in the order of the providers' addresses. Events of one provider keep their
// own order. An event is released as soon as nothing that comes before it can
// come any more.
type sequence struct {
	builtIn, queries, installs queue
}

// begin is told what is going to happen.
func (s *sequence) begin(req getproviders.Requirements) {
	for _, p := range req.Providers() {
		if p.IsBuiltIn() {
			s.builtIn.expect(p)
			continue
		}
		s.queries.expect(p)
		s.installs.expect(p)
	}
}

// add takes an event in and returns those that may be told now.
func (s *sequence) add(e providercache.Event) []providercache.Event {
	switch e := e.(type) {
	case providercache.Pending:
		s.begin(e.Requirements)
	case providercache.BuiltInAvailable:
		s.builtIn.put(e.Provider, e, true)
	case providercache.QueryBegin:
		s.queries.put(e.Provider, e, true)
	case providercache.QueryWarning:
		s.installs.put(e.Provider, e, false)
	case providercache.AlreadyInstalled:
		s.installs.put(e.Provider, e, true)
	case providercache.LinkedFromCache:
		s.installs.put(e.Provider, e, true)
	case providercache.FetchBegin:
		s.installs.put(e.Provider, e, false)
	case providercache.FetchDone:
		s.installs.put(e.Provider, e, true)
	case providercache.Failed:
		s.end(e)
	}
	return s.release()
}

// end lets nobody wait for a provider that failed.
func (s *sequence) end(e providercache.Failed) {
	s.builtIn.put(e.Provider, nil, true)
	s.queries.put(e.Provider, nil, true)
	s.installs.put(e.Provider, e, true)
}

func (s *sequence) release() []providercache.Event {
	var out []providercache.Event
	for _, q := range []*queue{&s.builtIn, &s.queries, &s.installs} {
		out = append(out, q.take()...)
		if !q.empty() {
			break
		}
	}
	return out
}

// rest returns what was held back, for there will be no more events: a run
// that was interrupted doesn't finish every provider.
func (s *sequence) rest() []providercache.Event {
	var out []providercache.Event
	for _, q := range []*queue{&s.builtIn, &s.queries, &s.installs} {
		for i := range *q {
			out = append(out, (*q)[i].events...)
		}
		*q = nil
	}
	return out
}

// queue holds the events of providers, in the order of the providers.
type queue []place

// place is a provider's place in a queue.
type place struct {
	provider getproviders.Provider
	events   []providercache.Event
	done     bool // no further event will come here
}

func (q queue) empty() bool { return len(q) == 0 }

func (q *queue) expect(p getproviders.Provider) { *q = append(*q, place{provider: p}) }

// put stores an event, if it is one (nil is none); last says that it is the
// provider's last one here. Events of a provider that isn't expected, or not
// any more, are dropped.
func (q queue) put(p getproviders.Provider, e providercache.Event, last bool) {
	i := slices.IndexFunc(q, func(pl place) bool { return pl.provider == p })
	if i < 0 {
		return
	}
	if e != nil {
		q[i].events = append(q[i].events, e)
	}
	q[i].done = q[i].done || last
}

// take removes and returns what is at the front.
func (q *queue) take() []providercache.Event {
	var out []providercache.Event
	for len(*q) > 0 {
		front := &(*q)[0]
		out = append(out, front.events...)
		front.events = nil
		if !front.done {
			break
		}
		*q = (*q)[1:]
	}
	return out
}
