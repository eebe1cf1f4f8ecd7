package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// observe is the one place where events are read: it updates the record, and queues lines for their turn.
func (r *run) observe(e event.Event) {
	each := e.Platform != (getproviders.Platform{}) // true if the event is about one of the queued Packages
	switch {
	case e.Kind == event.Queued && e.Requirements != nil:
		r.expect(e.Requirements)
	case e.Kind == event.Queued && e.Sizes != nil:
		r.expectSizes(e.Sizes)
	case e.Kind == event.Queued:
		r.expectPackages(e.Packages)
	case e.Kind == event.Fetching && each:
		l := sameLine("Fetching " + hashedName(r.Product, e.Outcome) + "...")
		if r.doing != "" {
			l = archiveLine(e.Outcome, isLocal(e.Package.Location) && r.doing != mirroring)
		}
		w := r.itemOf(e.Outcome)
		r.begin(w)
		w.tell(false, l)
	case e.Kind == event.Done && each && r.doing != "":
		r.done(e, e.State != event.Present, true, archiveDoneLine(r.Product, e.Outcome))
	case e.Kind == event.Done && each:
		r.done(e, true, false, hashesLine(r.Product, e.Outcome))
	default:
		r.observeProvider(e)
	}
}

func isLocal(at getproviders.Location) bool {
	switch at.(type) {
	case getproviders.LocalArchive, getproviders.LocalDirectory:
		return true
	}
	return false
}

// observeProvider handles events about one provider. A package that this run fetched or linked counts as that, although a
// later event may say that it is present.
func (r *run) observeProvider(e event.Event) {
	w, of, at := r.itemOf(e.Outcome), r.awaited(packageKey{Provider: e.Provider}), r.at()
	switch e.Kind {
	case event.Query:
		w.enter("ask", at)
		r.query(e.Provider).tell(true, queryLine(w.Name, e))
	case event.LeftOut:
		if r.silent {
			w.warnings = append(w.warnings, problem.Warning("Versions are left out by policy", w.Name+": "+e.LeftOut.String()))
			break
		}
		if !of.expected {
			r.turns.expect(of)
			of.done = true
		}
		of.tell(false, leftOutLine(w.Name, e))
	case event.Selected:
		w.Version = e.Version.String()
		w.enter("", at)
		if r.installs { // elsewhere only fetching is timed
			r.begin(w)
		}
	case event.Warning:
		w.warnings = append(w.warnings, explain.RegistryWarning(w.Name, e.Warnings))
	case event.Hashing:
		r.phase(w, e, event.Verifying)
		if size, known := r.tasks.Sizes[e.Path]; known {
			w.task.Total = size
		}
		w.task.Done = 0
	case event.HashProgress:
		if r.tasks.Runs(&w.task) {
			w.task.Hash(e.Done, r.now())
			r.touched = &w.task
		}
	case event.Hashed:
		r.end(w, false)
	case event.Fetching:
		if w.Source, w.short, w.way = e.Source, cmp.Or(e.Package.ShortSource, e.Source), downloaded; isLocal(e.Package.Location) {
			w.way = fromLocal
		}
		r.begin(w)
		w.enter("fetch", at)
		r.start(w, e, true)
		what := fmt.Sprintf("%s v%s...", w.Name, e.Version)
		of.tell(false, line{item: true, human: "Installing " + what, json: "Installing provider version: " + what, source: e.Source})
	case event.Progress:
		r.start(w, e, true)
		w.task.Advance(e.Done, e.Total, r.now())
		w.Bytes, w.Came = w.task.Done, w.task.Came
	case event.Begun:
		r.phase(w, e, e.Phase)
	case event.Kept:
		r.tasks.Kept += e.Done
	case event.Done:
		r.ended(w, of, e)
	}
}

// ended handles the last event of a provider, and adds its lines to the item told.
func (r *run) ended(w, told *item, e event.Event) {
	query, a := r.query(e.Provider), e.Authentication
	if e.State == event.Present || e.State == event.Linked || e.State == event.Fetched {
		w.Version = e.Version.String()
	}
	if e.MovedAside != "" {
		w.warnings = append(w.warnings, explain.MovedAside(w.Name, e.Path, e.MovedAside))
	}
	what := w.what()
	var lines []line
	switch e.State {
	case event.BuiltIn:
		w.way, told = partOfProduct, query
		lines = []line{sameLine(w.Name + " is built in to " + r.Product.Name)}
	case event.Present:
		if w.way == unknownWay {
			w.way = wasPresent
		}
		lines = []line{itemLine("Using previously-installed "+what, what+": Using previously-installed provider version")}
	case event.Linked:
		w.How, w.Trust, w.Source, w.way = e.Link.String(), a.TrustLevel.String(), "shared cache", fromCache
		const how = "from the shared cache directory"
		lines = []line{itemLine("Using "+what+" "+how, what+": Using "+how)}
	case event.Fetched:
		w.Source, w.Trust, w.keyID, w.fetched = cmp.Or(e.Source, w.Source), a.TrustLevel.String(), a.KeyID, w.Came
		if w.How = e.Link.String(); e.Link == 0 {
			w.How = ""
		}
		r.signed = r.signed || a.TrustLevel == getproviders.LevelPartner || a.TrustLevel == getproviders.LevelCommunity
		lines = fetchedLines(r.Product, what, e)
	case event.Failed:
		w.way, w.err = didFail, e.Err
		w.Error = oneLine(r.WithHint(e.Err))
		query.tell(true)
		if r.doing != "" {
			r.head(e.Provider, r.doingLine(e.Provider))
		}
	default:
		return
	}
	r.finish(w, e.State)
	r.end(w, e.State == event.Fetched)
	told.tell(true, append(lines, w.object(), linkNote(e.Link, e.LinkReason))...)
}

