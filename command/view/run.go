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

// run is the record of what a command does. Bars, lines, the summary, objects for programs and the web page are made from it.
// It is for one goroutine at a time.
type run struct {
	explain.Names
	now       func() time.Time
	began     time.Time
	doing     string                // the verb for a provider whose archives are written, such as "Mirroring"
	platform  getproviders.Platform // of packages whose events have no platform; zero means the current one
	installs  bool                  // the command installs into a directory, so that each provider has one package of this platform
	platforms bool                  // packages may be for several platforms
	verifies  bool                  // packages are only verified, so that no partial download is kept
	silent    bool                  // no lines are printed, so that their texts become warnings
	items     map[packageKey]*item
	order     []*item // the rows of the page, in the order of the first events
	turns     turns
	heads     turns // of providers that have no packages: built-in ones, and those without a version
	tasks     terminal.Tasks
	touched   *terminal.Task  // the task that the last event changed, or nil
	signed    bool            // a package was installed whose signer isn't HashiCorp
	problems  problem.Log     // without duplicates
	showing   explain.Showing // how problems are shown
	errors    int             // how many were shown
	warnings  int
	modules   int    // how many are called
	directory string // the current one of several
	changed   bool   // the run has changed something
}

func newRun(o Options) *run {
	r := &run{Names: o.Names, platforms: o.Platforms, now: o.Now, items: map[packageKey]*item{}}
	if r.now == nil {
		r.now = time.Now
	}
	r.began, r.tasks.Now = r.now(), r.now
	return r
}

// item is a provider or a module. The fields with a name in JSON are in the page.
type item struct {
	Kind    string       `json:"kind"` // "provider" or "module"
	Name    string       `json:"name"`
	Version string       `json:"version,omitempty"`
	Outcome string       `json:"outcome,omitempty"` // "fetched", "linked", "present", "built in", "overridden", "failed"; "" if it didn't end
	How     string       `json:"how,omitempty"`     // the link mode
	Source  string       `json:"source,omitempty"`
	Trust   string       `json:"trust,omitempty"`
	Bytes   int64        `json:"bytes,omitempty"` // of the archive, as many as have arrived
	Came    int64        `json:"came,omitempty"`  // bytes over the network: fewer than Bytes if an earlier run kept a part
	Error   string       `json:"error,omitempty"`
	Spans   []reportSpan `json:"spans"`

	key       packageKey
	task      terminal.Task // its progress
	state     event.State
	directory string       // "" if the run has only one
	warnings  problem.List // of its sources
	way       way
	keyID     string
	short     string // the Source in short, if it was asked for a package
	fetched   int64  // Came, once the package is published
	err       error
	seen      bool        // an event was about it
	span      result.Span // begins when the version was selected, or when fetching began
	doing     string
	since     float64 // when doing began, as in reportSpan

	told     []line // lines that wait for its turn
	expected bool   // it is in turns
	done     bool   // no more lines follow
}

// way is how a package got into its directory.
type way int

const (
	unknownWay    way = iota
	wasPresent        // it was there before
	fromCache         // linked
	fromLocal         // from a directory of this machine
	downloaded        // or being downloaded
	partOfProduct     // a built-in provider
	didFail
	moduleFetched
	ways // the number of ways
)

// reportSpan is what was done when. From and To are milliseconds since the run started.
type reportSpan struct {
	What string  `json:"what"` // "ask", "read", "fetch", "unpack", "link"; "done" is a moment
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// phaseSpans are the spans of the phases of package event.
var phaseSpans = [...]string{event.Downloading: "fetch", event.Unpacking: "unpack", event.Verifying: "read", event.Linking: "link"}

// at is the current time in milliseconds since the run started.
func (r *run) at() float64 { return float64(r.now().Sub(r.began).Microseconds()) / 1000 }

// itemOf returns the item of an event's package. In an installation it is the provider's item, except for packages of other platforms.
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

// item finds or makes the item of a package, a provider or a module that an event is about.
func (r *run) item(key packageKey) *item {
	w := r.awaited(key)
	if !w.seen && key.Version.IsZero() && key.Dir == "" {
		r.order = append(r.order, w)
	}
	w.seen = true
	return w
}

// awaited is item for work that hasn't begun yet.
func (r *run) awaited(key packageKey) *item {
	w := r.items[key]
	if w == nil {
		w = &item{Kind: "module", Name: key.Module, Spans: []reportSpan{}, key: key, directory: r.directory}
		r.items[key] = w
		if key.Module == "" {
			w.Kind, w.Name = "provider", r.Short(key.Provider)
		}
	}
	return w
}

// query returns the item for the lines on how the provider's version is chosen.
func (r *run) query(p getproviders.Provider) *item {
	return r.awaited(packageKey{Provider: p, Query: true})
}

// tell keeps lines until the item's turn. Lines of an item that isn't in turns are dropped.
func (w *item) tell(done bool, lines ...line) {
	if w.expected {
		w.told, w.done = append(w.told, lines...), w.done || done
	}
}

// turns are items in the order in which their lines are printed, whichever is done first: the lines of an item are
// printed when all items before it are done.
type turns []*item

// expect adds an item at the end.
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

// rest removes and returns all lines, because an interrupted run doesn't finish every package.
func (t *turns) rest() (all []line) {
	for _, w := range *t {
		w.done = true
	}
	return t.take()
}

// begin notes when the work on a package began.
func (r *run) begin(w *item) { w.span = result.Span{Begun: r.now()} }

// over notes when the work ended, if it began.
func (r *run) over(w *item) {
	if !w.span.Begun.IsZero() {
		w.span.Ended = r.now()
	}
}

// span returns when the work on a package began and ended.
func (r *run) span(o event.Outcome) result.Span { return r.itemOf(o).span }

// enter ends the open span of the item, and opens one of the kind what, unless that is "".
func (w *item) enter(what string, at float64) {
	if w.doing == what {
		return
	}
	if w.doing != "" {
		w.Spans = append(w.Spans, reportSpan{w.doing, w.since, at})
	}
	w.doing, w.since = what, at
}

// finish ends the open span, and sets the outcome.
func (r *run) finish(w *item, state event.State) {
	at := r.at()
	w.enter("", at)
	w.state, w.Outcome = state, strings.ReplaceAll(string(state), "_", " ")
	w.Spans = append(w.Spans, reportSpan{"done", at, at})
	r.over(w)
}

// overridden records a provider that comes by other means than a package.
func (r *run) overridden(p getproviders.Provider, by string) *item {
	w := r.item(packageKey{Provider: p})
	w.Source = by
	r.finish(w, "overridden")
	return w
}

// takeWarnings removes and returns the warnings, in the order of the providers' addresses.
func (r *run) takeWarnings() (all problem.List) {
	items := slices.SortedFunc(maps.Values(r.items), func(a, b *item) int { return a.key.Provider.Compare(b.key.Provider) })
	for _, w := range items {
		all, w.warnings = append(all, w.warnings...), nil
	}
	return all
}

// observeModules records an event of modules. Modules that needn't be fetched get no item.
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

// object returns the JSON object for a provider's outcome, of a type that neither Terraform nor OpenTofu has.
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

// moduleObject returns the JSON object for a module that was installed.
func (r *run) moduleObject(e modules.Recorded) line {
	w := r.items[packageKey{Module: e.Key}]
	keys := result.Object{"key", e.Key, "source", modules.Redact(e.Source), "dir", e.Dir, "fetched", w != nil, "version?", e.Version}
	if w != nil {
		keys = append(keys, w.span.Object()...)
	}
	return line{json: "module " + e.Key + " in " + e.Dir, kind: "module", keys: keys}
}
