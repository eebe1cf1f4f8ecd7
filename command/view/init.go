package view

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// Init tells people or programs what an init does. It is for one goroutine at
// a time.
type Init struct {
	out       printer
	product   getproviders.Product
	run       *run
	sequence  sequence
	activity  *Activity
	sumUp     func(text string) // tells the summary; nil: it isn't wanted
	warnings  problem.List      // of registries, shown at the end
	signed    bool              // a package was installed whose signer isn't HashiCorp
	copied    bool              // it was said that packages couldn't be linked
	announced bool              // a phase began that hasn't ended
	cloud     bool              // the backend is that of a cloud block
}

// NewInit returns an Init that speaks as the options say.
func NewInit(o Options) *Init {
	out, activity := open(o)
	if o.JSONInto != nil && !o.JSON {
		programs := o
		programs.Stdout = Stream{Writer: o.JSONInto}
		out = both{out, newJSONPrinter(programs)}
	}
	v := &Init{out: out, product: o.Product, run: newRun(o), activity: activity}
	if !o.JSON && o.Progress != ProgressNone {
		v.sumUp = func(text string) { fmt.Fprintln(o.Stderr, text) }
		if o.Progress == ProgressAuto && !o.Stderr.Terminal {
			v.sumUp = func(text string) { fmt.Fprintf(o.Stdout, "\n%s\n", text) }
		}
	}
	return v
}

// Activity is what shows what is under way.
func (v *Init) Activity() *Activity { return v.activity }

// Version says who speaks: the product's version and that of tfdeps. For programs it
// has to come first; people don't see it.
func (v *Init) Version(own, because string) { v.out.version(own, because) }

// EmptyDirectory says that there is no configuration.
func (v *Init) EmptyDirectory() { v.say(emptyDirectory) }

// BackendBegin announces the backend's phase; cloud says that there is a cloud block.
func (v *Init) BackendBegin(cloud bool) {
	v.announced, v.cloud = true, cloud
	m := initializingBackend
	if cloud {
		if m = initializingCloud; v.asOpenTofu() {
			m.text = "Initializing cloud backend..."
		}
	}
	m.gap = v.asOpenTofu()
	v.say(m)
}

// PhaseEnd ends a phase that was announced and came to an end. Terraform 1.15 and newer
// set it apart from what follows.
func (v *Init) PhaseEnd() {
	if v.announced && v.product.Predecessor == nil && v.setsApart() {
		v.out.gap()
	}
	v.announced = false
}

// setsApart reports whether an empty line follows each phase.
func (v *Init) setsApart() bool {
	version, err := getproviders.ParseVersion(v.product.Version)
	return err != nil || version.Compare(getproviders.MustParseVersion("1.15.0-0")) >= 0 // prereleases included
}

// asOpenTofu reports whether the words are OpenTofu's, where they differ from Terraform's.
func (v *Init) asOpenTofu() bool { return v.product.Predecessor != nil }

// BackendConfigured says that a backend of a type is in charge from now on.
func (v *Init) BackendConfigured(kind string) {
	m := backendConfigured
	m.text = strings.ReplaceAll(m.text, "BACKEND", kind)
	v.run.changed = true
	v.say(m)
}

// CopyingModule announces that a module becomes the configuration.
func (v *Init) CopyingModule(source string) {
	v.run.changed = true
	v.out.message(message{code: "copying_configuration_message", style: heading, text: "Copying configuration from \"" + source + "\"..."})
}

// ModuleCopied ends what CopyingModule announced. From then on the backend's phase is set apart even if
// it says nothing.
func (v *Init) ModuleCopied() {
	v.out.gap()
	v.announced = true
}

// ModulesBegin announces the phase of the modules.
func (v *Init) ModulesBegin(upgrade bool) {
	v.announced = true
	if upgrade {
		v.say(upgradingModules)
		return
	}
	v.say(initializingModules)
}

// ObserveModules is for [modules.Resolver].Observe.
func (v *Init) ObserveModules(e modules.Event) {
	v.run.observeModules(e)
	switch e := e.(type) {
	case modules.Downloading:
		text := "Downloading " + e.Package
		if e.Version != "" {
			text += " " + e.Version
		}
		text += " for " + e.Key + "..."
		v.out.line(line{human: text, json: text})
	case modules.Recorded:
		text := e.Key + " in " + e.Dir
		said := line{human: "- " + text, json: "- " + text}
		if v.asOpenTofu() {
			said.json, said.ownJSON = "installing "+text, true
		}
		v.out.line(said)
		v.out.record(v.run.moduleRecord(e))
	}
}

