package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/screentest"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// hostileText would become markup, or end the data, in a careless page.
const hostileText = "</script><script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\"><!--<script>&lt;b&gt;\u2028/*DATA*/HASH"

// reportProvider returns a provider with the given type.
func reportProvider(name string) getproviders.Provider {
	return getproviders.Provider{Hostname: hosts.Hostname("registry.terraform.io"), Namespace: "acme", Type: name}
}

// sampleReport returns the page of a failed run, with count providers of all kinds.
func sampleReport(t *testing.T, count int) string {
	t.Helper()
	clock := newWatch()
	r := newRun(Options{Now: clock.now, Names: asTerraform})
	r.installs = true
	clock.Advance(20 * time.Millisecond)
	r.observeModules(modules.Downloading{Key: "network", Package: "registry.terraform.io/acme/network/aws", Version: "3.2.1"})
	clock.Advance(180 * time.Millisecond)
	r.observeModules(modules.Recorded{Record: modules.Record{Key: "network"}})
	r.observeModules(modules.Recorded{Record: modules.Record{Key: "local"}})
	version, _ := getproviders.ParseVersion("5.60.0")
	providers := []getproviders.Provider{reportProvider("x" + hostileText)}
	for i := range count - 1 {
		providers = append(providers, reportProvider(fmt.Sprintf("provider%02d", i)))
	}
	for i, p := range providers {
		r.observe(on(event.Query, p))
		clock.Advance(3 * time.Millisecond)
		r.observe(on(event.Selected, p, version))
		total := int64(1+i%7*i%7) * 17_300_000
		switch {
		case i%5 == 3:
			r.observe(ended(event.Present, p, version))
		case i%5 == 4:
			r.observe(on(event.Hashing, p, version))
			clock.Advance(15 * time.Millisecond)
			r.observe(on(event.Begun, p, event.Linking))
			clock.Advance(6 * time.Millisecond)
			r.observe(ended(event.Linked, p, version, providercache.LinkHardlink))
		case i%13 == 1:
			r.observe(on(event.Progress, p, [2]int64{total / 3, total}))
			r.observe(ended(event.Failed, p, errors.New("the connection was reset "+hostileText)))
		default:
			r.observe(on(event.Fetching, p, version, "registry.terraform.io"))
			r.observe(on(event.Progress, p, [2]int64{0, total}))
			clock.Advance(time.Duration(total/200_000) * time.Millisecond)
			r.observe(on(event.Progress, p, [2]int64{total, total}))
			r.observe(on(event.Begun, p, event.Unpacking))
			clock.Advance(time.Duration(total/900_000) * time.Millisecond)
			r.observe(ended(event.Fetched, p, version, "registry.terraform.io "+hostileText, providercache.LinkHardlink))
		}
	}
	r.addProblems(problem.List{
		problem.Error("", "Failed to install provider", "Error while installing acme/provider00 v5.60.0: the connection was reset.\n\nhint: try again "+hostileText), problem.Warning("A warning "+hostileText, ""),
	})
	var page bytes.Buffer
	must.Succeed(t, (&Init{Activity: &Activity{run: r}}).WriteReport(&page, ReportHead{Own: "dev", Directory: "/home/someone/infrastructure/production", Failed: true}))
	return page.String()
}

// dataIn returns the data of a page.
func dataIn(t *testing.T, page string) (data struct {
	Directory string
	Took      float64
	Failed    bool
	Rows      []item
	Problems  []struct{ Detail string }
}) {
	t.Helper()
	_, text, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, _ = strings.Cut(text, "</script>")
	must.Succeed(t, json.Unmarshal([]byte(text), &data), text)
	return data
}

