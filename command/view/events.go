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
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// observe is the one place where events are read: it updates the record, and has lines wait for their turn.
func (r *run) observe(e event.Event) {
	r.touched = nil
	switch e := e.(type) {
	case event.QueuedEvent:
		r.expect(e.Requirements)
	case event.VerifyEvent:
		r.verifies = true
		r.tasks.Sizes = e.Bytes
		r.tasks.Announced += len(e.Bytes)
		for _, size := range e.Bytes {
			r.tasks.Awaited += size
		}
	case providercache.LockQueuedEvent:
		r.tasks.Announced += len(e.Packages)
		for _, p := range e.Packages {
			r.turns = append(r.turns, turn{key: keyOf(p.Selection, p.Platform)})
		}
	case providercache.LockFetchingEvent:
		key := keyOf(e.Package.Selection, e.Package.Platform)
		r.begin(key)
		r.turns.put(key, false, sameLine("Fetching "+hashedName(r.product, e.Package)+"..."))
	case providercache.LockDoneEvent:
		r.done(keyOf(e.Package.Selection, e.Package.Platform), e.Err == nil, false, hashesLine(r.product, e))
	case mirror.QueuedEvent:
		r.tasks.Announced += len(e.Packages)
		r.expectArchives(e.Packages)
	case mirror.FetchingEvent:
		key := keyOf(e.Package.Selection, e.Package.Platform)
		r.begin(key)
		r.turns.put(key, false, archiveLine(e.Package, e.Local && r.doing != mirroring))
	case mirror.DoneEvent:
		p := e.Package
		r.done(keyOf(p.Selection, p.Platform), p.Err == nil && !p.Present, true, archiveDoneLine(r.product, p))
	default:
		r.observeProvider(e)
	}
}

// observeProvider is for the events that are about one provider. A package that was put into its place stays so, whatever a
// second look at it finds.
func (r *run) observeProvider(e event.Event) {
	key, query, at := packageKey{Provider: e.Provider()}, packageKey{Provider: e.Provider(), Query: true}, r.at()
	w := r.item(key)
	switch e := e.(type) {
	case event.BuiltInEvent:
		w.way = partOfProduct
		r.finish(w, "built in")
		r.turns.put(query, true, sameLine(w.Name+" is built in to "+r.product.Name), w.object())
	case event.QueryEvent:
		w.enter("ask", at)
		r.turns.put(query, true, queryLine(w.Name, e))
	case event.LeftOutEvent:
		if r.silent {
			w.warnings = append(w.warnings, problem.Warning("Versions are left out by policy", w.Name+": "+e.LeftOut.String()))
			break
		}
		if !slices.ContainsFunc(r.turns, func(t turn) bool { return t.key == key }) {
			r.turns = append(r.turns, turn{key: key, done: true})
		}
		r.turns.put(key, false, leftOutLine(w.Name, e))
	case event.SelectedEvent:
		w.Version = e.Version.String()
		r.begin(key)
		w.enter("", at)
	case event.WarningEvent:
		w.warnings = append(w.warnings, explain.RegistryWarning(w.Name, e.Warnings))
	case event.HashingEvent:
		r.hashing(e)
	case event.HashProgressEvent:
		if t := r.tasks.Find(packageKey{Provider: e.Addr, Version: e.Version, Platform: e.Platform, Dir: e.Dir}); t != nil {
			t.Hash(e.Done, r.now())
			r.touched = append(r.touched, t)
		}
	case event.HashedEvent:
		r.end(packageKey{Provider: e.Addr, Version: e.Version, Platform: e.Platform, Dir: e.Dir}, false)
	case event.FetchingEvent:
		w.Source, w.way = e.Source, downloaded
		switch e.Location.(type) {
		case getproviders.LocalArchive, getproviders.LocalDirectory:
			w.way = fromLocal
		}
		r.begin(key)
		r.begin(packageKey{Provider: e.Addr, Version: e.Version, Platform: r.platform})
		w.enter("fetch", at)
		r.start(packageKey{Provider: e.Addr, Version: e.Version}, true)
		what := fmt.Sprintf("%s v%s...", w.Name, e.Version)
		r.turns.put(key, false, line{human: "- Installing " + what, json: "Installing provider version: " + what, source: e.Source})
	case event.ProgressEvent:
		key := packageKey{Provider: e.Addr, Version: e.Version, Platform: e.Platform}
		r.start(key, true).Advance(e.Done, e.Total, r.now())
		r.own(key).advance(e.Done)
	case event.PhaseEvent:
		r.phase(packageKey{Provider: e.Addr, Version: e.Version, Platform: e.Platform}, e.Phase)
	case event.KeptEvent:
		r.tasks.Kept += e.Bytes
	default:
		r.ended(w, e)
	}
}