// ModulesEnd says how many modules are called.
func (v *Init) ModulesEnd(called int) {
	v.activity.Close()
	v.run.modules = called
}

// ProvidersBegin announces the phase of the providers.
func (v *Init) ProvidersBegin() {
	v.announced = true
	m := initializingProviders
	m.gap = v.asOpenTofu()
	v.say(m)
}

// Overridden says that a provider comes by other means than a package, such as "dev_overrides". People are told elsewhere.
func (v *Init) Overridden(p getproviders.Provider, by string) {
	v.out.record(v.run.overridden(p, by).record())
}

// Observe is for [providercache.Installer].Observe. After the last event
// ProvidersEnd has to be called: until then a terminal belongs to the bars.
func (v *Init) Observe(e event.Event) {
	v.activity.Observe(e)
	v.run.observe(e)
	v.tell(v.sequence.add(e))
}

// ProvidersEnd says what there is left to say when the installer is done, and
// returns what registries had to say to their users.
func (v *Init) ProvidersEnd() (warnings problem.List) {
	v.activity.Close()
	v.tell(v.sequence.rest())
	if v.signed {
		v.out.line(line{human: signedProviders(v.product), json: signedProviders(v.product), gap: v.asOpenTofu()})
	}
	warnings, v.warnings = v.warnings, nil
	return warnings
}

func (v *Init) tell(events []event.Event) {
	for _, e := range events {
		for _, l := range progressLines(v.product, e) {
			v.out.line(l)
		}
		switch e.(type) {
		case event.QueryEvent, event.WarningEvent, event.FetchingEvent:
		default: // the last one of its provider
			v.out.record(v.run.provider(e.Provider()).record())
		}
		switch e := e.(type) {
		case event.WarningEvent:
			v.warnings = append(v.warnings, registryWarning(v.product.Short(e.Addr), e.Warnings))
		case event.FetchedEvent:
			level := e.Authentication.TrustLevel
			v.signed = v.signed || level == getproviders.LevelPartner || level == getproviders.LevelCommunity
			v.linkedBy(e.Link, e.Reason)
		case event.LinkedEvent:
			v.linkedBy(e.Link, e.Reason)
		}
	}
}

// linkedBy says once that packages take their room on the disk in each
// directory, or why they aren't symbolic links, and why.
func (v *Init) linkedBy(mode link.Mode, reason error) {
	if v.copied || reason == nil || mode != link.Copy && !errors.Is(reason, link.ErrChangedByOthers) {
		return
	}
	v.copied = true
	text := "packages are copied from the shared cache, because they can't be linked: " + strings.Join(strings.Fields(reason.Error()), " ")
	if mode != link.Copy {
		why, _, _ := strings.Cut(reason.Error(), "\n")
		text = "packages come from the shared cache by " + mode.String() + ", not by symlink: " + why
	}
	v.out.line(line{human: "  note: " + text, json: text})
}

// LockCreated says that there is a lock file now.
func (v *Init) LockCreated() {
	v.sayLocks(lockCreated)
}

// LockChanged says that the lock file isn't what it was.
func (v *Init) LockChanged() {
	v.sayLocks(lockChanged)
}

func (v *Init) sayLocks(m message) {
	v.run.changed = true
	m.gap = v.asOpenTofu()
	v.say(m)
}

// Done ends a successful run: the warnings that piled up, then the good news,
// and last what was done and how long it took. With automated,
// advice on what to do next is left out.
func (v *Init) Done(warnings problem.List, automated bool) {
	v.activity.Close()
	v.out.gap()
	v.Problems(warnings)
	done, next := initialized, nextSteps
	if v.cloud {
		service := "HCP Terraform"
		if v.asOpenTofu() {
			service = "Cloud backend"
		}
		done, next = initializedCloud.ofCloud(service), nextStepsCloud.ofCloud(strings.Replace(service, "Cloud b", "cloud b", 1))
	}
	v.say(done)
	if !automated {
		v.say(next)
	}
	if v.sumUp != nil {
		v.sumUp(v.run.text(v.run.now()))
	}
}

// Problems tells errors and warnings: first those that belong to no file, in
// the order given, then the others by file and position. What has been said
// once isn't repeated.
func (v *Init) Problems(problems problem.List) {
	v.run.addProblems(problems)
	v.activity.Close()
	v.out.problems(ordered(problems))
}

// End sums the run up for programs. It comes last; code is the exit code.
func (v *Init) End(code int) { v.out.record(v.run.record(code)) }

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
