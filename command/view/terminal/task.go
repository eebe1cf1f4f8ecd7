package terminal

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Key is what a package of a provider, or of modules, is known by.
type Key struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Module   string
	Dir      string // of a package that is only verified, and the source of a package of modules
	Query    bool   // it is about the choice of its version
}

// worthShowing is the size in bytes from which on people are shown a download, however fast it is.
const worthShowing = 1_000_000

// Task is how far something is that is, or was, under way.
type Task struct {
	Key     Key
	Name    string   // for people
	Shorter []string // forms of the name for where there is less room, the longest first
	counted bool     // it is one of those that are counted
	heard   bool     // it has begun: before that, it waits for its turn
	shown   bool     // there was a line about its beginning
	Over    bool
	ok      bool // it is over, and the package was fetched and is in its place
	Phase   event.Phase

	Begun, since, Last time.Time // of the task, of its phase, of the last byte
	had                int64     // bytes that an earlier run had left
	Done, Total        int64     // bytes; total is -1 if unknown
	Came               int64     // bytes over the network, those included that had to come again
	hashed             int64     // bytes that were read to verify it
	hashing            bool      // done is of these bytes
	Told               time.Time // when programs were told of it last
	pace               pace
}

// large reports whether people want to see it, however short it is.
func (t *Task) large() bool { return max(t.Done, t.Total) >= worthShowing }

// Advance records how far it has come. A server that has another archive than
// before starts all over.
func (t *Task) Advance(done, total int64, now time.Time) {
	if !t.heard {
		t.heard, t.Begun, t.since, t.Last = true, now, now, now
		t.had, t.Done = done, done
	}
	if t.hashing { // what was here isn't what it should be, and another package comes
		t.hashing, t.had, t.Done, t.pace = false, done, done, pace{}
	}
	if done < t.Done {
		t.Done, t.had = 0, 0
	}
	if done > t.Done {
		t.Last = now
	}
	t.Came += done - t.Done
	t.Done, t.Total = done, total
	if t.Phase != event.Downloading {
		t.Phase, t.since = event.Downloading, now
	}
	t.pace.add(t.Came, now)
}

// Hash records how many bytes of a package were read that is verified.
func (t *Task) Hash(done int64, now time.Time) {
	t.hashed, t.Last, t.hashing = done, now, true
	if t.Done = done; t.Total >= 0 {
		t.Done = min(done, t.Total) // an archive's directory is read twice
	}
	t.pace.add(done, now)
}

// Enter begins a phase.
func (t *Task) Enter(phase event.Phase, now time.Time) {
	if !t.heard {
		t.heard, t.Begun, t.Last = true, now, now
	}
	if t.Phase != phase || t.since.IsZero() {
		t.Phase, t.since = phase, now
	}
}

// isHashed reports whether it is verified, and it is known how far that is.
func (t *Task) isHashed() bool { return t.hashing && t.Phase == event.Verifying && t.Done < t.Total }

// left is how much longer it takes to download it; -1: that isn't known.
func (t *Task) left(now time.Time) time.Duration { return timeLeft(t.Total-t.Done, t.pace.rate(now)) }

// Tasks are all that are under way, and what came of those before.
type Tasks struct {
	Now       func() time.Time
	Running   []*Task          // in the order of their beginning
	Announced int              // how many there are going to be; 0: not known
	Awaited   int64            // bytes of those that were announced; 0: not known
	Sizes     map[string]int64 // of packages that are going to be verified, by their directory
	Ended     int              // of those that are counted
	endedDone int64            // bytes of these
	moved     int64            // bytes that came or were read, of those that have ended
	Kept      int64            // bytes that a later run needn't download
	pace      pace
}

// Runs reports whether a task is under way.
func (s *Tasks) Runs(t *Task) bool { return slices.Contains(s.Running, t) }

// Start begins a task, or goes on with it.
func (s *Tasks) Start(t *Task, key Key, counted bool, name string, shorter ...string) {
	if !s.Runs(t) {
		*t = Task{Key: key, Name: name, Shorter: shorter, Total: -1}
		s.Running = append(s.Running, t)
	}
	t.counted = t.counted || counted || s.Announced > 0
}

// End removes a task; ok says that it was fetched and is in its place.
func (s *Tasks) End(t *Task, ok bool) {
	t.Over, t.ok = true, ok
	s.Running = slices.DeleteFunc(s.Running, func(other *Task) bool { return other == t })
	if !t.counted {
		return
	}
	s.Ended++
	s.endedDone += max(t.Done, t.Total)
	s.moved += t.Came + t.hashed
	if t.Phase == event.Verifying && t.Came == 0 {
		s.moved += max(t.Total-t.hashed, 0)
	}
	if ok {
		s.Kept += max(t.Done, 0)
	}
}

// measure takes note of how many bytes have moved.
func (s *Tasks) measure(now time.Time) {
	moved := s.moved
	for _, t := range s.Running {
		moved += t.Came + t.hashed
	}
	s.pace.add(moved, now)
}

// sums are those of all tasks, as far as they are known.
type sums struct {
	tasks       int   // in all
	done, total int64 // bytes; total is -1 if it isn't known
	about       bool  // those whose size isn't known are taken for as large as the others
}

func (s *Tasks) sums() sums {
	all, known, endless := sums{tasks: s.Ended, done: s.endedDone, total: s.endedDone}, s.Ended, false
	for _, t := range s.Running {
		endless = endless || t.Key.Module != "" && t.Total < 0 // a repository, of which it will never be known
		if !t.counted {
			continue
		}
		all.tasks, all.done = all.tasks+1, all.done+t.Done
		if t.Total >= 0 {
			all.total, known = all.total+t.Total, known+1
		}
	}
	all.tasks = max(s.Announced, all.tasks)
	switch missing := all.tasks - known; {
	case s.Awaited > 0:
		all.total = s.Awaited
	case endless || known == 0:
		all.total = -1
		return all
	case missing > 0:
		all.total, all.about = all.total+all.total/int64(known)*int64(missing), true
	}
	all.total = max(all.total, all.done)
	return all
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

const (
	// barDelay is how long a task runs before it gets a bar. What is over
	// sooner would only flicker.
	barDelay = 300 * time.Millisecond
	// smallDelay is the same for what isn't large.
	smallDelay = 2 * time.Second
	// stallDelay is how long nothing comes before that is said.
	stallDelay = 5 * time.Second
)

// needsBar reports whether people want to see a task.
func needsBar(t *Task, now time.Time) bool {
	delay := smallDelay
	if t.large() {
		delay = barDelay
	}
	return t.heard && now.Sub(t.Begun) >= delay
}
