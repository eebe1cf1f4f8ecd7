package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// Init tells people or programs what an init does. It is for one goroutine at
// a time.
type Init struct {
	out       printer
	product   getproviders.Product
	sequence  sequence
	downloads downloads
	summary   summary
	sumUp     func(text string) // tells the summary; nil: nobody wants it
	warnings  problem.List      // of registries, told at the end
	vouched   bool              // a package was installed whose signer isn't HashiCorp
	copied    bool              // it was said that packages couldn't be linked
}

// NewInit returns an Init that speaks as the options say.
func NewInit(o Options) *Init {
	out, shown := open(o)
	v := &Init{
		out: out, product: o.Product,
		downloads: downloads{product: o.Product, now: o.Now, display: shown, running: map[getproviders.Provider]*download{}},
		summary:   summary{begun: o.Now(), providers: map[getproviders.Provider]arrival{}},
	}
	if !o.JSON && o.Progress != ProgressNone {
		v.sumUp = func(text string) { fmt.Fprintln(o.Stderr, text) }
	}
	return v
}

// Version says who speaks: the product's version and our own. For programs it
// has to come first; people aren't told.
func (v *Init) Version(own string) { v.out.version(v.product.Version, own) }

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

// BackendConfigured says that a backend of a type is in charge from now on.
func (v *Init) BackendConfigured(kind string) {
	m := backendConfigured
	m.text = strings.ReplaceAll(m.text, "BACKEND", kind)
	v.summary.changed = true
	v.say(m)
}

// CopyingModule announces that a module becomes the configuration.
func (v *Init) CopyingModule(source string) {
	v.summary.changed = true
	v.out.message(message{code: "copying_configuration_message", style: heading, text: "Copying configuration from \"" + source + "\"..."})
}

// ModulesBegin announces the phase of the modules.
func (v *Init) ModulesBegin(upgrade bool) {
	if upgrade {
		v.say(upgradingModules)
		return
	}
	v.say(initializingModules)
}

// ObserveModules is for [modules.Installer].Observe.
func (v *Init) ObserveModules(e modules.Event) {
	v.summary.observeModules(e)
	var text string
	switch e := e.(type) {
	case modules.Downloading:
		text = "Downloading " + e.Package + " for " + e.Key + "..."
		if e.Version != "" {
			text = "Downloading " + e.Package + " " + e.Version + " for " + e.Key + "..."
		}
	case modules.Recorded:
		text = "- " + e.Key + " in " + e.Dir
	}
	v.out.line(line{human: text, json: text})
}

// ModulesEnd says how many modules are called.
func (v *Init) ModulesEnd(called int) { v.summary.modules = called }

// ProvidersBegin announces the phase of the providers.
func (v *Init) ProvidersBegin() { v.say(initializingProviders) }

// Observe is for [providercache.Installer].Observe. After the last event
// ProvidersEnd has to be called: until then a terminal belongs to the bars.
func (v *Init) Observe(e providercache.Event) {
	v.summary.observe(e, v.downloads.observe(e))
	v.tell(v.sequence.add(e))
}

// ProvidersEnd says what there is left to say when the installer is done, and
// returns what registries had to say to their users.
func (v *Init) ProvidersEnd() (warnings problem.List) {
	v.downloads.close()
	v.tell(v.sequence.rest())
	if v.vouched {
		v.out.line(line{human: signedProviders(v.product), json: signedProviders(v.product)})
	}
	warnings, v.warnings = v.warnings, nil
	return warnings
}

func (v *Init) tell(events []providercache.Event) {
	for _, e := range events {
		for _, l := range progressLines(v.product, e) {
			v.out.line(l)
		}
		switch e := e.(type) {
		case providercache.QueryWarning:
			v.warnings = append(v.warnings, registryWarning(v.product.Short(e.Provider), e.Warnings))
		case providercache.FetchDone:
			level := e.Authentication.TrustLevel
			v.vouched = v.vouched || level == getproviders.LevelPartner || level == getproviders.LevelCommunity
			v.linkedBy(e.Link, e.Reason)
		case providercache.LinkedFromCache:
			v.linkedBy(e.Link, e.Reason)
		}
	}
}

// linkedBy says once that packages take their room on the disk in each
// directory, and why.
func (v *Init) linkedBy(mode providercache.LinkMode, reason error) {
	if v.copied || mode != providercache.LinkCopy || reason == nil {
		return
	}
	v.copied = true
	text := "packages are copied from the shared cache, because they can't be linked: " + strings.Join(strings.Fields(reason.Error()), " ")
	v.out.line(line{human: "  note: " + text, json: text})
}

// LockCreated says that there is a lock file now.
func (v *Init) LockCreated() {
	v.summary.changed = true
	v.say(lockCreated)
}

// LockChanged says that the lock file isn't what it was.
func (v *Init) LockChanged() {
	v.summary.changed = true
	v.say(lockChanged)
}

// Done ends a successful run: the warnings that piled up, then the good news,
// and last, on stderr, what was done and how long it took. With automated,
// nobody is there to be told what to do next.
func (v *Init) Done(warnings problem.List, automated bool) {
	v.out.gap()
	v.Problems(warnings)
	v.say(initialized)
	if !automated {
		v.say(nextSteps)
	}
	if v.sumUp != nil {
		v.sumUp(v.summary.text(v.downloads.now()))
	}
}

// Problems tells errors and warnings: first those that belong to no file, in
// the order given, then the others by file and position. What has been said
// once isn't repeated.
func (v *Init) Problems(problems problem.List) {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, byPosition)
	sorted = slices.CompactFunc(sorted, sameProblem)
	for _, p := range sorted {
		v.out.problem(p)
	}
}

func (v *Init) say(m message) { v.out.message(m.of(v.product.Name, v.product.Program)) }

func byPosition(a, b *problem.Problem) int {
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

func sameProblem(a, b *problem.Problem) bool {
	if a.Subject != nil && b.Subject != nil && *a.Subject != *b.Subject {
		return false
	}
	return (a.Subject == nil) == (b.Subject == nil) && a.Severity == b.Severity &&
		a.Summary == b.Summary && a.Detail == b.Detail
}

// registryWarning is what sources want the users of a provider to know:
// registries of the provider, policies of a source that failed.
func registryWarning(short string, texts []string) *problem.Problem {
	var b strings.Builder
	b.WriteString("The sources of " + short + " returned warnings:")
	for _, text := range texts {
		b.WriteString("\n- " + text)
	}
	return problem.Warning("Additional provider information from registry", b.String())
}
