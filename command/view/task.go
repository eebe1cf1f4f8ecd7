package view

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Key is what a package of a provider, or of modules, is known by. A zero version or platform
// stands for all of them when a task is looked for.
type Key struct {
	provider getproviders.Provider
	version  getproviders.Version
	platform getproviders.Platform
	module   string
	dir      string // of a package that is only verified
	query    bool   // it is about the choice of its version
}

func (k Key) matches(other Key) bool {
	return k.provider == other.provider && k.module == other.module &&
		(k.dir == other.dir || k.dir == "" || other.dir == "") &&
		(k.version == other.version || k.version == getproviders.Version{} || other.version == getproviders.Version{}) &&
		(k.platform == other.platform || k.platform == getproviders.Platform{} || other.platform == getproviders.Platform{})
}

// worthShowing is the size in bytes from which on people are shown a download, however fast it is.
const worthShowing = 1_000_000

// task is something that is under way.
type task struct {
	key     Key
	name    string // for people
	counted bool   // it is one of those that are counted
	heard   bool   // it has begun: before that, it waits for its turn
	shown   bool   // there was a line about its beginning
	over    bool
	ok      bool // it is over, and the package was fetched and is in its place
	phase   event.Phase

	begun, since, last time.Time // of the task, of its phase, of the last byte
	had                int64     // bytes that an earlier run had left
	done, total        int64     // bytes; total is -1 if unknown
	came               int64     // bytes over the network, those included that had to come again
	hashed             int64     // bytes that were read to verify it
	hashing            bool      // done is of these bytes
	told               time.Time // when programs were told of it last
	pace               pace
}

// large reports whether people want to see it, however short it is.
func (t *task) large() bool { return max(t.done, t.total) >= worthShowing }

// advance records how far it has come. A server that has another archive than
// before starts all over.
func (t *task) advance(done, total int64, now time.Time) {
	if !t.heard {
		t.heard, t.begun, t.since, t.last = true, now, now, now
		t.had, t.done = done, done
	}
	if t.hashing { // what was here isn't what it should be, and another package comes
		t.hashing, t.had, t.done, t.pace = false, done, done, pace{}
	}
	if done < t.done {
		t.done, t.had = 0, 0
	}
	if done > t.done {
		t.last = now
	}
	t.came += done - t.done
	t.done, t.total = done, total
	if t.phase != event.Downloading {
		t.phase, t.since = event.Downloading, now
	}
	t.pace.add(t.came, now)
}

// hash records how many bytes of a package were read that is verified.
func (t *task) hash(done int64, now time.Time) {
	t.hashed, t.last, t.hashing = done, now, true
	if t.done = done; t.total >= 0 {
		t.done = min(done, t.total) // an archive's directory is read twice
	}
	t.pace.add(done, now)
}

// enter begins a phase.
func (t *task) enter(phase event.Phase, now time.Time) {
	if !t.heard {
		t.heard, t.begun, t.last = true, now, now
	}
	if t.phase != phase || t.since.IsZero() {
		t.phase, t.since = phase, now
	}
}

// isHashed reports whether it is verified, and it is known how far that is.
func (t *task) isHashed() bool { return t.hashing && t.phase == event.Verifying && t.done < t.total }

// left is how much longer it takes to download it; -1: that isn't known.
func (t *task) left(now time.Time) time.Duration { return timeLeft(t.total-t.done, t.pace.rate(now)) }

// tasks are all that are under way, and what came of those before.
type tasks struct {
	now       func() time.Time
	running   []*task          // in the order of their beginning
	announced int              // how many there are going to be; 0: not known
	awaited   int64            // bytes of those that were announced; 0: not known
	sizes     map[string]int64 // of packages that are going to be verified, by their directory
	ended     int              // of those that are counted
	endedDone int64            // bytes of these
	moved     int64            // bytes that came or were read, of those that have ended
	kept      int64            // bytes that a later run needn't download
	pace      pace
}

