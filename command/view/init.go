package view

import (
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// Init tells people or programs what an init does. It is for one goroutine at
// a time.
type Init struct {
	out      printer
	engine   getproviders.Engine
	sequence sequence
	warnings Problems // of registries, told at the end
	vouched  bool     // a package was installed whose signer isn't HashiCorp
}

// NewInit returns an Init that speaks as the options say.
func NewInit(o Options) *Init {
	return &Init{out: newPrinter(o), engine: o.Engine}
}

// Version says who speaks: the engine's version and our own. For programs it
// has to come first; people aren't told.
func (v *Init) Version(own string) { v.out.version(v.engine.Version, own) }

// EmptyDirectory says that there is no configuration.
func (v *Init) EmptyDirectory() { v.say(emptyDirectory) }

// BackendBegin announces the backend's phase; cloud says that there is a cloud block.
func (v *Init) BackendBegin(cloud bool) {
	if cloud {
		v.say(initializingCloud)
		return
	}
	v.say(initializingBackend)
}

// ModulesBegin announces the phase of the modules.
func (v *Init) ModulesBegin(upgrade bool) {
	if upgrade {
		v.say(upgradingModules)
		return
	}
	v.say(initializingModules)
}

// ModuleInstalled says where a module is that wasn't recorded before. The key
// is its calls' names, joined by dots.
func (v *Init) ModuleInstalled(key, dir string) {
	text := "- " + key + " in " + dir
	v.out.line(line{human: text, json: text})
}

// ProvidersBegin announces the phase of the providers.
func (v *Init) ProvidersBegin() { v.say(initializingProviders) }

// Observe is for [providercache.Installer].Observe.
func (v *Init) Observe(e providercache.Event) { v.tell(v.sequence.add(e)) }

// ProvidersEnd says what there is left to say when the installer is done, and
// returns what registries had to say to their users.
func (v *Init) ProvidersEnd() (warnings Problems) {
	v.tell(v.sequence.rest())
	if v.vouched {
		v.out.line(line{human: partnerProviders, json: partnerProviders})
	}
	warnings, v.warnings = v.warnings, nil
	return warnings
}

func (v *Init) tell(events []providercache.Event) {
	for _, e := range events {
		for _, l := range progressLines(v.engine, e) {
			v.out.line(l)
		}
		switch e := e.(type) {
		case providercache.QueryWarning:
			v.warnings = append(v.warnings, registryWarning(v.engine.Short(e.Provider), e.Warnings))
		case providercache.FetchDone:
			tier := e.Authentication.Tier
			v.vouched = v.vouched || tier == getproviders.TierPartner || tier == getproviders.TierCommunity
		}
	}
}

// LockCreated says that there is a lock file now.
func (v *Init) LockCreated() { v.say(lockCreated) }

// LockChanged says that the lock file isn't what it was.
func (v *Init) LockChanged() { v.say(lockChanged) }

// Done ends a successful run: the warnings that piled up, then the good news.
// With automated, nobody is there to be told what to do next.
func (v *Init) Done(warnings Problems, automated bool) {
	v.out.gap()
	v.Problems(warnings)
	v.say(initialized)
	if !automated {
		v.say(nextSteps)
	}
}

// Problems tells errors and warnings: first those that belong to no file, in
// the order given, then the others by file and position. What has been said
// once isn't repeated.
func (v *Init) Problems(problems Problems) {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	sorted = slices.CompactFunc(sorted, sameProblem)
	for _, p := range sorted {
		v.out.problem(p)
	}
}

func (v *Init) say(m message) { v.out.message(m.of(v.engine.Name, v.engine.Program)) }

func byPosition(a, b *Problem) int {
	switch {
	case a.Subject == nil && b.Subject == nil:
		return 0
	case a.Subject == nil:
		return -1
	case b.Subject == nil:
		return 1
	}
	if c := strings.Compare(a.Subject.Filename, b.Subject.Filename); c != 0 {
		return c
	}
	return a.Subject.Start.Byte - b.Subject.Start.Byte
}

func sameProblem(a, b *Problem) bool {
	if a.Subject != nil && b.Subject != nil && *a.Subject != *b.Subject {
		return false
	}
	return (a.Subject == nil) == (b.Subject == nil) && a.Severity == b.Severity &&
		a.Summary == b.Summary && a.Detail == b.Detail
}

// registryWarning is what sources want the users of a provider to know:
// registries of the provider, policies of a source that failed.
func registryWarning(short string, texts []string) *Problem {
	var b strings.Builder
	b.WriteString("The sources of " + short + " returned warnings:")
	for _, text := range texts {
		b.WriteString("\n- " + text)
	}
	return NewWarning("Additional provider information from registry", b.String())
}
