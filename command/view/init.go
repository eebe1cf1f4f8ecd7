package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Init prints what an init does, for people or programs. It is for one goroutine at a time.
type Init struct {
	out       printer
	product   getproviders.Product
	speech    explain.Speech
	*Activity                   // shows running tasks
	sumUp     func(text string) // prints the summary; nil means none
	announced bool              // a phase began that hasn't ended
	cloud     bool              // there is a cloud block
	several   *directories
	tell      io.Writer // results for people; nil if stdout is for programs
}

// NewInit returns an Init with the options.
func NewInit(o Options) *Init {
	v := &Init{product: o.Product, speech: explain.SpeechOf(o.Product), several: &directories{count: map[string]int{}}}
	if o.Several {
		v.several.now = outside
	}
	programs := newJSONPrinter(o)
	programs.several = v.several
	if o.JSON {
		shown := display(hidden{})
		if o.Progress != ProgressNone {
			shown = &jsonDisplay{out: programs}
		}
		v.out, v.Activity = programs, newActivity(o, shown)
	} else {
		people, activity := openForPeople(o)
		people.several, v.tell = v.several, people.Out
		v.out, v.Activity = people, activity
		if o.JSONInto != nil {
			programs.out = terminal.Stream{Writer: o.JSONInto}
			v.out = both{people, programs}
		}
	}
	v.Activity.out, v.run.installs = v.out, true
	if !o.JSON && o.Progress != ProgressNone {
		v.sumUp = func(text string) { fmt.Fprintln(o.Stderr, text) }
		if o.Progress == ProgressAuto && !o.Stderr.Terminal {
			v.sumUp = func(text string) { fmt.Fprintf(o.Stdout, "\n%s\n", text) }
		}
	}
	return v
}

// Version prints the versions of the product and of tfdeps. In JSON it
// has to be the first object; people don't see it.
func (v *Init) Version(own, because string) {
	v.out.line(line{json: v.product.Name + " " + v.product.Version, kind: "version", keys: result.Object{
		v.product.Program, v.product.Version, "tfdeps", own, "because", because, "ui", v.speech.UI,
	}})
}

// EmptyDirectory says that there is no configuration.
func (v *Init) EmptyDirectory() { v.say(emptyDirectory) }

// BackendBegin announces the backend's phase; cloud says that there is a cloud block.
func (v *Init) BackendBegin(cloud bool) {
	m := initializingBackend
	if v.cloud = cloud; cloud {
		m = initializingCloud
	}
	v.begin(m)
}

// begin announces a phase.
func (v *Init) begin(m line) {
	v.announced = true
	v.say(m)
}

// PhaseEnd ends the phase that was announced, if there is one.
func (v *Init) PhaseEnd() {
	if v.announced && dialect.Of(v.product).Understands("phases_apart") {
		v.gap()
	}
	v.announced = false
}

// BackendConfigured says that a backend of this type was configured.
func (v *Init) BackendConfigured(kind string) {
	v.run.changed = true
	m := v.filled(backendConfigured)
	text := fmt.Sprintf(m.human, kind)
	m.human, m.json = text+".", text+v.speech.BackendStop
	v.out.line(m)
}

// CopyingModule announces that the module of -from-module is copied.
func (v *Init) CopyingModule(source string) {
	v.run.changed = true
	text := "Copying configuration from \"" + source + "\"..."
	v.out.line(line{code: "copying_configuration_message", style: terminal.Bold, human: text, json: text})
}

// ModuleCopied ends the phase that CopyingModule announced. After it Terraform 1.15 prints an empty line after the backend's phase even if
// that phase prints nothing.
func (v *Init) ModuleCopied() {
	v.gap()
	v.announced = !dialect.Of(v.product).Understands("quiet_copy")
}

// ModulesBegin announces the phase of the modules.
func (v *Init) ModulesBegin(upgrade bool) {
	m := initializingModules
	if upgrade {
		m = upgradingModules
	}
	v.begin(m)
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
		said := sameLine(e.Key + " in " + e.Dir)
		said.ownJSON, said.json = true, cmp.Or(v.speech.Placed, "- ")+said.json
		v.out.line(said)
		v.out.line(v.run.moduleObject(e))
	}
}

