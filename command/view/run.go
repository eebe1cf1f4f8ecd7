package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// run is the record of an init. The summary, the objects for programs and the web page are made of it.
// It is for one goroutine at a time.
type run struct {
	product  getproviders.Product
	now      func() time.Time
	began    time.Time
	items    map[string]*item // by kind and name
	order    []*item          // in the order of their first events
	problems []jsonProblem    // each once
	quota    quota            // of the problems
	errors   int              // that were shown
	warnings int
	modules  int  // that are called
	changed  bool // something else was done than looking
}

func newRun(o Options) *run {
	return &run{product: o.Product, now: o.Now, began: o.Now(), items: map[string]*item{}}
}

// item is what is known of a provider or a module. What has a name in JSON is in the page.
type item struct {
	Kind    string       `json:"kind"` // "provider" or "module"
	Name    string       `json:"name"`
	Version string       `json:"version,omitempty"`
	Outcome string       `json:"outcome,omitempty"` // "fetched", "linked", "present", "built in", "overridden", "failed"; "": it didn't end
	How     string       `json:"how,omitempty"`     // the link mode
	Source  string       `json:"source,omitempty"`
	Trust   string       `json:"trust,omitempty"`
	Bytes   int64        `json:"bytes,omitempty"` // of the archive, as far as it is here
	Came    int64        `json:"came,omitempty"`  // bytes over the network: less if an earlier run had kept some
	Error   string       `json:"error,omitempty"`
	Spans   []reportSpan `json:"spans"`

	provider getproviders.Provider
	way      way
	keyID    string
	fetched  int64 // Came, once it is in its place
	err      error
	span     span // from when its version was known, or from when it was fetched
	heard    bool // how far the download is was told
	doing    string
	since    float64 // when doing began
}

// way is how a package came into its place.
type way int

const (
	unknownWay    way = iota
	wasPresent        // it had been there
	fromCache         // linked
	fromLocal         // from directories of this machine
	downloaded        // or on its way
	partOfProduct     // a built-in provider
	didFail
	moduleFetched
	ways // how many there are
)

