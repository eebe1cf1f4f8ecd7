package par

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrNoRoom means that a [Room] had no free part in time, or is too small for the account.
var ErrNoRoom = errors.New("there is too much to do at once: ask again later")

// Room is a quantity, such as memory, of which accounts take parts; an account gives all its parts back at once. Make
// one with [NewRoom]; many goroutines may use it.
//
// Accounts that have a part may wait for another one. To prevent deadlocks, one account at a time gets what it wants
// even if it isn't free: so at most twice the quantity is taken.
type Room struct {
	patience time.Duration

	mu      sync.Mutex
	total   int64
	free    int64
	ahead   *Account // gets all that it wants; nil means no account does
	waiting []*claim // in the order of arrival
}

// Account holds one caller's parts of a Room. Make one with [Room.Open]; many goroutines may use it.
type Account struct {
	room   *Room
	taken  int64 // guarded by room.mu
	closed bool
}

// claim is a part that an account waits for.
type claim struct {
	account *Account
	part    int64
	decided chan struct{} // closed when err is final
	err     error
}

// NewRoom returns a Room of a quantity. Take waits at most for patience.
func NewRoom(total int64, patience time.Duration) *Room {
	return &Room{total: total, free: total, patience: patience}
}

// Open returns an empty account. The caller closes it.
func (r *Room) Open() *Account { return &Account{room: r} }

// Take waits until a part is free, and takes it. The error is [ErrNoRoom] if that takes too long, if the account would have more than the
// whole room, or if it is closed; otherwise it is the cause of ctx.
func (a *Account) Take(ctx context.Context, part int64) error {
	c := a.room.enter(a, part)
	limited, cancel := context.WithTimeoutCause(ctx, a.room.patience, ErrNoRoom)
	defer cancel()
	select {
	case <-c.decided:
	case <-limited.Done():
		if a.room.withdraw(c) {
			return context.Cause(limited)
		}
	}
	return c.err
}

// Close gives back all parts of the account. A later Take returns ErrNoRoom.
func (a *Account) Close() {
	r := a.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += a.taken
	a.taken, a.closed = 0, true
	if r.ahead == a {
		r.ahead = nil
	}
	r.decide()
}

// enter queues a claim, which may be decided at once.
func (r *Room) enter(a *Account, part int64) *claim {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &claim{account: a, part: part, decided: make(chan struct{})}
	r.waiting = append(r.waiting, c)
	r.decide()
	return c
}

// withdraw leaves the queue, and returns false if the claim is decided already.
func (r *Room) withdraw(c *claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting, c)
	if i < 0 {
		return false
	}
	r.waiting = slices.Delete(r.waiting, i, i+1)
	r.decide()
	return true
}

// decide serves the queue in order. Later claims wait for earlier ones, except those of the account ahead.
func (r *Room) decide() {
	blocked := false
	r.waiting = slices.DeleteFunc(r.waiting, func(c *claim) bool {
		a := c.account
		fits := !blocked && c.part <= r.free
		switch {
		case a.closed || a.taken+c.part > r.total:
			c.err = ErrNoRoom
		case fits || a == r.ahead:
			a.taken += c.part
			r.free -= c.part
		case !blocked && r.ahead == nil:
			r.ahead = a
			a.taken += c.part
			r.free -= c.part
		default:
			blocked = true
			return false
		}
		close(c.decided)
		return true
	})
}