// ended is for the last event of a provider.
func (r *run) ended(w *item, e event.Event) {
	key := w.key
	var lines []line
	note := line{}
	switch e := e.(type) {
	case event.PresentEvent:
		key.Version = e.Version
		if w.Version = e.Version.String(); w.way == unknownWay {
			w.way = wasPresent
		}
		what := w.what()
		lines = []line{{human: "- Using previously-installed " + what, json: what + ": Using previously-installed provider version"}}
		r.finish(w, "present")
	case event.LinkedEvent:
		key.Version = e.Version
		w.Version, w.How, w.Trust = e.Version.String(), e.Link.String(), e.Authentication.TrustLevel.String()
		w.Source, w.way = "shared cache", fromCache
		what, how := w.what(), "from the shared cache directory"
		lines, note = []line{{human: "- Using " + what + " " + how, json: what + ": Using " + how}}, linkNote(e.Link, e.Reason)
		r.finish(w, "linked")
	case event.FetchedEvent:
		key.Version = e.Version
		a := e.Authentication
		w.Version, w.Source, w.Trust, w.keyID = e.Version.String(), cmp.Or(e.Source, w.Source), a.TrustLevel.String(), a.KeyID
		w.fetched = w.Came
		if w.How = e.Link.String(); e.Link == 0 {
			w.How = ""
		}
		r.signed = r.signed || a.TrustLevel == getproviders.LevelPartner || a.TrustLevel == getproviders.LevelCommunity
		lines, note = fetchedLines(r.product, w.what(), e), linkNote(e.Link, e.Reason)
		r.finish(w, "fetched")
		r.over(packageKey{Provider: e.Addr, Version: e.Version, Platform: r.platform})
	case event.FailedEvent:
		if failed, ok := getproviders.Failure(e.Err); ok {
			key.Version = failed.Version
		}
		w.way, w.err = didFail, e.Err
		w.Error = oneLine(explain.WithHint(e.Err))
		r.finish(w, "failed")
		r.turns.put(packageKey{Provider: e.Addr, Query: true}, true)
		if r.doing != "" {
			r.head(e.Addr, r.doingLine(e.Addr))
		}
	default:
		return
	}
	r.end(key, w.Outcome == "fetched")
	r.turns.put(w.key, true, append(lines, w.object(), note)...)
}

// what is a provider with its version.
func (w *item) what() string { return w.Name + " v" + w.Version }

// expect puts the lines about an installation into one order: first the built-in providers, then the beginnings of all
// queries, then all else, each in the order of the providers' addresses.
func (r *run) expect(req getproviders.Requirements) {
	var queries, packages turns
	for _, p := range req.Providers() {
		expected := turn{key: packageKey{Provider: p, Query: true}}
		if p.IsBuiltIn() {
			r.turns = append(r.turns, expected)
			continue
		}
		queries, packages = append(queries, expected), append(packages, turn{key: packageKey{Provider: p}})
	}
	r.turns = slices.Concat(r.turns, queries, packages)
}

// expectArchives puts the lines about archives into the order of providers, versions and platforms.
func (r *run) expectArchives(packages []mirror.Package) {
	all := r.heads
	r.heads = nil
	var last getproviders.Selection
	for _, p := range packages {
		t := turn{key: keyOf(p.Selection, p.Platform)}
		s := p.Selection
		if s.Provider != last.Provider {
			t.told = append(t.told, r.doingLine(s.Provider))
		}
		if s.Provider != last.Provider || s.Version != last.Version {
			t.told = append(t.told, selectedLine(s))
		}
		last = s
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b turn) int { return a.key.Provider.Compare(b.key.Provider) })
	r.turns = all
}

func (r *run) doingLine(p getproviders.Provider) line {
	return line{human: fmt.Sprintf("- %s %s...", r.doing, r.product.Short(p))}
}

// head has a line wait for the lines about archives.
func (r *run) head(p getproviders.Provider, l line) {
	r.heads = append(r.heads, turn{packageKey{Provider: p}, []line{l}, true})
}

// start begins a task, or goes on with it, under the name that a package has for people.
func (r *run) start(key packageKey, counted bool) *terminal.Task {
	name := terminal.Printable(r.product.Short(key.Provider)) + " v" + key.Version.String()
	if key.Platform != (getproviders.Platform{}) && (r.platforms || key.Platform != getproviders.CurrentPlatform()) {
		name += " for " + key.Platform.String()
	}
	t := r.tasks.Start(key, name, counted)
	r.touched = append(r.touched, t)
	return t
}

// own is the item of a package that a task is about: that of its provider, unless it is for another platform.
func (r *run) own(key packageKey) *item {
	if key.Platform == (getproviders.Platform{}) || key.Platform == getproviders.CurrentPlatform() {
		return r.item(packageKey{Provider: key.Provider})
	}
	return r.item(key)
}

// phase is about a package; one of which nothing was heard is only prepared for its place.
func (r *run) phase(key packageKey, phase event.Phase) *terminal.Task {
	t := r.start(key, false)
	t.Enter(phase, r.now())
	r.own(key).enter(phaseSpans[phase], r.at())
	return t
}

// hashing begins to verify a package. Where packages are only verified, each directory has a task of its own.
func (r *run) hashing(e event.HashingEvent) {
	key := packageKey{Provider: e.Addr, Version: e.Version, Platform: e.Platform}
	if r.verifies {
		key.Dir = e.Dir
	}
	t := r.phase(key, event.Verifying)
	if size, known := r.tasks.Sizes[e.Dir]; known {
		t.Total = size
	}
	t.Done = 0
}

// end ends the tasks of a package; ok says that it was fetched and is in its place.
func (r *run) end(key packageKey, ok bool) {
	for t := r.tasks.Find(key); t != nil; t = r.tasks.Find(key) {
		r.tasks.End(t, ok)
		r.touched = append(r.touched, t)
	}
}

// done ends the work on a package that was announced, and its task, if it was begun.
func (r *run) done(key packageKey, ok, stays bool, l line) {
	r.over(key)
	r.turns.put(key, true, l)
	if r.tasks.Find(key) == nil {
		r.tasks.Ended++
		return
	}
	kept := r.tasks.Kept
	r.end(key, ok)
	if !stays {
		r.tasks.Kept = kept
	}
}

// module is how far the package of a module is.
func (r *run) module(pkg string, done, total int64, ended bool) {
	key := packageKey{Module: pkg}
	if r.touched = nil; ended {
		r.end(key, done > 0)
		return
	}
	t := r.tasks.Start(key, terminal.Printable(pkg), true)
	if t.Advance(done, total, r.now()); done == total {
		t.Enter(event.Unpacking, r.now())
	}
	r.touched = []*terminal.Task{t}
}
