package servecmd

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// maxUpstreams is how many hosts have their own metrics. It is bounded because clients name hosts.
const maxUpstreams = 100

// bounds are the buckets of all histograms, in seconds.
var bounds = [...]float64{0.005, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120}

// histogram counts durations. The metrics library has histograms only in versions that read files and write to stderr before main.
type histogram struct {
	within [len(bounds)]atomic.Int64
	count  atomic.Int64
	nanos  atomic.Int64
}

func (h *histogram) observe(took time.Duration) {
	for i, bound := range bounds {
		if took.Seconds() <= bound {
			h.within[i].Add(1)
		}
	}
	h.count.Add(1)
	h.nanos.Add(int64(took))
}

func (h *histogram) seconds() float64 { return time.Duration(h.nanos.Load()).Seconds() }

// write writes the histogram in the format of Prometheus; label is name="value".
func (h *histogram) write(w io.Writer, name, label string) {
	for i, bound := range bounds {
		fmt.Fprintf(w, "%s_bucket{%s,le=\"%g\"} %d\n", name, label, bound, h.within[i].Load())
	}
	fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%[1]s_sum{%[2]s} %[4]g\n%[1]s_count{%[2]s} %[3]d\n", name, label, h.count.Load(), h.seconds())
}

// upstream has the metrics of requests to a host.
type upstream struct {
	took             histogram
	noAnswer, status atomic.Int64 // errors
}

// timings count requests by route, and those to upstreams by host.
type timings struct {
	routes    par.Shared[string, *histogram]
	upstreams par.Shared[string, *upstream]
	number    atomic.Int64 // of upstreams
}

func (t *timings) observe(e hosts.Exchange) {
	host := strings.ToValidUTF8(e.Host, "\uFFFD") // a label has to be valid UTF-8
	if t.number.Load() >= maxUpstreams && !t.upstreams.Has(host) {
		host = "other"
	}
	asked, made := t.upstreams.Join(host, func() *upstream { return new(upstream) })
	if made {
		t.number.Add(1)
	}
	asked.Value.took.observe(e.Took)
	switch {
	case e.Status == 0:
		asked.Value.noAnswer.Add(1)
	case e.Status >= 400:
		asked.Value.status.Add(1)
	}
}

// answered counts an answered request by route, with its duration.
func (t *timings) answered(path string, took time.Duration) {
	route, _ := t.routes.Join(routeOf(path), func() *histogram { return new(histogram) })
	route.Value.observe(took)
}

// routes are the ends or parts of paths, each with the name of its route.
var routes = []struct{ part, name string }{
	{"/mirror/", ""}, {".zip", "archive"}, {"/index.json", "index"}, {".json", "version"}, {"/versions", "versions"}, {"/download", "download"}, {"_SHA256SUMS", "checksums"},
}

// routeOf returns the route of a path for a label. Clients can't add others.
func routeOf(path string) string {
	if !strings.HasPrefix(path, routes[0].part) {
		return "other"
	}
	for _, route := range routes[1:] {
		if strings.HasSuffix(path, route.part) || !strings.HasPrefix(route.part, ".") && strings.Contains(path, route.part) {
			return route.name
		}
	}
	return "other"
}

// status returns the counts by host.
func (t *timings) status() map[string]upstreamStatus {
	all := map[string]upstreamStatus{}
	for host, asked := range t.upstreams.All() {
		all[host] = upstreamStatus{Requests: asked.took.count.Load(), Errors: asked.noAnswer.Load() + asked.status.Load(), Seconds: asked.took.seconds()}
	}
	return all
}

// write writes all metrics.
func (t *timings) write(w io.Writer) {
	writeHead(w, "tfdeps_request_seconds", "Time until requests were answered to the last byte, by route.", "histogram")
	routes := t.routes.All()
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		routes[route].write(w, "tfdeps_request_seconds", label("route", route))
	}
	upstreams := t.upstreams.All()
	hosts := slices.Sorted(maps.Keys(upstreams))
	writeHead(w, "tfdeps_upstream_seconds", "Time until upstreams answered, retries included.", "histogram")
	for _, host := range hosts {
		upstreams[host].took.write(w, "tfdeps_upstream_seconds", label("host", host))
	}
	writeHead(w, "tfdeps_upstream_errors_total", "Requests to upstreams without an answer, or with an error.", "counter")
	for _, host := range hosts {
		asked := upstreams[host]
		fmt.Fprintf(w, "tfdeps_upstream_errors_total{%s,kind=\"no_answer\"} %d\ntfdeps_upstream_errors_total{%[1]s,kind=\"status\"} %[3]d\n", label("host", host), asked.noAnswer.Load(), asked.status.Load())
	}
}

// label returns a label, with three characters escaped.
func label(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

func writeHead(w io.Writer, name, help, kind string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

// familyOf returns the name without labels.
func familyOf(s mirrorserver.Stat) string {
	name, _, _ := strings.Cut(s.Name, "{")
	return name
}

// writeStats writes numbers, which are grouped by name.
func writeStats(w io.Writer, all []mirrorserver.Stat) {
	before := ""
	for _, s := range all {
		name := familyOf(s)
		if kind := "gauge"; name != before {
			if strings.HasSuffix(name, "_total") {
				kind = "counter"
			}
			writeHead(w, "tfdeps_"+name, s.Help, kind)
		}
		fmt.Fprintf(w, "tfdeps_%s %d\n", s.Name, s.Value)
		before = name
	}
}

// stats returns the server's counters and the size of its store, which is unknown until the store was listed
// for the first time.
func (f *front) stats() []mirrorserver.Stat {
	all := append(f.mirror.Stats(), mirrorserver.Stat{Name: fmt.Sprintf("build_info{version=%q,go=%q}", f.version, runtime.Version()), Help: "The version of tfdeps.", Value: 1})
	all = append(all, mirrorserver.Stat{Name: `limited_total{limit="client"}`, Value: f.limited.Load()})
	if held := f.held.Load(); held != nil {
		all = append(all, mirrorserver.Stat{Name: "store_archives", Help: "Archives in the store, as of some minutes ago.", Value: int64(held.Archives)},
			mirrorserver.Stat{Name: "store_bytes", Help: "Bytes of archives in the store.", Value: held.Bytes})
	}
	slices.SortStableFunc(all, func(a, b mirrorserver.Stat) int { return strings.Compare(familyOf(a), familyOf(b)) })
	return all
}

// serveMetrics answers Prometheus.
func (f *front) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	writeStats(w, f.stats())
	f.timings.write(w)
	metrics.WriteProcessMetrics(w)
	metrics.WriteFDMetrics(w)
}
