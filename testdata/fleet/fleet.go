package main

import (
	"math/rand/v2"
	"slices"
)

// costs are the costs of single steps. Those of tfdeps were measured, those of networks are assumed: flags change them.
type costs struct {
	latency        float64 // of a request to the registry, in seconds; a mirror and a bucket have a tenth of it
	connection     float64 // rate of one connection to the registry's downloads, in bytes per second
	uplink         float64 // between the company and the internet
	runnerNetwork  float64 // of one runner
	bucketNetwork  float64 // of the bucket
	replicaNetwork float64 // of one server
	request        float64 // seconds for a server to answer with a document
	unpack         float64 // bytes of archives that a runner authenticates and unpacks per second
}

var usual = costs{
	latency: 0.05, connection: 40e6, uplink: 1.25e9, runnerNetwork: 125e6, bucketNetwork: 12.5e9, replicaNetwork: 1.25e9,
	request: 1e-4, unpack: 140e6,
}

// Requests for one provider.
const (
	versionDocuments = 1 // the list of versions
	packageDocuments = 3 // of a registry: the package, its checksums and their signature
	mirrorDocuments  = 5 // of a mirror: versions, packages, checksums, their signature and the keys
)

// How long a server caches answers of the registry, in seconds.
const (
	versionsFresh = 5 * 60
	packagesFresh = 60 * 60
)

// archives are the sizes in bytes of the archives that a runner needs: those of this repository's benchmarks, from a small
// provider to one for a whole cloud.
var archives = []float64{6.5e6, 9.7e6, 16e6, 26e6, 39e6, 55e6, 81e6, 113e6, 161e6, 225e6}

// way is the source of the runners' packages.
type way string

const (
	direct way = "the registry" // needs nothing at the company
	bucket way = "a bucket"     // a mirror that was filled before
	serve  way = "tfdeps serve" // with a bucket, which is empty at the start
)

var ways = []way{direct, bucket, serve}

// scenario is a day at a company.
type scenario struct {
	name     string
	archives []float64  // what each runner fetches
	stored   bool       // the server's bucket has all archives at the start
	spread   float64    // seconds between the starts of the first and the last runner
	down     [2]float64 // when the registry is down
}

var scenarios = []scenario{
	{name: "cold Monday morning: all within 10 minutes, nothing cached", archives: archives, spread: 600},
	{name: "release of a large provider: all within an hour, the rest cached", archives: archives[9:], spread: 3600},
	{name: "the registry is down for an hour of three: lock files, nothing cached", archives: archives, stored: true, spread: 3 * 3600, down: [2]float64{3600, 7200}},
}

// result has the totals of a simulation.
type result struct {
	Runners           int     `json:"runners"`
	Failed            int     `json:"failed"`
	RegistryDocuments int     `json:"registry_documents"`
	RegistryArchives  int     `json:"registry_archives"`
	RegistryBytes     float64 `json:"registry_bytes"`
	MirrorRequests    int     `json:"mirror_requests"`
	MirrorBytes       float64 `json:"mirror_bytes"`
	MirrorRate        float64 `json:"mirror_bytes_per_second"` // at the busiest moment
	UplinkRate        float64 `json:"uplink_bytes_per_second"` // at the busiest moment
	Median            float64 `json:"median_seconds"`          // from a runner's start until its packages are installed
	Slowest           float64 `json:"slowest_seconds"`         // of 99 in 100 runners
}

// fleet is one simulation of many runners.
type fleet struct {
	sim      simulation
	costs    costs
	scenario scenario
	uplink   *link
	buckets  *link
	replicas []*replica
	filling  map[int]*filling // by archive
	cores    *link            // of all runners, if they share one machine
	inBucket map[int]bool     // by archive
	ready    []float64
	result   result
}

// replica is one server.
type replica struct {
	network   *link
	documents queue
	versions  float64 // time at which its cached versions expire
	packages  float64
}

// filling is an archive that is being downloaded from the registry into the bucket.
type filling struct{ waiting []func() }

