package view

import (
	"fmt"
	"maps"
	"time"

	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// record is an object that only programs get: of a type that neither Terraform nor OpenTofu has.
type record struct {
	kind string // its type
	text string // what people would be told
	keys map[string]any
}

// records make the objects of an init for programs.
type records struct {
	product getproviders.Product
	now     func() time.Time
	at      spans[string] // of providers by their addresses, and of modules by "module." and their keys
	came    map[getproviders.Provider]int64
}

func newRecords(o Options) records {
	return records{product: o.Product, now: o.Now, at: spans[string]{}, came: map[getproviders.Provider]int64{}}
}

// observe notes when an event came, and how many bytes of a package came over the network until then.
func (r *records) observe(e event.Event, came int64) {
	switch e := e.(type) {
	case event.SelectedEvent:
		r.at.begin(e.Addr.String(), r.now())
	case event.FetchingEvent:
		r.at.begin(e.Addr.String(), r.now())
	case event.PresentEvent, event.LinkedEvent, event.FailedEvent:
		r.at.end(e.Provider().String(), r.now())
	case event.FetchedEvent:
		r.at.end(e.Addr.String(), r.now())
		r.came[e.Addr] = came
	}
}

// ofPackage is the object for what became of a provider; false: the event isn't the last one of any.
func (r *records) ofPackage(e event.Event) (record, bool) {
	keys := map[string]any{"provider": e.Provider().String()}
	version, did := "", ""
	switch e := e.(type) {
	case event.BuiltInEvent:
		did = "built_in"
	case event.PresentEvent:
		version, did = e.Version.String(), "present"
	case event.LinkedEvent:
		version, did = e.Version.String(), "linked"
		keys["cache"], keys["link"] = "hit", e.Link.String()
	case event.FetchedEvent:
		version, did = e.Version.String(), "fetched"
		keys["source"], keys["bytes"], keys["cache"] = e.Source, r.came[e.Addr], "unused"
		if e.Link != link.Auto {
			keys["cache"], keys["link"] = "filled", e.Link.String()
		}
		keys["authentication"] = e.Authentication.TrustLevel.String()
		if e.Authentication.KeyID != "" {
			keys["key_id"] = e.Authentication.KeyID
		}
	case event.FailedEvent:
		did = "failed"
		failure := newJSONFailure(e.Err)
		keys["error"], keys["code"] = failure.Error, failure.Code
	default:
		return record{}, false
	}
	keys["action"] = did
	text := r.product.Short(e.Provider())
	if version != "" {
		keys["version"] = version
		text += " v" + version
	}
	r.addSpan(keys, e.Provider().String())
	return record{"package", text + ": " + did, keys}, true
}

// addSpan adds when something began and ended, as far as it is known.
func (r *records) addSpan(keys map[string]any, of string) {
	s := newJSONSpan(r.at[of])
	if s.StartedAt != "" {
		keys["started_at"] = s.StartedAt
	}
	if s.EndedAt != "" {
		keys["ended_at"] = s.EndedAt
	}
}

// ofModule is the object for a module that is in its place now; false: the event isn't about one.
func (r *records) ofModule(e modules.Event) (record, bool) {
	switch e := e.(type) {
	case modules.Downloading:
		r.at.begin("module."+e.Key, r.now())
	case modules.Recorded:
		r.at.end("module."+e.Key, r.now())
		_, fetched := r.at["module."+e.Key]
		keys := map[string]any{"key": e.Key, "source": modules.Redact(e.Source), "dir": e.Dir, "fetched": fetched}
		if e.Version != "" {
			keys["version"] = e.Version
		}
		r.addSpan(keys, "module."+e.Key)
		return record{"module", "module " + e.Key + " in " + e.Dir, keys}, true
	}
	return record{}, false
}

// ofRun is the last object, which sums a run up.
func (s *summary) ofRun(now time.Time, code int) record {
	var bytes int64
	for _, arrived := range s.providers {
		bytes += arrived.bytes
	}
	text := s.text(now)
	switch {
	case s.errors > 0:
		text = fmt.Sprintf("Failed after %s: %s", seconds(now.Sub(s.begun)), count(s.errors, "error"))
	case len(s.providers)+s.modules == 0:
		text = "Done in " + seconds(now.Sub(s.begun))
	}
	return record{"summary", text, map[string]any{
		"started_at": stamp(s.begun), "ended_at": stamp(now), "exit_code": code, "errors": s.errors, "warnings": s.warnings, "bytes": bytes,
		"changed": s.changed || s.number(inPlace) < len(s.providers),
		"providers": map[string]int{
			"built_in": s.builtIn, "present": s.number(inPlace), "linked": s.number(fromCache), "local": s.number(fromLocal), "downloaded": s.number(downloaded), "failed": len(s.failed),
		},
		"modules": map[string]int{"called": s.modules, "fetched": s.fetched},
	}}
}

// record writes nothing: the object is for programs.
func (h *humanPrinter) record(record) {}

func (j *jsonPrinter) record(r record) { j.write("info", r.text, r.kind, maps.Clone(r.keys)) }

func (b both) record(r record) { b.programs.record(r) }
