package par

import (
	"context"
	"io"
	"sync"
)

// Mark is the progress of something that is used while it is being made, such as how many bytes of
// a file are written. The zero Mark is at 0. Many goroutines may use it.
type Mark struct {
	mu    sync.Mutex
	at    int64
	err   error         // set when the mark is final
	moved chan struct{} // closed when at or err changes; nil if no caller waits
}

// Advance moves the mark forward by n.
func (m *Mark) Advance(n int64) {
	m.change(func() { m.at += n })
}

// End makes the mark final: nil means complete, err a failure. Only the first call counts.
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

// At returns the mark. The error is nil until the mark is final, then io.EOF if it is complete, or
// the error that End got.
func (m *Mark) At() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, m.err
}

// Beyond waits until the mark is greater than at, and returns it. If the mark is final before, the
// error is that of At; if ctx is done first, the cause of ctx.
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
