package servecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

var quiet = slog.New(slog.DiscardHandler)

func quietFront() *front { return newFront(quiet, time.Now) }

// idle waits for downloads that go on in the background.
func (f *front) idle() {
	for stat(f.mirror, "downloads_running") > 0 {
		time.Sleep(time.Millisecond)
	}
}

// looks runs look until the test ends, and waits for the first list of the store.
func (f *front) looks(t *testing.T) {
	t.Cleanup(background(t.Context(), f.look))
	for f.held.Load() == nil {
		time.Sleep(time.Millisecond)
	}
}

// widgetRegistry starts a registry with acme/widget.
func widgetRegistry(t *testing.T) *providertest.Registry {
	t.Helper()
	registry := providertest.New(t)
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}})
	return registry
}

// frontOf makes a server of a registry with acme/widget.
func frontOf(t *testing.T) (*front, *providertest.Registry) {
	t.Helper()
	return frontIn(t, t.TempDir())
}

// frontIn is frontOf with packages in a directory.
func frontIn(t *testing.T, dir string) (*front, *providertest.Registry) {
	t.Helper()
	registry := widgetRegistry(t)
	f := quietFront()
	f.version = "1.2.3"
	client := hosts.WithObserver(registry.Client(), time.Now, f.timings.observe)
	source := &getproviders.RegistrySource{Client: client, Discovery: &hosts.Discovery{Client: client, Forced: map[hosts.Hostname]map[string]string{
		providertest.Host: {"providers.v1": registry.ServiceURL()}}}}
	f.mirror = must.Get(mirrorserver.Handler(&providercache.Fetcher{Source: source, Client: client}, blob.NewDirectory(dir), mirrorserver.Options{Temporary: t.TempDir()}))(t)
	t.Cleanup(f.mirror.Close)
	return f, registry
}

// ask returns the response to a request; target is a path, with a token after "#".
func (f *front) ask(t *testing.T, target string, want int) *httptest.ResponseRecorder {
	t.Helper()
	path, token, _ := strings.Cut(target, "#")
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Authorization", token)
	f.handler().ServeHTTP(w, r)
	must.Equal(t, w.Code, want, path, w.Body)
	return w
}

// stat returns a server's counter.
func stat(server *mirrorserver.Server, name string) int64 {
	for _, s := range server.Stats() {
		if s.Name == name {
			return s.Value
		}
	}
	return 0
}

const widget = "/mirror/" + string(providertest.Host) + "/acme/widget/"

func TestFront_HasMetrics(t *testing.T) {
	f, registry := frontOf(t)
	for range 2 {
		f.ask(t, widget+"1.0.0.json", http.StatusOK)
		f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
		f.idle()
	}
	registry.Break("versions", providertest.Fault{Status: http.StatusInternalServerError})
	f.ask(t, strings.Replace(widget, "widget", "none", 1)+"index.json", http.StatusBadGateway)
	f.timings.observe(hosts.Exchange{Host: "quo\"te\\\n", Took: 3 * time.Second})
	f.looks(t)
	text := f.ask(t, "/metrics", http.StatusOK).Body.String()
	host := strings.TrimPrefix(registry.BaseURL(), "https://")
	for _, want := range []string{
		"tfdeps_requests_total 5\n", `tfdeps_archives_total{from="store"} 1` + "\n", `tfdeps_archives_total{from="upstream"} 1` + "\n", `tfdeps_failures_total{kind="failed"} 1` + "\n",
		`tfdeps_request_seconds_count{route="archive"} 2` + "\n", `tfdeps_request_seconds_bucket{route="index",le="+Inf"} 1` + "\n", fmt.Sprintf("tfdeps_build_info{version=\"1.2.3\",go=%q} 1\n", runtime.Version()), "tfdeps_policy_refusals_total 0\n",
		fmt.Sprintf(`tfdeps_upstream_errors_total{host=%q,kind="status"} 1`, host), fmt.Sprintf(`tfdeps_upstream_seconds_bucket{host=%q,le="+Inf"}`, host),
		`tfdeps_upstream_seconds_bucket{host="quo\"te\\\n",le="2.5"} 0` + "\n", `tfdeps_upstream_seconds_bucket{host="quo\"te\\\n",le="5"} 1` + "\n",
		`tfdeps_upstream_seconds_sum{host="quo\"te\\\n"} 3` + "\n", "tfdeps_store_archives 1\n", "tfdeps_verify_failures_total 0\n",
		"\ngo_goroutines ", "\nprocess_resident_memory_bytes ", "\nprocess_start_time_seconds ", "\nprocess_open_fds ", fmt.Sprintf("\ngo_info{version=%q} 1\n", runtime.Version()),
	} {
		must.Contain(t, text, want)
	}
	page := must.Get(os.ReadFile("../../docs/fleet.md"))(t)
	sent := namesIn(`(?m)^# TYPE (tfdeps_\w+) `, text)
	must.EqualSlices(t, namesIn("`(tfdeps_\\w+)`", string(page)), sent)
}

// namesIn returns the matches of a pattern in a text, without duplicates.
func namesIn(pattern, text string) (names []string) {
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestFront_SeesWhatIsNewInTheStore: a new package is soon on the page, although the store
// is otherwise listed once a minute.
func TestFront_SeesWhatIsNewInTheStore(t *testing.T) {
	f, _ := frontOf(t)
	f.news = time.Millisecond
	f.looks(t)
	f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
	for deadline := time.Now().Add(20 * time.Second); f.held.Load().Archives == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it isn't seen")
		}
	}
}

