package main

import (
	"math"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestSimulation_IsTrueOfInstallationsHere compares the requests and the bytes of a few real installations through a
// server with the simulation. Times aren't compared, because they depend on the machine's load.
func TestSimulation_IsTrueOfInstallationsHere(t *testing.T) {
	const runners, scale = 8, 0.0002
	really, here, err := inTruth(runners, scale, usual.connection)
	must.Succeed(t, err)
	said := here.simulate(runners, scale, usual)
	if really.RegistryArchives != said.RegistryArchives || really.RegistryDocuments != said.RegistryDocuments || really.MirrorRequests != said.MirrorRequests {
		t.Errorf("the simulation says %+v, and in truth it is %+v", said, really)
	}
	const head = 1.1 // the overhead of archives
	if really.RegistryBytes < said.RegistryBytes || really.RegistryBytes > head*said.RegistryBytes || really.MirrorBytes > head*said.MirrorBytes {
		t.Errorf("the simulation says %.0f and %.0f bytes, and in truth it is %.0f and %.0f", said.RegistryBytes, said.MirrorBytes, really.RegistryBytes, really.MirrorBytes)
	}
}

func TestLink_IsSharedInEqualParts(t *testing.T) {
	var sim simulation
	network := &link{sim: &sim, capacity: 100, each: 60}
	ended := map[string]float64{}
	transfer := func(name string, after, bytes float64) {
		sim.after(after, func() { network.transfer(bytes, func() { ended[name] = sim.now }) })
	}
	transfer("alone, and then one of two", 0, 110) // 60 in the first second, 50 in the next
	transfer("one of two, and then alone", 1, 110) // 50, and 60 in the third
	transfer("long after", 10, 30)
	sim.run()
	for name, want := range map[string]float64{"alone, and then one of two": 2, "one of two, and then alone": 3, "long after": 10.5} {
		if math.Abs(ended[name]-want) > 1e-9 {
			t.Errorf("%s: ended after %v s, want %v", name, ended[name], want)
		}
	}
	must.Equal(t, network.most, 100)
}

func TestQueue_AnswersOneAfterTheOther(t *testing.T) {
	var sim simulation
	documents := queue{sim: &sim, each: 0.5}
	var ended []float64
	for _, after := range []float64{0, 0, 10} {
		sim.after(after, func() { documents.ask(2, func() { ended = append(ended, sim.now) }) })
	}
	sim.run()
	if len(ended) != 3 || ended[0] != 1 || ended[1] != 2 || ended[2] != 11 {
		t.Errorf("ended at %v", ended)
	}
}

// TestSimulate_KeepsAllBytesAndRunners holds for any fleet: each runner is ready or has failed, and has all its bytes.
func TestSimulate_KeepsAllBytesAndRunners(t *testing.T) {
	for _, s := range scenarios {
		var each float64
		for _, bytes := range s.archives {
			each += bytes
		}
		for _, w := range ways {
			for _, runners := range []int{1, 7, 500} {
				r := simulate(s, w, runners, 2, usual, false)
				passed := float64(runners - r.Failed)
				got := r.MirrorBytes
				if w == direct {
					got = r.RegistryBytes
				}
				must.Equal(t, got, passed*each, s.name, w, runners, r.Failed)
				if w != direct && r.Failed > 0 || r.RegistryArchives > 2*len(s.archives) && w != direct {
					t.Errorf("%s, %s: %+v", s.name, w, r)
				}
				if passed > 0 && r.Median < each/usual.unpack {
					t.Errorf("%s, %s: ready in %v s, which is less than unpacking takes", s.name, w, r.Median)
				}
			}
		}
	}
}

func TestRun_RefusesWhatItCantSimulate(t *testing.T) {
	for _, args := range []string{"-runners=0", "-runners=many", "-replicas=0", "-uplink=-1", "now"} {
		if err := run([]string{args}, &strings.Builder{}); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