func TestReport_TellsWhatHappenedWhen(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	r := newRun(Options{Now: clock.now, Names: asTerraform})
	r.installs = true
	p, q, gone := reportProvider("p"), reportProvider("q"), reportProvider("gone")
	version, _ := getproviders.ParseVersion("1.2.3")
	for _, step := range []struct {
		ms int
		e  event.Event
	}{
		{1, on(event.Query, p)}, {2, on(event.Query, q)}, {3, on(event.Query, gone)},
		{10, on(event.Selected, p, version)}, {12, on(event.Selected, q, version)},
		{20, on(event.Fetching, p, version, "somewhere")}, {21, on(event.Hashing, q)},
		{25, on(event.Progress, p, [2]int64{2, 5})}, {30, on(event.Progress, p, [2]int64{5, 5})},
		{31, on(event.Begun, p, event.Unpacking)}, {32, on(event.Begun, q, event.Linking)},
		{33, ended(event.Linked, q, version, providercache.LinkClone)}, {39, on(event.Begun, p, event.Linking)}, {42, ended(event.Fetched, p, version, "somewhere")},
	} {
		clock.Time = time.Time{}.Add(time.Duration(step.ms) * time.Millisecond)
		r.observe(step.e)
	}
	clock.Advance(8 * time.Millisecond)
	var page bytes.Buffer
	must.Succeed(t, (&Init{Activity: &Activity{run: r}}).WriteReport(&page, ReportHead{Failed: true}))
	data := dataIn(t, page.String())
	var got strings.Builder
	for _, row := range data.Rows {
		fmt.Fprintf(&got, "%s %s %s %s %s %d/%d", row.Name, row.Version, row.Outcome, row.How, row.Source, row.Came, row.Bytes)
		for _, s := range row.Spans {
			fmt.Fprintf(&got, " %s:%v-%v", s.What, s.From, s.To)
		}
		got.WriteString("\n")
	}
	want := "acme/p 1.2.3 fetched  somewhere 3/5 ask:1-10 fetch:20-31 unpack:31-39 link:39-42 done:42-42\n" +
		"acme/q 1.2.3 linked clone shared cache 0/0 ask:2-12 read:21-32 link:32-33 done:33-33\n" +
		"acme/gone     0/0 ask:3-50\n"
	if got.String() != want || data.Took != 50 || !data.Failed {
		t.Errorf("after %v ms:\n%swant\n%s", data.Took, &got, want)
	}
}

// Names, sources and errors may be hostile. In the page they are data that can't end the script element, and the only
// script that runs is the one with the hash in the page's policy.
func TestReport_HoldsNoMarkupOfOthers(t *testing.T) {
	t.Parallel()
	page := sampleReport(t, 3)
	must.Equal(t, strings.Count(page, "<script"), 2)
	if strings.Contains(page, "<img") || strings.Count(page, "</script>") != 2 || strings.Contains(page, "src=") && strings.Contains(page, `src="`) {
		t.Error("the page has markup that came in as data")
	}
	must.Contain(t, dataIn(t, page).Rows[1].Name, terminal.Printable(hostileText), dataIn(t, page).Rows[1])
	for _, resource := range []string{"http://", "https://", "@import", "url("} {
		must.NotContain(t, page, resource)
	}
	t.Run("in a browser", reportInABrowser)
}

// reportInABrowser: a browser draws a row for each of a hundred providers, in either colours, and takes none of the texts for markup.
func reportInABrowser(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.html")
	must.Write(t, page, sampleReport(t, 100))
	dom := screentest.Browse(t, "file://"+page, "--dump-dom")
	must.Equal(t, strings.Count(dom, `<div class="row`), 102, dom)
	for _, want := range []string{"<title>tfdeps init: failed in ", "acme/provider42", "acme/x&lt;/script&gt;&lt;script&gt;", `<b>Failed to install provider</b>`, ">20 linked from the cache<"} {
		must.Contain(t, strings.ReplaceAll(dom, ", 20 linked from the cache", ">20 linked from the cache<"), want, dom)
	}
	if strings.Contains(dom, "<img") || strings.Contains(dom, "<title>hacked") {
		t.Error("a text became markup")
	}
}