// ModulesEnd ends the phase of the modules; called is how many modules are called.
func (v *Init) ModulesEnd(called int) {
	v.Close()
	v.run.modules = v.several.was.modules + called
}

// ProvidersBegin announces the phase of the providers.
func (v *Init) ProvidersBegin() {
	v.begin(initializingProviders)
}

// Overridden says that a provider comes by other means than a package, such as "dev_overrides", in JSON only: people get a warning elsewhere.
func (v *Init) Overridden(p getproviders.Provider, by string) {
	v.out.line(v.run.overridden(p, by).object())
}

// ProvidersEnd prints the lines that are left when the installer is done, and
// returns the warnings of registries and policies.
func (v *Init) ProvidersEnd() (warnings problem.List) {
	warnings = v.end()
	if v.run.signed {
		// In JSON it is one line, and has no code.
		text := v.speech.Signers + " are signed by their developers.\n" +
			"If you'd like to know more about provider signing, you can read about it here:\n" + v.speech.SigningPage
		v.out.line(line{human: text, json: text, gap: v.speech.Gaps})
	}
	return warnings
}

// LockSaved says that the lock file was changed, or created if isNew is true.
func (v *Init) LockSaved(isNew bool) {
	v.run.changed = true
	m := lockChanged
	if isNew {
		m = lockCreated
	}
	v.say(m)
}

// Done ends a successful run: it prints the collected warnings, then the message of success,
// and last the summary. If automated is true,
// advice on what to do next is left out.
func (v *Init) Done(warnings problem.List, automated bool) {
	v.Close()
	v.gap()
	v.Problems(warnings)
	done, next := initialized, nextSteps
	if v.cloud {
		done, next = initializedCloud, nextStepsCloud
	}
	v.say(done)
	if !automated {
		v.say(next)
	}
	if v.sumUp != nil && v.several.now == "" {
		v.sumUp(v.run.text(v.run.now()))
	}
}

// Problems prints errors and warnings: first those that belong to no file, in
// the order given, then the others by file and position. Each is printed once.
func (v *Init) Problems(problems problem.List) {
	v.run.addProblems(problems)
	v.Close()
	v.out.Problems(explain.Ordered(problems))
}

// End prints the summary for programs. It has to be the last call; code is the exit code.
func (v *Init) End(code int) { v.out.line(v.run.object(code)) }

// say prints a message.
func (v *Init) say(m line) { v.out.line(v.filled(m)) }

// filled returns a message with the run's names.
func (v *Init) filled(m line) line {
	m.human = v.run.Expand(m.human)
	m.json, m.gap = m.human, m.gap || m.apart && v.speech.Gaps
	return m
}

func (v *Init) gap() { v.out.line(line{gap: true}) }

// The messages of an init, for [explain.Names.Expand].
var (
	emptyDirectory = line{code: "output_init_empty_message", style: terminal.Bold,
		human: `$PRODUCT initialized in an empty directory!

The directory has no $PRODUCT configuration files. You may begin working
with $PRODUCT immediately by creating $PRODUCT configuration files.`}
	initializingBackend = line{code: "initializing_backend_message", style: terminal.Bold, apart: true,
		human: "Initializing the backend..."}
	initializingCloud = line{code: "initializing_terraform_cloud_message", style: terminal.Bold, apart: true,
		human: "Initializing $IN_CLOUD..."}
	backendConfigured = line{code: "backend_configured_success", style: terminal.Green, gap: true,
		human: `Successfully configured the backend "%s"! $PRODUCT will automatically
use this backend unless the backend configuration changes`}
	initializingModules = line{code: "initializing_modules_message", style: terminal.Bold,
		human: "Initializing modules..."}
	upgradingModules = line{code: "upgrading_modules_message", style: terminal.Bold,
		human: "Upgrading modules..."}
	initializingProviders = line{code: "initializing_provider_plugin_message", style: terminal.Bold, apart: true,
		human: "Initializing provider plugins..."}
	lockCreated = line{code: "lock_info", apart: true,
		human: `$PRODUCT has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that $PRODUCT can guarantee to make the same selections by default when
you run "$PROGRAM init" in the future.`}
	lockChanged = line{code: "dependencies_lock_changes_info", apart: true,
		human: `$PRODUCT has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.`}
	initialized = line{code: "output_init_success_message", style: terminal.Bold + terminal.Green,
		human: "$PRODUCT has been successfully initialized!"}
	nextSteps = line{code: "output_init_success_cli_message", style: terminal.Green, gap: true,
		human: `You may now begin working with $PRODUCT. Try running "$PROGRAM plan" to see
any changes that are required for your infrastructure. All $PRODUCT commands
should now work.

If you ever set or change modules or backend configuration for $PRODUCT,
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary.`}
	initializedCloud = line{code: "output_init_success_cloud_message", style: terminal.Bold + terminal.Green,
		human: "$CLOUD has been successfully initialized!"}
	nextStepsCloud = line{code: "output_init_success_cli_cloud_message", style: terminal.Green, gap: true,
		human: `You may now begin working with $IN_CLOUD. Try running "$PROGRAM plan" to
see any changes that are required for your infrastructure.

If you ever set or change modules or $PRODUCT Settings, run "$PROGRAM init"
again to reinitialize your working directory.`}
)

