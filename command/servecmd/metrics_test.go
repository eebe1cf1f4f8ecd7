package servecmd

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// newFront has a server of a registry with acme/widget.
func newFront(t *testing.T) (front, *providertest.Registry) {
	t.Helper()
	registry := providertest.New(t)
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}})
	f := front{log: slog.New(slog.DiscardHandler), now: time.Now, version: "1.2.3", upstreams: new(upstreams), held: new(par.Latest[held])}
	client := hosts.WithObserver(registry.Client(), time.Now, f.upstreams.observe)
	source := &getproviders.RegistrySource{Client: client, Discovery: &hosts.Discovery{Client: client, Forced: map[hosts.Hostname]map[string]string{
		providertest.Host: {"providers.v1": registry.ServiceURL()}}}}
	var err error
	if f.mirror, err = mirrorserver.Handler(source, blob.NewDirectory(t.TempDir()), mirrorserver.Options{Client: client, Temporary: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.mirror.Close)
	return f, registry
}

// ask returns the answer to a request, whose path has a token behind "#".
func (f front) ask(t *testing.T, target string, want int) *httptest.ResponseRecorder {
	t.Helper()
	path, token, _ := strings.Cut(target, "#")
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Authorization", token)
	f.handler().ServeHTTP(w, r)
	if w.Code != want {
		t.Errorf("%s: %d, want %d: %.200s", path, w.Code, want, w.Body)
	}
	return w
}

const widget = "/mirror/" + string(providertest.Host) + "/acme/widget/"

// sampleLine is a sample of Prometheus' text format.
var sampleLine = regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? -?[0-9.e+]+$`)

func TestFront_HasMetrics(t *testing.T) {
	f, registry := newFront(t)
	for range 2 {
		f.ask(t, widget+"1.0.0.json", http.StatusOK)
		f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
		for f.mirror.Stats().Downloading > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	registry.Break("versions", providertest.Fault{Status: http.StatusInternalServerError})
	f.ask(t, strings.Replace(widget, "widget", "none", 1)+"index.json", http.StatusBadGateway)
	f.upstreams.observe(hosts.Exchange{Host: "quo\"te\\\n", Took: 3 * time.Second})
	defer background(t.Context(), f.look)()
	for f.held.Get() == nil {
		time.Sleep(time.Millisecond)
	}
	text := f.ask(t, "/metrics", http.StatusOK).Body.String()
	kind := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if comment, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, of, _ := strings.Cut(comment, " ")
			kind[name] = of
			continue
		}
		name := sampleLine.FindStringSubmatch(line)
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		if name == nil {
			t.Errorf("no sample: %s", line)
			continue
		}
		family := name[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(family, suffix); ok && kind[base] == "histogram" {
				family = base
			}
		}
		if kind[family] == "" {
			t.Errorf("without a type: %s", line)
		}
	}
	host := strings.TrimPrefix(registry.BaseURL(), "https://")
	for _, want := range []string{
		"tfdeps_requests_total 5\n", `tfdeps_archives_total{from="store"} 1` + "\n", `tfdeps_archives_total{from="upstream"} 1` + "\n", `tfdeps_failures_total{kind="failed"} 1` + "\n",
		fmt.Sprintf(`tfdeps_upstream_errors_total{host=%q,kind="status"} 1`, host), fmt.Sprintf(`tfdeps_upstream_seconds_bucket{host=%q,le="+Inf"}`, host),
		`tfdeps_upstream_seconds_bucket{host="quo\"te\\\n",le="2.5"} 0` + "\n", `tfdeps_upstream_seconds_bucket{host="quo\"te\\\n",le="5"} 1` + "\n",
		`tfdeps_upstream_seconds_sum{host="quo\"te\\\n"} 3` + "\n", "tfdeps_store_archives 1\n", "tfdeps_verify_failures_total 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

func TestUpstreams_AreFew(t *testing.T) {
	u := new(upstreams)
	for i := range 2 * maxUpstreams {
		u.observe(hosts.Exchange{Host: fmt.Sprint(i), Status: 200})
	}
	all := u.byHost.All()
	if other := all["other"]; len(all) != maxUpstreams+1 || other == nil || other.within[0].Value() != maxUpstreams {
		t.Errorf("%d hosts have metrics of their own", len(all))
	}
}

func TestFront_ShowsHowItDoesToThoseWhoMay(t *testing.T) {
	f, _ := newFront(t)
	f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
	var s status
	if err := json.Unmarshal(f.ask(t, "/status.json", http.StatusOK).Body.Bytes(), &s); err != nil || s.Version != "1.2.3" || s.Stats.Requests != 1 || len(s.Upstreams) != 1 || s.Downloads == nil {
		t.Errorf("%+v, %v", s, err)
	}
	page := f.ask(t, "/", http.StatusOK)
	if !strings.Contains(page.Header().Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(page.Body.String(), "status.json") {
		t.Errorf("%v", page.Header())
	}
	f.ask(t, "/other", http.StatusNotFound)
	f.allow = func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer good" }
	for _, path := range []string{"/", "/status.json", "/metrics"} {
		if got := f.ask(t, path, http.StatusUnauthorized); got.Header().Get("WWW-Authenticate") == "" {
			t.Error("a browser isn't told to ask for a password")
		}
		f.ask(t, path+"#Bearer good", http.StatusOK)
	}
	f.ask(t, "/healthz", http.StatusOK)
	f.ask(t, "/readyz", http.StatusOK)
}
