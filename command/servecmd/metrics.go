package servecmd

import (
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
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

// count is what the server has counted, with the name and the value of a label; "": it has none.
type count struct {
	name, help, label, value string
	number                   int64
}

// counts are what the server counts itself, as of now.
func (f front) counts() []count {
	s := f.mirror.Stats()
	const (
		archives = "Archives that were sent, from the store or while they were downloaded."
		sent     = "Bytes of archives that were sent."
		failures = "Answers that were errors, by kind."
	)
	return []count{
		{"requests_total", "Requests.", "", "", s.Requests},
		{"documents_total", "Answers with a document, those included that say that nothing has changed.", "", "", s.Documents},
		{"archives_total", archives, "from", "store", s.Stored},
		{"archives_total", archives, "from", "upstream", s.Fetched},
		{"archive_bytes_total", sent, "from", "store", s.StoredSize},
		{"archive_bytes_total", sent, "from", "upstream", s.FetchedSize},
		{"coalesced_total", "Requests that shared a download which another request had begun.", "", "", s.Coalesced},
		{"downloads_total", "Downloads of archives.", "", "", s.Downloads},
		{"downloaded_bytes_total", "Bytes of archives that were downloaded whole.", "", "", s.DownloadedSize},
		{"verify_failures_total", "Archives that weren't authentic.", "", "", s.Refused},
		{"failures_total", failures, "kind", "not_found", s.NotFound},
		{"failures_total", failures, "kind", "failed", s.Failed},
		{"failures_total", failures, "kind", "broken_off", s.Broken},
		{"stale_total", "Older answers of upstreams that counted because they failed.", "", "", s.Stale},
		{"source_failures_total", "Failures of upstreams where nothing was known.", "", "", s.SourceFailures},
		{"store_failures_total", "Failures to write the store.", "", "", s.StoreFailures},
		{"removed_total", "Archives that were removed because of -max-size.", "", "", s.Removed},
		{"removed_bytes_total", "Their bytes.", "", "", s.RemovedSize},
	}
}

// counted are the metrics of counts.
func (f front) counted() *prometheus.Registry {
	counted := prometheus.NewRegistry()
	for i, c := range f.counts() {
		o := prometheus.CounterOpts{Name: "tfdeps_" + c.name, Help: c.help}
		if c.label != "" {
			o.ConstLabels = prometheus.Labels{c.label: c.value}
		}
		counted.MustRegister(prometheus.NewCounterFunc(o, func() float64 { return float64(f.counts()[i].number) }))
	}
	counted.MustRegister(gauge("tfdeps_downloads_running", "Downloads that run.", func() int64 { return f.mirror.Stats().Downloading }))
	return counted
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
	all, stored := prometheus.Gatherers{f.counted(), f.upstreams.registry, prometheus.DefaultGatherer}, f.stored()
	return func(w http.ResponseWriter, r *http.Request) {
		now := all
		if f.held.Get() != nil {
			now = append(slices.Clone(all), stored)
		}
		promhttp.HandlerFor(now, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	}
}
