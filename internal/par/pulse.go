package par

import (
	"sync"
	"time"
)

// Pulse runs functions one at a time, from any goroutines, and one of them periodically between
// Start and Stop. The zero Pulse is ready to use, and is stopped. It must not be copied. Many
// goroutines may use it.
type Pulse struct {
	mu   sync.Mutex
	stop chan struct{} // nil means stopped
	done sync.WaitGroup
}

// Do runs f while no other function of this Pulse runs. f may call Start, but neither Do nor Stop.
func (p *Pulse) Do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Start runs beat at each interval until Stop is called, as Do would run it. Only functions run by
// Do may call Start. It does nothing if the Pulse is started already, or if interval isn't
// positive.
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

// Stop ends the periodic runs, and waits for a running one. It must not be called from a function
// that Do runs, nor from beat. It does nothing if the Pulse is stopped.
func (p *Pulse) Stop() {
	p.Do(func() {
		if p.stop != nil {
			close(p.stop)
			p.stop = nil
		}
	})
	p.done.Wait()
}
