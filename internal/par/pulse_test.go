package par

import (
	"testing"
	"time"
)

func TestPulse_BeatsFromStartToStop(t *testing.T) {
	var p Pulse
	beats, stopped := 0, false // without a lock of their own: the race detector sees whether two run at once
	arrived := make(chan bool, 1)
	beat := func() {
		if beats++; stopped {
			t.Error("it beats after Stop")
		}
		select {
		case arrived <- true:
		default:
		}
	}
	for range 2 { // it can be started again
		p.Do(func() { p.Start(time.Microsecond, beat); p.Start(time.Microsecond, beat) })
		<-arrived
		for range 100 {
			p.Do(func() { beats++ })
		}
		p.Stop()
		p.Do(func() { stopped = true })
		p.Do(func() { stopped = false })
	}
	if p.Stop(); beats < 202 {
		t.Errorf("%d calls", beats)
	}
}

func TestPulse_WithoutIntervalNeverBeats(t *testing.T) {
	var p Pulse
	p.Do(func() { p.Start(0, func() { t.Error("it beats") }) })
	p.Stop()
}