// Enter says that what follows is about a directory and its product. Its lines are for programs only.
func (v *Init) Enter(dir string, product getproviders.Product) {
	d, r := v.several, v.run
	d.now, d.named, d.was = terminal.PrintableLine(dir), false, counts{len(r.order), r.modules, r.errors}
	v.product, v.speech, v.announced, v.cloud = product, explain.SpeechOf(product), false, false
	r.directory, r.Product, r.items, r.turns, r.heads, r.signed = d.now, product, map[packageKey]*item{}, nil, nil, false
}

// Leave ends the part about the directory, with its exit code. end is the result of a directory without errors, such as "up_to_date"; ""
// means "ready".
func (v *Init) Leave(code int, end string) {
	d := v.several
	modules, errors := v.run.modules-d.was.modules, v.run.errors-d.was.errors
	n := tallyOf(v.run.order[d.was.order:])
	if code == 1 {
		end = "failed"
	}
	end = cmp.Or(end, "ready")
	words := strings.ReplaceAll(end, "_", " ")
	if d.count[words]++; d.count[words] == 1 {
		d.ends = append(d.ends, words)
	}
	what := ""
	switch {
	case errors > 0:
		what = terminal.Count(errors, "error")
	case words == "ready":
		what = terminal.Count(n.providers(), "provider") + ", " + terminal.Count(modules, "module")
	}
	d.rows = append(d.rows, []string{d.now, words, what})
	v.out.line(line{json: d.now + ": " + words, kind: "directory", keys: result.Object{
		"exit_code", code, "result", end, "errors", errors, "providers", n.object(), "modules", n.modules(modules),
	}})
	d.now = outside
}

// LeaveAll prints the results of all directories for people.
func (v *Init) LeaveAll() {
	d := v.several
	v.Close()
	if v.tell == nil || len(d.rows) == 0 {
		return
	}
	fmt.Fprint(v.tell, "\n"+result.Table(d.rows))
	if v.sumUp != nil {
		var parts terminal.Phrases
		for _, words := range d.ends {
			parts.Add(d.count[words], "%d %s", d.count[words], words)
		}
		text := fmt.Sprintf("%s: %s", terminal.Count(len(d.rows), "directory"), parts)
		if d.count["ready"] > 0 {
			text += ". " + v.run.text(v.run.now())
		}
		v.sumUp(text)
	}
}

// Differ prints that directories lock different versions of a provider; each of versions is a version and its directories.
func (v *Init) Differ(p getproviders.Provider, versions [][]string) {
	text := v.product.Short(p) + " is locked at different versions:"
	objects := result.Each(versions, func(of []string) result.Object {
		text += "\n  " + of[0] + " in " + strings.Join(of[1:], ", ")
		return result.Object{"version", of[0], "directories", of[1:]}
	})
	if v.tell != nil {
		fmt.Fprintln(v.tell, "\n"+terminal.Printable(text))
	}
	v.out.line(line{json: oneLine(text), kind: "versions_differ", keys: result.Object{"provider", p, "versions", objects}})
}
