package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// summary is what the last line of a run tells: how many providers and modules
// there are, where they came from, and how long it took.
type summary struct {
	begun     time.Time
	providers map[getproviders.Provider]arrival
	modules   int  // that are called
	fetched   int  // of them
	changed   bool // something else was done than looking
	builtIn   int  // providers that are part of the product
	failed    map[getproviders.Provider]bool
	errors    int // that were shown
	warnings  int
}

// arrival is how a package came into its place.
type arrival struct {
	way    way
	source string // of a download
	bytes  int64  // of a download, that came over the network
}

type way int

const (
	inPlace way = iota // it had been there
	fromCache
	fromLocal // from directories of this machine
	downloaded
)

// observe takes an event in; came is how many bytes came over the network for it.
// A package that was put into its place stays so, whatever a second look at
// it finds.
func (s *summary) observe(e event.Event, came int64) {
	switch e := e.(type) {
	case event.PresentEvent:
		if _, known := s.providers[e.Addr]; !known {
			s.providers[e.Addr] = arrival{way: inPlace}
		}
	case event.BuiltInEvent:
		s.builtIn++
	case event.FailedEvent:
		s.failed[e.Addr] = true
		delete(s.providers, e.Addr)
	case event.LinkedEvent:
		s.providers[e.Addr] = arrival{way: fromCache}
	case event.FetchingEvent:
		s.providers[e.Addr] = arrival{way: wayOf(e.Location), source: Printable(nameOfSource(e.Source))}
	case event.FetchedEvent:
		arrived := s.providers[e.Addr]
		arrived.bytes = came
		s.providers[e.Addr] = arrived
	}
}

func (s *summary) observeModules(e modules.Event) {
	s.changed = true
	if _, ok := e.(modules.Downloading); ok {
		s.fetched++
	}
}

func wayOf(at getproviders.Location) way {
	switch at.(type) {
	case getproviders.LocalArchive, getproviders.LocalDirectory:
		return fromLocal
	}
	return downloaded
}

// nameOfSource is what a source is called where it is clear what it is: the
// host of a registry, the URL of a mirror.
func nameOfSource(source string) string {
	for _, kind := range []string{"registry ", "provider mirror at "} {
		if name, ok := strings.CutPrefix(source, kind); ok {
			return name
		}
	}
	return source
}

// text is the line.
func (s *summary) text(now time.Time) string {
	what, took := count(len(s.providers), "provider"), seconds(now.Sub(s.begun))
	if s.modules > 0 {
		what += ", " + count(s.modules, "module")
	}
	if !s.changed && s.number(inPlace) == len(s.providers) {
		return fmt.Sprintf("Checked %s in %s: nothing to do", what, took)
	}
	text := fmt.Sprintf("%s ready in %s", what, took)
	if parts := s.parts(); len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// parts say how many came in which way.
func (s *summary) parts() (parts []string) {
	if n := s.number(downloaded); n > 0 {
		parts = append(parts, fmt.Sprintf("%d downloaded (%s)", n, s.sources()))
	}
	if n := s.number(fromLocal); n > 0 {
		parts = append(parts, fmt.Sprintf("%d from local directories", n))
	}
	if n := s.number(fromCache); n > 0 {
		parts = append(parts, fmt.Sprintf("%d from the cache", n))
	}
	if n := s.number(inPlace); n > 0 {
		parts = append(parts, fmt.Sprintf("%d in place already", n))
	}
	if s.fetched > 0 {
		parts = append(parts, count(s.fetched, "module")+" fetched")
	}
	return parts
}

func (s *summary) number(by way) (n int) {
	for _, arrived := range s.providers {
		if arrived.way == by {
			n++
		}
	}
	return n
}

// sources says how much was downloaded from where, the most first.
func (s *summary) sources() string {
	bytes := map[string]int64{}
	for _, arrived := range s.providers {
		if arrived.way == downloaded {
			bytes[arrived.source] += arrived.bytes
		}
	}
	var names []string
	for name := range bytes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = megabytes(bytes[name])
		if name != "" {
			names[i] += " from " + name
		}
	}
	return strings.Join(names, ", ")
}