// find returns a task that runs; nil: there is none.
func (s *tasks) find(key Key) *task {
	if i := slices.IndexFunc(s.running, func(t *task) bool { return key.matches(t.key) }); i >= 0 {
		return s.running[i]
	}
	return nil
}

// start returns the task of a key, which it makes if there is none.
func (s *tasks) start(key Key, name string, counted bool) *task {
	t := s.find(key)
	if t == nil {
		t = &task{key: key, name: name, total: -1}
		s.running = append(s.running, t)
	}
	if key.platform != (getproviders.Platform{}) {
		t.key, t.name = key, name
	}
	t.counted = t.counted || counted || s.announced > 0
	return t
}

// end removes a task; ok says that it was fetched and is in its place.
func (s *tasks) end(t *task, ok bool) {
	t.over, t.ok = true, ok
	s.running = slices.DeleteFunc(s.running, func(other *task) bool { return other == t })
	if !t.counted {
		return
	}
	s.ended++
	s.endedDone += max(t.done, t.total)
	s.moved += t.came + t.hashed
	if t.phase == event.Verifying && t.came == 0 {
		s.moved += max(t.total-t.hashed, 0)
	}
	if ok {
		s.kept += max(t.done, 0)
	}
}

// done is how many bytes all tasks have done.
func (s *tasks) done() (bytes int64) {
	for _, t := range s.running {
		if t.counted {
			bytes += t.done
		}
	}
	return s.endedDone + bytes
}

// measure takes note of how many bytes have moved.
func (s *tasks) measure(now time.Time) {
	moved := s.moved
	for _, t := range s.running {
		moved += t.came + t.hashed
	}
	s.pace.add(moved, now)
}

// count is how many tasks there are in all, as far as it is known.
func (s *tasks) count() (n int) {
	for _, t := range s.running {
		if t.counted {
			n++
		}
	}
	return max(s.announced, s.ended+n)
}

// total is how many bytes all tasks have in all; about: those whose size isn't known are taken for as large as the
// others. -1: nothing is known.
func (s *tasks) total() (bytes int64, about bool) {
	if s.awaited > 0 {
		return max(s.awaited, s.done()), false
	}
	bytes, known := s.endedDone, s.ended
	for _, t := range s.running {
		if t.key.module != "" && t.total < 0 { // a repository, of which it will never be known
			return -1, false
		}
		if t.counted && t.total >= 0 {
			bytes, known = bytes+t.total, known+1
		}
	}
	if missing := s.count() - known; missing > 0 && known > 0 {
		return max(bytes+bytes/int64(known)*int64(missing), s.done()), true
	}
	if known == 0 {
		return -1, false
	}
	return max(bytes, s.done()), false
}

// paceWindow is how long a pace is measured at least, where it has lasted as long.
const paceWindow = 3 * time.Second

// pace measures how fast bytes come, over the last 3 to 6 seconds.
type pace struct {
	from, then, to sample
}

// sample says how many bytes there were at a time.
type sample struct {
	at    time.Time
	bytes int64
}

// add records how many bytes there are now.
func (p *pace) add(bytes int64, now time.Time) {
	s := sample{now, bytes}
	if p.from.at.IsZero() {
		p.from, p.then = s, s
	}
	if now.Sub(p.then.at) >= paceWindow {
		p.from, p.then = p.then, s
	}
	p.to = s
}

// rate is how many bytes come in a second; 0 if it isn't known. While nothing comes, it goes down.
func (p *pace) rate(now time.Time) int64 {
	if now.Sub(p.to.at) < time.Second {
		now = p.to.at
	}
	return perSecond(p.to.bytes-p.from.bytes, now.Sub(p.from.at))
}

// timeLeft is how long so many bytes take; -1: that isn't known.
func timeLeft(bytes, rate int64) time.Duration {
	if bytes < 0 || rate <= 0 {
		return -1
	}
	return time.Duration(float64(bytes) / float64(rate) * float64(time.Second))
}
