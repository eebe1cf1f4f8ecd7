package par

import (
	"context"
	"io"
	"sync"
)

// Mark is how far something has got that one side makes and another one uses
// while it is being made: the bytes of a file, say. The zero Mark is at 0. It
// is safe for many goroutines.
type Mark struct {
	mu    sync.Mutex
	at    int64
	err   error         // set when it won't move any more
	moved chan struct{} // closed when at or err changes; nil if no caller waits
}

// Advance moves the mark forward by n.
func (m *Mark) Advance(n int64) {
	m.change(func() { m.at += n })
}

// End says that the mark won't move any more: with nil because all is there,
// else because of err. Only the first call counts.
func (m *Mark) End(err error) {
	if err == nil {
		err = io.EOF
	}
	m.change(func() {
		if m.err == nil {
			m.err = err
		}
	})
}

func (m *Mark) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
}

// At returns the mark. The error is set when it won't move any more: io.EOF if
// all is there, else what End was given.
func (m *Mark) At() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, m.err
}

// Beyond waits until the mark is greater than at, and returns it. If it never
// will be, the error is that of At; if ctx ends first, its cause.
func (m *Mark) Beyond(ctx context.Context, at int64) (int64, error) {
	for {
		now, moved, err := m.look()
		switch {
		case now > at:
			return now, nil
		case err != nil:
			return now, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
}

// look returns the state, and a channel that is closed at the next change.
func (m *Mark) look() (int64, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moved == nil {
		m.moved = make(chan struct{})
	}
	return m.at, m.moved, m.err
}