// TestFront_IsntReadyWithoutItsBucket: /readyz of a server that can't read its bucket fails, so that balancers skip it, but not /healthz, so that
// it isn't restarted.
func TestFront_IsntReadyWithoutItsBucket(t *testing.T) {
	f, registry := frontOf(t)
	broken := must.Get(mirrorserver.Handler(&providercache.Fetcher{Source: registry.Source()}, unreadable{blob.NewDirectory(t.TempDir())}, mirrorserver.Options{}))(t)
	defer broken.Close()
	f.mirror = broken
	f.ask(t, "/readyz", http.StatusServiceUnavailable)
	f.ask(t, "/healthz", http.StatusOK)
}

// unreadable is a bucket whose service is down.
type unreadable struct{ blob.Bucket }

func (unreadable) Get(context.Context, string, blob.GetOptions) (*blob.Object, error) {
	return nil, errors.New("the service is down")
}

func TestUpstreams_AreFew(t *testing.T) {
	u := new(timings)
	for i := range 2 * maxUpstreams {
		u.observe(hosts.Exchange{Host: fmt.Sprint(i), Status: 200})
	}
	if all := u.status(); len(all) != maxUpstreams+1 || all["other"].Requests != maxUpstreams {
		t.Errorf("%d hosts have metrics of their own, and all others together %d requests", len(all), all["other"].Requests)
	}
}

func TestUpstreams_AddUpByHost(t *testing.T) {
	u := new(timings)
	for _, e := range []hosts.Exchange{
		{Host: "a.example.com", Status: 200, Took: time.Second}, {Host: "a.example.com", Status: 404, Took: 2 * time.Second}, {Host: "a.example.com", Took: time.Minute},
		{Host: "b.example.com:8443", Status: 304},
		{Host: "c\xff", Status: 500}, // an upstream may name any host for an archive, and a label has to be valid UTF-8
	} {
		u.observe(e)
	}
	want := map[string]upstreamStatus{
		"a.example.com": {Requests: 3, Errors: 2, Seconds: 63}, "b.example.com:8443": {Requests: 1}, "c\uFFFD": {Requests: 1, Errors: 1},
	}
	if got := u.status(); !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFront_ShowsHowItDoesToThoseWhoMay(t *testing.T) {
	f, _ := frontOf(t)
	f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
	var s status
	if err := json.Unmarshal(f.ask(t, "/status.json", http.StatusOK).Body.Bytes(), &s); err != nil || s.Version != "1.2.3" || s.Stats["requests_total"] != 1 || len(s.Upstreams) != 1 || s.Downloads == nil {
		t.Errorf("%+v, %v", s, err)
	}
	page := f.ask(t, "/", http.StatusOK)
	if !strings.Contains(page.Header().Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(page.Body.String(), "status.json") {
		t.Errorf("%v", page.Header())
	}
	for _, path := range []string{"/other", "/registry.example.com/acme/widget/index.json", "/.well-known/terraform.json"} { // with the server's name in place of its URL
		must.Contain(t, f.ask(t, path, http.StatusNotFound).Body.String(), "ends with /mirror/", path)
	}
	f.allow = func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer good" }
	f.measure = f.allow
	for _, path := range []string{"/", "/status.json", "/metrics"} {
		if got := f.ask(t, path, http.StatusUnauthorized); got.Header().Get("WWW-Authenticate") == "" {
			t.Error("a browser isn't told to ask for a password")
		}
		f.ask(t, path+"#Bearer good", http.StatusOK)
	}
	f.ask(t, "/healthz", http.StatusOK)
	f.ask(t, "/readyz", http.StatusOK)
	t.Run("in a browser", pageInABrowser)
}

// TestFront_MetricsHaveTokensOfTheirOwn: tokens of clients don't give access to the metrics, and those of the metrics not to packages.
func TestFront_MetricsHaveTokensOfTheirOwn(t *testing.T) {
	f, _ := frontOf(t)
	dir := must.WriteAll(t, t.TempDir(), map[string]string{"clients": "one", "metrics": "two"})
	o := options{tokens: filepath.Join(dir, "clients"), metricsTokens: filepath.Join(dir, "metrics")}
	read := func() error {
		return f.withFiles(t.Context(), o, &mirrorserver.Options{Log: f.log}, blob.NewDirectory(dir))
	}
	must.Succeed(t, read())
	f.ask(t, "/metrics#Bearer two", http.StatusOK)
	f.ask(t, "/metrics#Bearer one", http.StatusUnauthorized)
	f.ask(t, "/#Bearer two", http.StatusUnauthorized)
	o.metricsListen = "127.0.0.1:0"
	must.Succeed(t, read())
	f.ask(t, "/metrics#Bearer two", http.StatusNotFound)
	apart := http.NewServeMux()
	f.operate(apart, true)
	end := must.Get(serveBeside(t.Context(), "-metrics-listen", "127.0.0.1:0", apart, f.log))(t)
	end()
	for path, want := range map[string]int{"/metrics": http.StatusUnauthorized, "/healthz": http.StatusOK, "/": http.StatusNotFound} {
		w := httptest.NewRecorder()
		apart.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		must.Equal(t, w.Code, want, path)
	}
	o.metricsTokens = filepath.Join(dir, "none")
	must.Contain(t, read(), "-metrics-token", "a file that isn't there")
}
