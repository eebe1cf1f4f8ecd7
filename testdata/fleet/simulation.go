package main

import "container/heap"

// simulation is a discrete-event simulation: a clock that jumps from one event to the next.
type simulation struct {
	now    float64 // in seconds
	events events
	made   int // events of one moment happen in the order in which they were made
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

// after has do run when so many seconds have passed.
func (s *simulation) after(seconds float64, do func()) {
	s.made++
	heap.Push(&s.events, event{when: s.now + max(seconds, 0), order: s.made, do: do})
}

// run ends when nothing is left to happen.
func (s *simulation) run() {
	for len(s.events) > 0 {
		next := heap.Pop(&s.events).(event)
		s.now = next.when
		next.do()
	}
}

// link is what transfers share in equal parts: a network, or the cores of a machine. A transfer gets
// its part of the capacity, and never more than what one transfer can have.
type link struct {
	sim      *simulation
	capacity float64 // of all, in bytes per second
	each     float64 // of one transfer at most

	// Every transfer has received served bytes since this link began, or since it began itself. So the
	// transfers end in an order that doesn't change when others come and go.
	served  float64
	updated float64 // when served was right
	running events  // when has a value of served in place of a time
	turn    int     // what was planned before the latest change doesn't happen
	most    float64 // the highest rate that there was
}

// transfer has done run when so many bytes have passed.
func (l *link) transfer(bytes float64, done func()) {
	l.update()
	l.sim.made++
	heap.Push(&l.running, event{when: l.served + bytes, order: l.sim.made, do: done})
	l.plan()
}

// rate is what each transfer has now, in bytes per second.
func (l *link) rate() float64 { return min(l.each, l.capacity/float64(len(l.running))) }

func (l *link) update() {
	if len(l.running) > 0 {
		l.served += (l.sim.now - l.updated) * l.rate()
	}
	l.updated = l.sim.now
}

// plan makes the event of the transfer that ends next.
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
		l.served = max(l.served, next.when) // what rounding has left out
		heap.Pop(&l.running)
		l.plan()
		next.do()
	})
}

// queue answers requests one after the other.
type queue struct {
	sim  *simulation
	each float64 // seconds for one request
	free float64 // when all that were asked for are answered
}

// ask has done run when so many requests are answered.
func (q *queue) ask(requests int, done func()) {
	q.free = max(q.free, q.sim.now) + float64(requests)*q.each
	q.sim.after(q.free-q.sim.now, done)
}