// reportSpan is a part of the time. From and To are milliseconds since the beginning of the run.
type reportSpan struct {
	What string  `json:"what"` // "ask", "read", "fetch", "unpack", "link"; "done" is a moment
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// phaseSpans are the spans of the phases of package event.
var phaseSpans = [...]string{event.Downloading: "fetch", event.Unpacking: "unpack", event.Verifying: "read", event.Linking: "link"}

// at is the present, in milliseconds since the beginning.
func (r *run) at() float64 { return float64(r.now().Sub(r.began).Microseconds()) / 1000 }

func (r *run) item(kind, name string) *item {
	key := kind + " " + name
	if r.items[key] == nil {
		r.items[key] = &item{Kind: kind, Name: name, Spans: []reportSpan{}}
		r.order = append(r.order, r.items[key])
	}
	return r.items[key]
}

func (r *run) provider(p getproviders.Provider) *item {
	w := r.item("provider", r.product.Short(p))
	w.provider = p
	return w
}

// advance records how far a download is. The first time it is what was here already; less than before means that all
// comes again.
func (w *item) advance(done int64) {
	switch {
	case !w.heard:
		w.heard = true
	case done < w.Bytes:
		w.Came += done
	default:
		w.Came += done - w.Bytes
	}
	w.Bytes = done
}

// enter ends what is done to the package, and begins something else; "": nothing.
func (w *item) enter(what string, at float64) {
	if w.doing == what {
		return
	}
	if w.doing != "" {
		w.Spans = append(w.Spans, reportSpan{w.doing, w.since, at})
	}
	w.doing, w.since = what, at
}

// finish ends what is open, and says what became of it.
func (r *run) finish(w *item, outcome string) {
	at := r.at()
	w.enter("", at)
	if w.Outcome = outcome; outcome != "" {
		w.Spans = append(w.Spans, reportSpan{"done", at, at})
	}
	if !w.span.begun.IsZero() {
		w.span.ended = r.now()
	}
}

// observe is for the events of providers. A package that was put into its place stays so, whatever a
// second look at it finds.
func (r *run) observe(e event.Event) {
	if e.Provider() == (getproviders.Provider{}) {
		return
	}
	w, at := r.provider(e.Provider()), r.at()
	switch e := e.(type) {
	case event.BuiltInEvent:
		w.way = partOfProduct
		r.finish(w, "built in")
	case event.QueryEvent:
		w.enter("ask", at)
	case event.SelectedEvent:
		w.Version, w.span = e.Version.String(), span{begun: r.now()}
		w.enter("", at)
	case event.HashingEvent:
		w.enter("read", at)
	case event.FetchingEvent:
		w.Source, w.span, w.way = e.Source, span{begun: r.now()}, downloaded
		switch e.Location.(type) {
		case getproviders.LocalArchive, getproviders.LocalDirectory:
			w.way = fromLocal
		}
		w.enter("fetch", at)
	case event.ProgressEvent:
		w.advance(e.Done)
	case event.PhaseEvent:
		w.enter(phaseSpans[e.Phase], at)
	default:
		r.ended(w, e)
	}
}

// ended is for the last event of a provider.
func (r *run) ended(w *item, e event.Event) {
	switch e := e.(type) {
	case event.FetchedEvent:
		w.Version, w.Source, w.Trust, w.keyID = e.Version.String(), cmp.Or(e.Source, w.Source), e.Authentication.TrustLevel.String(), e.Authentication.KeyID
		w.fetched = w.Came
		if w.How = e.Link.String(); e.Link == 0 {
			w.How = ""
		}
		r.finish(w, "fetched")
	case event.LinkedEvent:
		w.Version, w.How, w.Trust = e.Version.String(), e.Link.String(), e.Authentication.TrustLevel.String()
		w.Source, w.way = "shared cache", fromCache
		r.finish(w, "linked")
	case event.PresentEvent:
		if w.Version = e.Version.String(); w.way == unknownWay {
			w.way = wasPresent
		}
		r.finish(w, "present")
	case event.FailedEvent:
		w.way, w.err = didFail, e.Err
		w.Error = oneLine(withHint(e.Err))
		r.finish(w, "failed")
	}
}

// overridden is for a provider that comes by other means than a package.
func (r *run) overridden(p getproviders.Provider, by string) *item {
	w := r.provider(p)
	w.Source = by
	r.finish(w, "overridden")
	return w
}

// observeModules is for the events of modules. Those that needn't be fetched aren't among the items.
func (r *run) observeModules(e modules.Event) {
	r.changed = true
	switch e := e.(type) {
	case modules.Downloading:
		w := r.item("module", e.Key)
		w.Source, w.Version, w.way, w.span = e.Package, e.Version, moduleFetched, span{begun: r.now()}
		w.enter("fetch", r.at())
	case modules.Recorded:
		if w := r.items["module "+e.Key]; w != nil {
			r.finish(w, "fetched")
		}
	}
}

// record is an object that only programs get: of a type that neither Terraform nor OpenTofu has.
type record struct {
	kind string // its type
	text string // what people would be told
	keys map[string]any
}

// record is the object for what became of a provider.
func (w *item) record() record {
	did := strings.ReplaceAll(w.Outcome, " ", "_")
	keys, text := map[string]any{"provider": w.provider.String(), "action": did}, w.Name
	if w.Version != "" && w.err == nil {
		keys["version"] = w.Version
		text += " v" + w.Version
	}
	switch did {
	case "overridden":
		keys["source"] = w.Source
	case "linked":
		keys["cache"], keys["link"] = "hit", w.How
	case "fetched":
		keys["source"], keys["bytes"], keys["cache"], keys["authentication"] = w.Source, w.fetched, "unused", w.Trust
		if w.How != "" {
			keys["cache"], keys["link"] = "filled", w.How
		}
		if w.keyID != "" {
			keys["key_id"] = w.keyID
		}
	case "failed":
		failure := newJSONFailure(w.err)
		keys["error"], keys["code"] = failure.Error, failure.Code
	}
	w.span.addTo(keys)
	return record{"package", text + ": " + did, keys}
}

// moduleRecord is the object for a module that is in its place now.
func (r *run) moduleRecord(e modules.Recorded) record {
	w := r.items["module "+e.Key]
	keys := map[string]any{"key": e.Key, "source": modules.Redact(e.Source), "dir": e.Dir, "fetched": w != nil}
	if e.Version != "" {
		keys["version"] = e.Version
	}
	if w != nil {
		w.span.addTo(keys)
	}
	return record{"module", "module " + e.Key + " in " + e.Dir, keys}
}