// simulate runs a simulation. With oneMachine the runners share the cores of one machine.
func simulate(s scenario, w way, runners, replicas int, c costs, oneMachine bool) result {
	f := &fleet{costs: c, scenario: s, inBucket: map[int]bool{}, filling: map[int]*filling{}}
	streams := float64(len(s.archives))
	f.uplink = &link{sim: &f.sim, capacity: c.uplink, each: c.connection}
	if w == direct {
		f.uplink.each = min(c.connection*streams, c.runnerNetwork)
	}
	f.buckets = &link{sim: &f.sim, capacity: c.bucketNetwork, each: c.runnerNetwork}
	for range replicas {
		f.replicas = append(f.replicas, &replica{network: &link{sim: &f.sim, capacity: c.replicaNetwork, each: c.runnerNetwork},
			documents: queue{sim: &f.sim, each: c.request}})
	}
	if oneMachine {
		f.cores = &link{sim: &f.sim, capacity: c.unpack, each: c.unpack}
	}
	for i := range s.archives {
		f.inBucket[i] = s.stored
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same fleet each time
	for range runners {
		f.sim.after(random.Float64()*s.spread, func() { f.start(w, f.replicas[random.IntN(replicas)]) })
	}
	f.sim.run()
	f.result.Runners = runners
	f.result.UplinkRate = f.uplink.most
	f.result.MirrorRate = f.buckets.most
	if w == serve {
		f.result.MirrorRate = 0
		for _, r := range f.replicas {
			f.result.MirrorRate += r.network.most
		}
	}
	if slices.Sort(f.ready); len(f.ready) > 0 {
		f.result.Median, f.result.Slowest = f.ready[len(f.ready)/2], f.ready[len(f.ready)*99/100]
	}
	return f.result
}

// start simulates one runner: documents, then archives, which are unpacked while they arrive.
func (f *fleet) start(w way, r *replica) {
	began, providers, near := f.sim.now, len(f.scenario.archives), f.costs.latency/10
	switch w {
	case direct:
		if f.isDown() {
			f.result.Failed++
			return
		}
		f.result.RegistryDocuments += providers * (versionDocuments + packageDocuments)
		f.sim.after(3*f.costs.latency, func() { f.install(began, f.uplink, nil) })
	case bucket:
		f.publish()
		f.result.MirrorRequests += providers * mirrorDocuments
		f.sim.after(2*near, func() { f.install(began, f.buckets, nil) })
	case serve:
		f.result.MirrorRequests += providers * mirrorDocuments
		wait := 2*near + f.askRegistry(r)
		r.documents.ask(providers*mirrorDocuments, func() { f.sim.after(wait, func() { f.install(began, r.network, r) }) })
	}
}

func (f *fleet) isDown() bool {
	return f.sim.now >= f.scenario.down[0] && f.sim.now < f.scenario.down[1]
}

// publish simulates the run of "providers mirror" that fills the bucket before the first runner starts.
func (f *fleet) publish() {
	for i, bytes := range f.scenario.archives {
		if f.inBucket[i] {
			continue
		}
		f.inBucket[i] = true
		f.result.RegistryDocuments += versionDocuments + packageDocuments
		f.result.RegistryArchives++
		f.result.RegistryBytes += bytes
	}
}

// askRegistry simulates the requests of a server whose cached answers have expired. It returns how long the runner waits.
func (f *fleet) askRegistry(r *replica) (wait float64) {
	if f.isDown() {
		return 0 // the server uses expired answers while the registry is down
	}
	if f.sim.now >= r.versions {
		r.versions = f.sim.now + versionsFresh
		f.result.RegistryDocuments += len(f.scenario.archives) * versionDocuments
		wait += f.costs.latency
	}
	if f.sim.now >= r.packages {
		r.packages = f.sim.now + packagesFresh
		f.result.RegistryDocuments += len(f.scenario.archives) * packageDocuments
		wait += 2 * f.costs.latency
	}
	return wait
}

// install simulates the download of all archives of a runner until they are unpacked. An archive of the registry
// is limited by the rate of one connection. With a server r, an archive only arrives after the server has it.
func (f *fleet) install(began float64, network *link, r *replica) {
	var sum float64
	for _, bytes := range f.scenario.archives {
		sum += bytes
	}
	left := 0 // the number of transfers that have to end
	end := func() {
		if left--; left == 0 {
			f.ready = append(f.ready, f.sim.now-began)
		}
	}
	left++
	network.transfer(sum, end)
	left++
	if f.cores != nil {
		f.cores.transfer(sum, end)
	} else {
		f.sim.after(sum/f.costs.unpack, end)
	}
	if network == f.uplink {
		f.result.RegistryArchives += len(f.scenario.archives)
		f.result.RegistryBytes += sum
		left++
		f.sim.after(slices.Max(f.scenario.archives)/f.costs.connection, end)
		return
	}
	f.result.MirrorRequests += len(f.scenario.archives)
	f.result.MirrorBytes += sum
	if r != nil {
		left += len(f.scenario.archives)
		for i := range f.scenario.archives {
			f.fill(r, i, end)
		}
	}
}

// fill runs then when a server has an archive: at once if it is in the bucket, else after the download from the
// registry. All requests share one download, because the servers of a bucket coordinate.
func (f *fleet) fill(r *replica, archive int, then func()) {
	if f.inBucket[archive] {
		f.sim.after(0, then)
		return
	}
	if running := f.filling[archive]; running != nil {
		running.waiting = append(running.waiting, then)
		return
	}
	running := &filling{waiting: []func(){then}}
	f.filling[archive] = running
	f.result.RegistryDocuments++ // the document with the archive's URL
	f.result.RegistryArchives++
	f.result.RegistryBytes += f.scenario.archives[archive]
	f.uplink.transfer(f.scenario.archives[archive], func() {
		f.inBucket[archive] = true
		delete(f.filling, archive)
		for _, waiting := range running.waiting {
			waiting()
		}
	})
}
