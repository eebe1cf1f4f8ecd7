package terminal

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// Key identifies a package of a provider, or of modules.
type Key struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Module   string
	Dir      string // the directory of a package that is only verified, or the source of a package of modules
	Query    bool   // it is about the choice of the provider's version
}

// worthShowing is the size in bytes from which a download is shown to people, however fast it is.
const worthShowing = 1_000_000

// Task is the progress of a download or other work.
type Task struct {
	Key     Key
	Name    string   // for people
	Shorter []string // shorter forms of the name, the longest first
	counted bool     // it counts in the sums
	heard   bool     // it has begun; before that it waits for its turn
	shown   bool     // its first line was printed
	Over    bool
	ok      bool // it is over, and the package was fetched and published
	Phase   event.Phase

	Begun, since, Last time.Time // of the task, of its phase, of the last byte
	had                int64     // bytes that an earlier run kept
	Done, Total        int64     // bytes; total is -1 if unknown
	Came               int64     // bytes over the network, including repeated ones
	hashed             int64     // bytes that were hashed
	hashing            bool      // Done counts these bytes
	Told               time.Time // when it was last printed for programs
	pace               pace
}

// large reports whether it is shown to people however fast it is.
func (t *Task) large() bool { return max(t.Done, t.Total) >= worthShowing }

// Advance records the progress. If the server has another archive than
// before, the task starts again at 0.
func (t *Task) Advance(done, total int64, now time.Time) {
	if !t.heard {
		t.heard, t.Begun, t.since, t.Last = true, now, now, now
		t.had, t.Done = done, done
	}
	if t.hashing { // the verified package is damaged, and is fetched again
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

// Hash records how many bytes of a package were hashed.
func (t *Task) Hash(done int64, now time.Time) {
	t.hashed, t.Last, t.hashing = done, now, true
	if t.Done = done; t.Total >= 0 {
		t.Done = min(done, t.Total) // the central directory of an archive is read twice
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

// isHashed reports whether it is being hashed with known progress.
func (t *Task) isHashed() bool { return t.hashing && t.Phase == event.Verifying && t.Done < t.Total }

// left returns how much longer the download takes, or -1 if unknown.
func (t *Task) left(now time.Time) time.Duration { return timeLeft(t.Total-t.Done, t.pace.rate(now)) }

// Tasks has the running tasks, and sums of the ended ones.
type Tasks struct {
	Now       func() time.Time
	Running   []*Task          // in the order of their beginning
	Announced int              // the number of all tasks; 0 if unknown
	Awaited   int64            // bytes of the announced tasks; 0 if unknown
	Sizes     map[string]int64 // sizes of packages to verify, by their directory
	Ended     int              // the number of ended tasks that are counted
	endedDone int64            // bytes of these
	moved     int64            // bytes that ended tasks have downloaded or hashed
	Kept      int64            // bytes that a later run needn't download
	pace      pace
}

// Runs reports whether a task is running.
func (s *Tasks) Runs(t *Task) bool { return slices.Contains(s.Running, t) }

// Start begins a task, unless it is running.
func (s *Tasks) Start(t *Task, key Key, counted bool, name string, shorter ...string) {
	if !s.Runs(t) {
		*t = Task{Key: key, Name: name, Shorter: shorter, Total: -1}
		s.Running = append(s.Running, t)
	}
	t.counted = t.counted || counted || s.Announced > 0
}

// End ends a task; ok says that the package was fetched and published.
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

// measure records how many bytes were downloaded and hashed.
func (s *Tasks) measure(now time.Time) {
	moved := s.moved
	for _, t := range s.Running {
		moved += t.Came + t.hashed
	}
	s.pace.add(moved, now)
}

// sums are the known sums of all tasks.
type sums struct {
	tasks       int   // the number of all tasks
	done, total int64 // bytes; total is -1 if unknown
	about       bool  // tasks of unknown size are estimated by the average of the others
}

func (s *Tasks) sums() sums {
	all, known, endless := sums{tasks: s.Ended, done: s.endedDone, total: s.endedDone}, s.Ended, false
	for _, t := range s.Running {
		endless = endless || t.Key.Module != "" && t.Total < 0 // the size of a git repository is never known
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

// paceWindow is the minimum time over which a pace is measured, once that has passed.
const paceWindow = 3 * time.Second

// pace measures the rate of bytes over the last 3 to 6 seconds.
type pace struct {
	from, then, to sample
}

// sample is the number of bytes at a time.
type sample struct {
	at    time.Time
	bytes int64
}

// add records the current number of bytes.
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

// rate returns bytes per second, or 0 if unknown. While no bytes arrive, it goes down.
func (p *pace) rate(now time.Time) int64 {
	if now.Sub(p.to.at) < time.Second {
		now = p.to.at
	}
	return perSecond(p.to.bytes-p.from.bytes, now.Sub(p.from.at))
}

// timeLeft returns how long the bytes take, or -1 if unknown.
func timeLeft(bytes, rate int64) time.Duration {
	if bytes < 0 || rate <= 0 {
		return -1
	}
	return time.Duration(float64(bytes) / float64(rate) * float64(time.Second))
}

const (
	// barDelay is how long a task runs before it gets a bar. The bar of a shorter
	// one would only flicker.
	barDelay = 300 * time.Millisecond
	// smallDelay is the same for a task that isn't large.
	smallDelay = 2 * time.Second
	// stallDelay is how long no bytes arrive before that is shown.
	stallDelay = 5 * time.Second
)

// needsBar reports whether a task has run long enough to be shown.
func needsBar(t *Task, now time.Time) bool {
	delay := smallDelay
	if t.large() {
		delay = barDelay
	}
	return t.heard && now.Sub(t.Begun) >= delay
}
