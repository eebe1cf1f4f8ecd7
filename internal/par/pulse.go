package par

import (
	"sync"
	"time"
)

// Pulse runs functions one at a time, whichever goroutines they come from, and one of them
// again and again while it beats. The zero Pulse is ready for use and doesn't beat. It must
// not be copied. Its methods may be called from many goroutines.
type Pulse struct {
	mu   sync.Mutex
	stop chan struct{} // nil: it doesn't beat
	done sync.WaitGroup
}

// Do runs f while nothing else of this Pulse runs. f may call Start, but neither Do nor Stop.
func (p *Pulse) Do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Start has beat run at each interval until Stop is called, as Do would run it. It is for
// functions that Do runs. It does nothing while the Pulse beats already, nor if the interval
// isn't positive.
func (p *Pulse) Start(interval time.Duration, beat func()) {
	if p.stop != nil || interval <= 0 {
		return
	}
	stop := make(chan struct{})
	p.stop = stop
	p.done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			p.Do(func() {
				if p.stop == stop {
					beat()
				}
			})
		}
	})
}

// Stop ends the beat and returns when it isn't running any more. It must not be called from a
// function that Do runs, nor from the beat. It does nothing if the Pulse doesn't beat.
func (p *Pulse) Stop() {
	p.Do(func() {
		if p.stop != nil {
			close(p.stop)
			p.stop = nil
		}
	})
	p.done.Wait()
}
