package servecmd

import (
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// maxUpstreams is how many hosts have metrics of their own: requests name hosts, too.
const maxUpstreams = 100

// upstreams counts requests by host.
type upstreams struct {
	registry *prometheus.Registry
	seconds  *prometheus.HistogramVec
	errors   *prometheus.CounterVec

	known  par.Shared[string, struct{}]
	number par.Counter
}

func newUpstreams() *upstreams {
	u := &upstreams{
		registry: prometheus.NewRegistry(),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tfdeps_upstream_seconds", Help: "Time until upstreams answered, retries included.", Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
		}, []string{"host"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tfdeps_upstream_errors_total", Help: "Requests to upstreams without an answer, or with one that is an error.",
		}, []string{"host", "kind"}),
	}
	u.registry.MustRegister(u.seconds, u.errors)
	return u
}

func (u *upstreams) observe(e hosts.Exchange) {
	host := strings.ToValidUTF8(e.Host, "\uFFFD") // a label has no other bytes
	if u.number.Value() >= maxUpstreams && !u.known.Has(host) {
		host = "other"
	}
	if _, made := u.known.Join(host, func() struct{} { return struct{}{} }); made {
		u.number.Add(1)
	}
	u.seconds.WithLabelValues(host).Observe(e.Took.Seconds())
	failed, refused := u.errors.WithLabelValues(host, "no_answer"), u.errors.WithLabelValues(host, "status")
	switch {
	case e.Status == 0:
		failed.Inc()
	case e.Status >= 400:
		refused.Inc()
	}
}

// status returns what was counted, by host.
func (u *upstreams) status() map[string]upstreamStatus {
	all := map[string]upstreamStatus{}
	families, _ := u.registry.Gather() // nothing in it can fail
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			host := metric.GetLabel()[0].GetValue() // labels are sorted
			of := all[host]
			of.Errors += int64(metric.GetCounter().GetValue())
			of.Requests += int64(metric.GetHistogram().GetSampleCount())
			of.Seconds += metric.GetHistogram().GetSampleSum()
			all[host] = of
		}
	}
	return all
}

// counts are the metrics of what the server counts itself.
func (f front) counts() *prometheus.Registry {
	counts := prometheus.NewRegistry()
	add := func(name, help string, value func(s mirrorserver.Stats) int64, labels prometheus.Labels) {
		counts.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 { return float64(value(f.mirror.Stats())) }))
	}
	type stats = mirrorserver.Stats
	add("tfdeps_requests_total", "Requests.", func(s stats) int64 { return s.Requests }, nil)
	add("tfdeps_documents_total", "Answers with a document, those included that say that nothing has changed.", func(s stats) int64 { return s.Documents }, nil)
	const archives = "Archives that were sent, from the store or while they were downloaded."
	add("tfdeps_archives_total", archives, func(s stats) int64 { return s.Stored }, prometheus.Labels{"from": "store"})
	add("tfdeps_archives_total", archives, func(s stats) int64 { return s.Fetched }, prometheus.Labels{"from": "upstream"})
	const sent = "Bytes of archives that were sent."
	add("tfdeps_archive_bytes_total", sent, func(s stats) int64 { return s.StoredSize }, prometheus.Labels{"from": "store"})
	add("tfdeps_archive_bytes_total", sent, func(s stats) int64 { return s.FetchedSize }, prometheus.Labels{"from": "upstream"})
	add("tfdeps_coalesced_total", "Requests that shared a download which another request had begun.", func(s stats) int64 { return s.Coalesced }, nil)
	add("tfdeps_downloads_total", "Downloads of archives.", func(s stats) int64 { return s.Downloads }, nil)
	add("tfdeps_downloaded_bytes_total", "Bytes of archives that were downloaded whole.", func(s stats) int64 { return s.DownloadedSize }, nil)
	add("tfdeps_verify_failures_total", "Archives that weren't authentic.", func(s stats) int64 { return s.Refused }, nil)
	const failures = "Answers that were errors, by kind."
	add("tfdeps_failures_total", failures, func(s stats) int64 { return s.NotFound }, prometheus.Labels{"kind": "not_found"})
	add("tfdeps_failures_total", failures, func(s stats) int64 { return s.Failed }, prometheus.Labels{"kind": "failed"})
	add("tfdeps_failures_total", failures, func(s stats) int64 { return s.Broken }, prometheus.Labels{"kind": "broken_off"})
	add("tfdeps_stale_total", "Older answers of upstreams that counted because they failed.", func(s stats) int64 { return s.Stale }, nil)
	add("tfdeps_source_failures_total", "Failures of upstreams where nothing was known.", func(s stats) int64 { return s.SourceFailures }, nil)
	add("tfdeps_store_failures_total", "Failures to write the store.", func(s stats) int64 { return s.StoreFailures }, nil)
	add("tfdeps_removed_total", "Archives that were removed because of -max-size.", func(s stats) int64 { return s.Removed }, nil)
	add("tfdeps_removed_bytes_total", "Their bytes.", func(s stats) int64 { return s.RemovedSize }, nil)
	counts.MustRegister(gauge("tfdeps_downloads_running", "Downloads that run.", func() int64 { return f.mirror.Stats().Downloading }))
	return counts
}

// stored are the metrics of the store. There are none before it is listed for the first time.
func (f front) stored() *prometheus.Registry {
	stored := prometheus.NewRegistry()
	stored.MustRegister(
		gauge("tfdeps_store_archives", "Archives in the store, as of some minutes ago.", func() int64 { return int64(f.held.Get().Archives) }),
		gauge("tfdeps_store_bytes", "Their bytes.", func() int64 { return f.held.Get().Bytes }))
	return stored
}

func gauge(name, help string, value func() int64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
}

// metrics answers Prometheus. The default registry of the library has what it registers before main: the metrics of the
// process and of Go.
func (f front) metrics() http.HandlerFunc {
	all, stored := prometheus.Gatherers{f.counts(), f.upstreams.registry, prometheus.DefaultGatherer}, f.stored()
	return func(w http.ResponseWriter, r *http.Request) {
		now := all
		if f.held.Get() != nil {
			now = append(slices.Clone(all), stored)
		}
		promhttp.HandlerFor(now, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	}
}
