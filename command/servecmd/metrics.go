package servecmd

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// The text format of Prometheus is written here: its client library makes the program 2.95 MB larger, the writer of prometheus/common 2.0 MB, and
// the one of VictoriaMetrics takes 46 kB and 1.7 ms before main, which every command would pay for.

// latencies are the bounds of the histogram of upstreams, in seconds.
var latencies = [...]float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// maxUpstreams is how many hosts have metrics of their own: requests name hosts, too.
const maxUpstreams = 100

// upstreams counts requests by host.
type upstreams struct {
	byHost par.Shared[string, *upstream]
	number par.Counter
}

// upstream is what is counted of a host.
type upstream struct {
	within      [len(latencies) + 1]par.Counter
	nanoseconds par.Counter
	failed      par.Counter // no answer
	refused     par.Counter // statuses from 400 on
}

func (u *upstreams) observe(e hosts.Exchange) {
	host := e.Host
	if u.number.Value() >= maxUpstreams && !u.byHost.Has(host) {
		host = "other"
	}
	share, made := u.byHost.Join(host, func() *upstream { return new(upstream) })
	if made {
		u.number.Add(1)
	}
	of := share.Value
	at, _ := slices.BinarySearch(latencies[:], e.Took.Seconds()) // a bound belongs to its bucket
	of.within[at].Add(1)
	of.nanoseconds.Add(int64(e.Took))
	switch {
	case e.Status == 0:
		of.failed.Add(1)
	case e.Status >= 400:
		of.refused.Add(1)
	}
}

// metric writes metrics.
type metrics struct{ text bytes.Buffer }

// family writes what a metric is.
func (m *metrics) family(name, kind, help string) {
	fmt.Fprintf(&m.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes a value. Labels are pairs of a name and a value.
func (m *metrics) sample(name string, value float64, labels ...string) {
	m.text.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		m.text.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		fmt.Fprintf(&m.text, `%s="%s"`, labels[i], strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		m.text.WriteByte('}')
	}
	m.text.WriteByte(' ')
	m.text.WriteString(strconv.FormatFloat(value, 'g', -1, 64))
	m.text.WriteByte('\n')
}

// one writes a metric that has one value.
func (m *metrics) one(name, kind, help string, value int64) {
	m.family(name, kind, help)
	m.sample(name, float64(value))
}

// server writes what a server has done.
func (m *metrics) server(s mirrorserver.Stats) {
	m.one("tfdeps_requests_total", "counter", "Requests.", s.Requests)
	m.one("tfdeps_documents_total", "counter", "Answers with a document, those included that say that nothing has changed.", s.Documents)
	m.family("tfdeps_archives_total", "counter", "Archives that were sent, from the store or while they were downloaded.")
	m.sample("tfdeps_archives_total", float64(s.Stored), "from", "store")
	m.sample("tfdeps_archives_total", float64(s.Fetched), "from", "upstream")
	m.family("tfdeps_archive_bytes_total", "counter", "Bytes of archives that were sent.")
	m.sample("tfdeps_archive_bytes_total", float64(s.StoredSize), "from", "store")
	m.sample("tfdeps_archive_bytes_total", float64(s.FetchedSize), "from", "upstream")
	m.one("tfdeps_coalesced_total", "counter", "Requests that shared a download which another request had begun.", s.Coalesced)
	m.one("tfdeps_downloads_total", "counter", "Downloads of archives.", s.Downloads)
	m.one("tfdeps_downloads_running", "gauge", "Downloads that run.", s.Downloading)
	m.one("tfdeps_downloaded_bytes_total", "counter", "Bytes of archives that were downloaded whole.", s.DownloadedSize)
	m.one("tfdeps_verify_failures_total", "counter", "Archives that weren't authentic.", s.Refused)
	m.family("tfdeps_failures_total", "counter", "Answers that were errors, by kind.")
	m.sample("tfdeps_failures_total", float64(s.NotFound), "kind", "not_found")
	m.sample("tfdeps_failures_total", float64(s.Failed), "kind", "failed")
	m.sample("tfdeps_failures_total", float64(s.Broken), "kind", "broken_off")
	m.one("tfdeps_stale_total", "counter", "Older answers of upstreams that counted because they failed.", s.Stale)
	m.one("tfdeps_source_failures_total", "counter", "Failures of upstreams where nothing was known.", s.SourceFailures)
	m.one("tfdeps_store_failures_total", "counter", "Failures to write the store.", s.StoreFailures)
	m.one("tfdeps_removed_total", "counter", "Archives that were removed because of -max-size.", s.Removed)
	m.one("tfdeps_removed_bytes_total", "counter", "Their bytes.", s.RemovedSize)
}

// upstreams writes what hosts have answered.
func (m *metrics) upstreams(u *upstreams) {
	all := u.byHost.All()
	names := slices.Sorted(maps.Keys(all))
	const latency = "tfdeps_upstream_seconds"
	m.family(latency, "histogram", "Time until upstreams answered, retries included.")
	for _, name := range names {
		total := int64(0)
		for i, bound := range latencies {
			total += all[name].within[i].Value()
			m.sample(latency+"_bucket", float64(total), "host", name, "le", strconv.FormatFloat(bound, 'g', -1, 64))
		}
		total += all[name].within[len(latencies)].Value()
		m.sample(latency+"_bucket", float64(total), "host", name, "le", "+Inf")
		m.sample(latency+"_sum", time.Duration(all[name].nanoseconds.Value()).Seconds(), "host", name)
		m.sample(latency+"_count", float64(total), "host", name)
	}
	m.family("tfdeps_upstream_errors_total", "counter", "Requests to upstreams without an answer, or with one that is an error.")
	for _, name := range names {
		m.sample("tfdeps_upstream_errors_total", float64(all[name].failed.Value()), "host", name, "kind", "no_answer")
		m.sample("tfdeps_upstream_errors_total", float64(all[name].refused.Value()), "host", name, "kind", "status")
	}
}

// serveMetrics answers Prometheus.
func (f front) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	var m metrics
	m.server(f.mirror.Stats())
	m.upstreams(f.upstreams)
	if held := f.held.Get(); held != nil {
		m.one("tfdeps_store_archives", "gauge", "Archives in the store, as of some minutes ago.", int64(held.Archives))
		m.one("tfdeps_store_bytes", "gauge", "Their bytes.", held.Bytes)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(m.text.Bytes())
}
