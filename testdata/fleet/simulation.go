package main

import "container/heap"

// simulation is a discrete-event simulation: a clock that jumps from one event to the next.
type simulation struct {
	now    float64 // in seconds
	events events
	made   int // the number of events made, which orders events of the same time
}

type event struct {
	when  float64
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].when < e[j].when || e[i].when == e[j].when && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// after runs do after so many seconds.
func (s *simulation) after(seconds float64, do func()) {
	s.made++
	heap.Push(&s.events, event{when: s.now + max(seconds, 0), order: s.made, do: do})
}

// run runs all events.
func (s *simulation) run() {
	for len(s.events) > 0 {
		next := heap.Pop(&s.events).(event)
		s.now = next.when
		next.do()
	}
}

// link is a resource that transfers share equally: a network, or the cores of a machine. A transfer gets
// its share of the capacity, but at most the limit of one transfer.
type link struct {
	sim      *simulation
	capacity float64 // of all, in bytes per second
	each     float64 // of one transfer at most

	// served is how many bytes a transfer that runs since the start of the link has received. All transfers advance with it, so
	// the order in which they end doesn't change when others start or end.
	served  float64
	updated float64 // time of served
	running events  // their when is a value of served instead of a time
	turn    int     // incremented by each change, which cancels events planned before
	most    float64 // the highest total rate so far
}

// transfer runs done after the transfer of so many bytes.
func (l *link) transfer(bytes float64, done func()) {
	l.update()
	l.sim.made++
	heap.Push(&l.running, event{when: l.served + bytes, order: l.sim.made, do: done})
	l.plan()
}

// rate returns the current rate of each transfer, in bytes per second.
func (l *link) rate() float64 { return min(l.each, l.capacity/float64(len(l.running))) }

func (l *link) update() {
	if len(l.running) > 0 {
		l.served += (l.sim.now - l.updated) * l.rate()
	}
	l.updated = l.sim.now
}

// plan schedules the end of the transfer that ends next.
func (l *link) plan() {
	l.turn++
	if len(l.running) == 0 {
		return
	}
	turn, next := l.turn, l.running[0]
	l.most = max(l.most, l.rate()*float64(len(l.running)))
	l.sim.after((next.when-l.served)/l.rate(), func() {
		if turn != l.turn {
			return
		}
		l.update()
		l.served = max(l.served, next.when) // corrects rounding
		heap.Pop(&l.running)
		l.plan()
		next.do()
	})
}

// queue answers requests one after the other.
type queue struct {
	sim  *simulation
	each float64 // seconds for one request
	free float64 // when all requests so far are answered
}

// ask runs done when so many requests are answered.
func (q *queue) ask(requests int, done func()) {
	q.free = max(q.free, q.sim.now) + float64(requests)*q.each
	q.sim.after(q.free-q.sim.now, done)
}
