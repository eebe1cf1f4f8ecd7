package servecmd

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

//go:embed status.html
var statusPage []byte

// statusPolicy is the Content-Security-Policy of the page, which runs its own script and sends requests to this server only.
const statusPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The store is listed every heldEvery, and newsEvery after an archive was stored. The page shows
// heldPackages archives.
const (
	heldEvery    = time.Minute
	newsEvery    = 2 * time.Second
	heldPackages = 200
)

// held is the content of the store when it was listed last.
type held struct {
	Archives int
	Bytes    int64
	Newest   []mirrorserver.StoredPackage
	At       time.Time
}

// look lists the store again and again until the context ends.
func (f *front) look(ctx context.Context) {
	for ctx.Err() == nil {
		before, begun := f.changes(), f.now()
		all, err := f.mirror.StoredPackages(ctx)
		if err == nil {
			f.held.Store(&held{Archives: len(all), Bytes: bytesOf(all), Newest: all[:min(len(all), heldPackages)], At: f.now().UTC()})
		} else if ctx.Err() == nil {
			f.log.Error("the store can't be listed", "error", err.Error())
		}
		f.awaitNews(ctx, before, f.now().Sub(begun))
	}
}

// changes returns how many downloads run, and a number that changes with each download and removal.
func (f *front) changes() (n [2]int64) {
	for _, stat := range f.mirror.Stats() {
		switch stat.Name {
		case "downloads_running":
			n[0] = stat.Value
		case "downloaded_bytes_total", "removed_total":
			n[1] += stat.Value
		}
	}
	return n
}

// awaitNews waits until archives were added or removed, but at most heldEvery. It waits longer for a store that takes long
// to list.
func (f *front) awaitNews(ctx context.Context, before [2]int64, listing time.Duration) {
	step := min(max(f.news, 100*listing), heldEvery)
	for waited := time.Duration(0); waited < heldEvery && ctx.Err() == nil; waited += step {
		par.Pause(ctx, step)
		if before[0] > 0 || f.changes()[1] != before[1] {
			return
		}
	}
}

// status is the content of the page.
type status struct {
	Version   string
	Begun     time.Time
	Now       time.Time
	Stats     map[string]int64
	Downloads []mirrorserver.Download
	Upstreams map[string]upstreamStatus
	Store     *held `json:",omitempty"`
}

type upstreamStatus struct {
	Requests, Errors int64
	Seconds          float64 // of all requests together
}

// serveStatus answers the page's script.
func (f *front) serveStatus(w http.ResponseWriter, _ *http.Request) {
	s := status{Version: f.version, Begun: f.begun.UTC(), Now: f.now().UTC(), Stats: map[string]int64{}, Downloads: f.mirror.DownloadsNow(), Store: f.held.Load(), Upstreams: f.timings.status()}
	for _, stat := range f.mirror.Stats() {
		s.Stats[stat.Name] = stat.Value
	}
	body, err := json.Marshal(s)
	if err != nil {
		http.Error(w, "the status can't be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(body)
}

func servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", statusPolicy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(statusPage)
}