// what returns the provider's name and version.
func (w *item) what() string { return w.Name + " v" + w.Version }

// expect sets the order of an installation's lines: first the built-in providers, then all queries,
// then all packages, each in the order of the providers' addresses.
func (r *run) expect(req getproviders.Requirements) {
	var queries, packages turns
	for _, p := range req.Providers() {
		if p.IsBuiltIn() {
			r.turns.expect(r.query(p))
			continue
		}
		queries.expect(r.query(p))
		packages.expect(r.awaited(packageKey{Provider: p}))
	}
	r.turns = slices.Concat(r.turns, queries, packages)
}

// expectSizes sets the sizes of packages that are only verified.
func (r *run) expectSizes(sizes map[string]int64) {
	r.verifies, r.tasks.Sizes = true, sizes
	r.tasks.Announced += len(sizes)
	for _, size := range sizes {
		r.tasks.Awaited += size
	}
}

// expectPackages sets the order of packages' lines: the order in which they were queued, and for archives that of
// providers, versions and platforms.
func (r *run) expectPackages(packages []providercache.Outcome) {
	r.tasks.Announced += len(packages)
	archives := r.doing != ""
	if archives {
		r.turns, r.heads = r.heads, nil
	}
	var last getproviders.Selection
	for _, p := range packages {
		w := r.itemOf(p)
		r.turns.expect(w)
		isNew := p.Provider != last.Provider
		if archives && isNew {
			w.tell(false, r.doingLine(p.Provider))
		}
		if archives && (isNew || p.Version != last.Version) {
			w.tell(false, selectedLine(p.Selection))
		}
		last = p.Selection
	}
	if archives {
		slices.SortStableFunc(r.turns, func(a, b *item) int { return a.key.Provider.Compare(b.key.Provider) })
	}
}

func (r *run) doingLine(p getproviders.Provider) line {
	return line{human: fmt.Sprintf("- %s %s...", r.doing, r.Short(p))}
}

// head keeps a line that is printed among those about archives.
func (r *run) head(p getproviders.Provider, l line) {
	w := r.awaited(packageKey{Provider: p})
	r.heads.expect(w)
	w.tell(true, l)
}

// start begins or continues the task of a package, with its name for people.
func (r *run) start(w *item, e event.Event, counted bool) {
	version, platform := " v"+e.Version.String(), cmp.Or(e.Platform, r.platform)
	var shorter []string
	if platform != (getproviders.Platform{}) && (r.platforms || platform != getproviders.CurrentPlatform()) {
		version += " for " + platform.String()
		shorter = []string{terminal.Printable(e.Provider.Type) + version, terminal.Printable(e.Provider.Type) + " " + platform.String()}
	}
	r.tasks.Start(&w.task, packageOf(e.Outcome), counted, terminal.Printable(r.Short(e.Provider))+version, shorter...)
	r.touched = &w.task
}

// phase sets the phase of a package's task. A task that begins with it has nothing to download, and isn't counted.
func (r *run) phase(w *item, e event.Event, phase event.Phase) {
	r.start(w, e, false)
	w.task.Enter(phase, r.now())
	w.enter(phaseSpans[phase], r.at())
}

// end ends the task of a package, if it has one; ok says that the package was fetched and published.
func (r *run) end(w *item, ok bool) {
	if r.tasks.Runs(&w.task) {
		r.tasks.End(&w.task, ok)
		r.touched = &w.task
	}
}

// done ends the work on a queued package, and its task, if it has one. got says that the package was fetched unless the event has an
// error; stays says that its bytes are kept, so that a later run needn't download them.
func (r *run) done(e event.Event, got, stays bool, l line) {
	w, kept := r.itemOf(e.Outcome), r.tasks.Kept
	r.over(w)
	w.tell(true, l)
	if !r.tasks.Runs(&w.task) {
		r.tasks.Ended++
		return
	}
	if r.end(w, got && e.Err == nil); !stays {
		r.tasks.Kept = kept
	}
}

// module records the progress of a module's package.
func (r *run) module(pkg string, done, total int64, ended bool) {
	key := packageKey{Module: pkg, Dir: pkg}
	w := r.item(key)
	if ended {
		r.end(w, done > 0)
		return
	}
	r.tasks.Start(&w.task, key, true, terminal.Printable(pkg))
	if w.task.Advance(done, total, r.now()); done == total {
		w.task.Enter(event.Unpacking, r.now())
	}
	r.touched = &w.task
}
