package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// run is the record of what a command does. Bars, lines, the summary, objects for programs and the web page are made of it.
// It is for one goroutine at a time.
type run struct {
	product   getproviders.Product
	now       func() time.Time
	began     time.Time
	doing     string                // what is said to be done to a provider whose archives are put somewhere
	platform  getproviders.Platform // of packages of which events don't tell it; zero: the present one
	installs  bool                  // into a directory, so that each provider has one package of this platform
	platforms bool                  // a package may be wanted for several platforms
	verifies  bool                  // nothing is fetched, so that nothing can be kept
	silent    bool                  // no lines are printed, so that warnings have what they would say
	items     map[packageKey]*item
	order     []*item // what is in the page, in the order of the first events
	turns     turns
	heads     turns // of providers that have no packages: built-in ones, and those without a version
	tasks     terminal.Tasks
	touched   *terminal.Task  // by the last event; nil: none was
	signed    bool            // a package was installed whose signer isn't HashiCorp
	problems  problem.Log     // each once
	showing   explain.Showing // of the problems
	errors    int             // that were shown
	warnings  int
	modules   int    // that are called
	directory string // that the run is about now, of several
	changed   bool   // something else was done than looking
}

func newRun(o Options) *run {
	r := &run{product: o.Product, showing: explain.Showing{Called: o.Showing.Called}, platforms: o.Platforms, now: o.Now, items: map[packageKey]*item{}}
	if r.now == nil {
		r.now = time.Now
	}
	r.began, r.tasks.Now = r.now(), r.now
	return r
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

	key       packageKey
	task      terminal.Task // how far it is
	state     event.State
	directory string       // "": there is only one
	warnings  problem.List // of its sources
	way       way
	keyID     string
	fetched   int64 // Came, once it is in its place
	err       error
	seen      bool        // something has happened to it
	span      result.Span // from when its version was known, or from when it was fetched
	doing     string
	since     float64 // when doing began

	told     []line // what has been said of it, until its turn comes
	expected bool   // it is among the turns
	done     bool   // nothing more will be said
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

// itemOf is the item of the package that an event is about. In an installation that is its provider's, but for packages of other platforms.
func (r *run) itemOf(o event.Outcome) *item {
	current := getproviders.CurrentPlatform()
	key := packageOf(o)
	key.Platform = cmp.Or(key.Platform, r.platform, current)
	switch {
	case r.verifies:
		key.Dir = o.Path
	case r.installs && key.Platform == current:
		key = packageKey{Provider: o.Provider}
	}
	return r.item(key)
}

// item finds or begins what is known of a package, of a provider with all its packages, or of a module, of which something has happened.
func (r *run) item(key packageKey) *item {
	w := r.awaited(key)
	if !w.seen && key.Version.IsZero() && key.Dir == "" {
		r.order = append(r.order, w)
	}
	w.seen = true
	return w
}

// awaited is item for what hasn't begun.
func (r *run) awaited(key packageKey) *item {
	w := r.items[key]
	if w == nil {
		w = &item{Kind: "module", Name: key.Module, Spans: []reportSpan{}, key: key, directory: r.directory}
		r.items[key] = w
		if key.Module == "" {
			w.Kind, w.Name = "provider", r.product.Short(key.Provider)
		}
	}
	return w
}

// query is what there is to say of how the provider's version is chosen.
func (r *run) query(p getproviders.Provider) *item {
	return r.awaited(packageKey{Provider: p, Query: true})
}

// tell keeps lines until their turn. Of what isn't expected, or not any more, nothing is said.
func (w *item) tell(done bool, lines ...line) {
	if w.expected {
		w.told, w.done = append(w.told, lines...), w.done || done
	}
}

// turns are what lines are about, in the order in which they are printed, whichever is done first: those about one package are
// printed when all before it are done.
type turns []*item

// expect adds what lines are going to be about.
func (t *turns) expect(w *item) {
	w.expected, w.done = true, false
	*t = append(*t, w)
}

// take removes and returns the lines whose turn it is.
func (t *turns) take() (all []line) {
	for len(*t) > 0 {
		first := (*t)[0]
		all = append(all, first.told...)
		if first.told = nil; !first.done {
			break
		}
		first.expected = false
		*t = (*t)[1:]
	}
	return all
}

// rest removes and returns all lines: an interrupted run doesn't finish every package.
func (t *turns) rest() (all []line) {
	for _, w := range *t {
		w.done = true
	}
	return t.take()
}

// begin notes when the work on a package began.
func (r *run) begin(w *item) { w.span = result.Span{Begun: r.now()} }

// over notes when it ended; where it didn't begin there is nothing to note.
func (r *run) over(w *item) {
	if !w.span.Begun.IsZero() {
		w.span.Ended = r.now()
	}
}

// span is when the work on a package began and ended.
func (r *run) span(o event.Outcome) result.Span { return r.itemOf(o).span }

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
func (r *run) finish(w *item, state event.State) {
	at := r.at()
	w.enter("", at)
	w.state, w.Outcome = state, strings.ReplaceAll(string(state), "_", " ")
	w.Spans = append(w.Spans, reportSpan{"done", at, at})
	r.over(w)
}

// overridden is for a provider that comes by other means than a package.
func (r *run) overridden(p getproviders.Provider, by string) *item {
	w := r.item(packageKey{Provider: p})
	w.Source = by
	r.finish(w, "overridden")
	return w
}

// takeWarnings are what registries had to say to their users, in the order of the providers' addresses.
func (r *run) takeWarnings() (all problem.List) {
	items := slices.SortedFunc(maps.Values(r.items), func(a, b *item) int { return a.key.Provider.Compare(b.key.Provider) })
	for _, w := range items {
		all, w.warnings = append(all, w.warnings...), nil
	}
	return all
}

// observeModules is for the events of modules. Those that needn't be fetched aren't among the items.
func (r *run) observeModules(e modules.Event) {
	r.changed = true
	switch e := e.(type) {
	case modules.Downloading:
		w := r.item(packageKey{Module: e.Key})
		w.Source, w.Version, w.way, w.span = e.Package, e.Version, moduleFetched, result.Span{Begun: r.now()}
		w.enter("fetch", r.at())
	case modules.Recorded:
		if w := r.items[packageKey{Module: e.Key}]; w != nil {
			r.finish(w, event.Fetched)
		}
	}
}

// object is what programs get to know of what became of a provider, by a type that neither Terraform nor OpenTofu has.
func (w *item) object() line {
	keys, text := result.Object{"provider", w.key.Provider, "action", w.state}, w.Name
	if w.Version != "" && w.err == nil {
		keys = append(keys, "version", w.Version)
		text = w.what()
	}
	switch w.state {
	case "overridden":
		keys = append(keys, "source", w.Source)
	case event.Linked:
		keys = append(keys, "cache", "hit", "link", w.How)
	case event.Fetched:
		cache := "unused"
		if w.How != "" {
			cache = "filled"
		}
		keys = append(keys, "source", w.Source, "bytes", w.fetched, "cache", cache, "link?", w.How, "authentication", w.Trust, "key_id?", w.keyID)
	}
	return line{json: text + ": " + string(w.state), kind: "package", keys: slices.Concat(keys, result.ErrorObject(w.err), w.span.Object())}
}

// moduleObject is the object for a module that is in its place now.
func (r *run) moduleObject(e modules.Recorded) line {
	w := r.items[packageKey{Module: e.Key}]
	keys := result.Object{"key", e.Key, "source", modules.Redact(e.Source), "dir", e.Dir, "fetched", w != nil, "version?", e.Version}
	if w != nil {
		keys = append(keys, w.span.Object()...)
	}
	return line{json: "module " + e.Key + " in " + e.Dir, kind: "module", keys: keys}
}
