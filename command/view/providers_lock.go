package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// Lock tells what becomes of lock files, in the real tool's words. It is for one
// goroutine at a time.
type Lock struct {
	out      *humanPrinter
	tell     func(text string) // a line; nil: JSON comes at the end
	product  getproviders.Product
	waiting  []lockTurn
	warnings problem.List
	report   lockReport
}

// lockTurn is a package whose turn to be told of comes when all before it are done.
type lockTurn struct {
	provider getproviders.Provider
	version  getproviders.Version
	platform getproviders.Platform
	lines    []string
	done     bool
}

// LockedDir is what became of one directory.
type LockedDir struct {
	Dir      string
	LockFile string // its name in Dir
	Named    bool   // there may be others: it has to be said which one it is about
	Check    bool   // nothing was written
	Result   providercache.LockResult
}

// NewLock returns a Lock that speaks as the options say. Problems go to stderr,
// also with JSON.
func NewLock(o Options) *Lock {
	v := &Lock{out: newHumanPrinter(o), product: o.Product}
	if !o.JSON {
		v.tell = func(text string) { v.out.line(line{human: text}) }
	}
	return v
}

// Platforms returns a Lock that tells in the course of an init of packages for
// other platforms. It is for Observe and End alone.
func (v *Init) Platforms() *Lock {
	return &Lock{product: v.product, tell: func(text string) {
		v.out.line(line{human: text, json: strings.TrimPrefix(text, "- ")})
	}}
}

// Observe is for [providercache.Installer].Observe. Packages are told of in the
// order of platforms and providers, whichever is done first.
func (v *Lock) Observe(e providercache.Event) {
	switch e := e.(type) {
	case providercache.QueryWarning:
		v.warnings = append(v.warnings, registryWarning(v.product.Short(e.Provider), e.Warnings))
	case providercache.LockBegin:
		for _, p := range e.Packages {
			v.waiting = append(v.waiting, lockTurn{provider: p.Selection.Provider, version: p.Selection.Version, platform: p.Platform})
		}
	case providercache.LockFetch:
		v.turn(e.Package, "- Fetching "+v.name(e.Package)+"...", false)
	case providercache.LockDone:
		text := ""
		if e.Err == nil {
			text = v.doneText(e.Package)
		}
		v.turn(e.Package, text, true)
	}
}

// doneText says how a package's hashes became known. The first of the lines is
// the real tool's.
func (v *Lock) doneText(p providercache.LockedPackage) string {
	a := p.Authentication
	vouched := trust(v.product, a.TrustLevel)
	if a.KeyID != "" {
		vouched += ", key ID " + a.KeyID
	}
	switch p.From {
	case providercache.HashesRecalled:
		return fmt.Sprintf("- Recalled %s (%s)", v.name(p), vouched)
	case providercache.HashesListed:
		return fmt.Sprintf("- Believed the hashes of %s (%s)", v.name(p), p.Source)
	}
	text := fmt.Sprintf("- Retrieved %s (%s)", v.name(p), vouched)
	for _, note := range a.Notes {
		text += "\n  note: " + note
	}
	return text
}

func (v *Lock) name(p providercache.LockedPackage) string {
	return fmt.Sprintf("%s %s for %s", v.product.Short(p.Selection.Provider), p.Selection.Version, p.Platform)
}

// turn keeps a text until its turn, and tells what has its turn now.
func (v *Lock) turn(p providercache.LockedPackage, text string, done bool) {
	i := slices.IndexFunc(v.waiting, func(t lockTurn) bool {
		return t.provider == p.Selection.Provider && t.version == p.Selection.Version && t.platform == p.Platform
	})
	if i < 0 {
		return
	}
	if text != "" {
		v.waiting[i].lines = append(v.waiting[i].lines, text)
	}
	v.waiting[i].done = done
	for len(v.waiting) > 0 {
		first := &v.waiting[0]
		for _, text := range first.lines {
			v.line(text)
		}
		if first.lines = nil; !first.done {
			return
		}
		v.waiting = v.waiting[1:]
	}
}

func (v *Lock) line(text string) {
	if v.tell != nil {
		v.tell(text)
	}
}

// End tells what was held back, and returns what registries had to say.
func (v *Lock) End() problem.List {
	for _, t := range v.waiting {
		for _, text := range t.lines {
			v.line(text)
		}
	}
	v.waiting = nil
	slices.SortStableFunc(v.warnings, func(a, b *problem.Problem) int { return strings.Compare(a.Detail, b.Detail) })
	return slices.CompactFunc(v.warnings, sameProblem)
}

// Tell says what became of a directory, after its lock file was written. With
// Check, the problem returned says what the file lacks.
func (v *Lock) Tell(d LockedDir) problem.List {
	v.report.add(d)
	if d.Result.Err != nil {
		return nil
	}
	if d.Named {
		v.line("\n" + d.Dir + ":")
	}
	if d.Check {
		return v.tellChecked(d)
	}
	changed := false
	for _, p := range d.Result.Packages {
		v.line(fmt.Sprintf("- Obtained %s checksums for %s; %s", v.product.Short(p.Selection.Provider), p.Platform, lockChangeText[p.Change]))
		changed = changed || p.Change != providercache.LockUnchanged
	}
	text := v.product.Name + " has validated the lock file and found no need for changes."
	if changed {
		text = v.product.Name + " has updated the lock file."
	}
	v.succeed(text)
	if changed {
		v.line("\nReview the changes in " + d.LockFile + " and then commit to your\nversion control system to retain the new checksums.\n")
	}
	return nil
}

var lockChangeText = map[providercache.LockChange]string{
	providercache.LockUnchanged: "All checksums for this platform were already tracked in the lock file",
	providercache.LockExtended:  "Additional checksums for this platform are now tracked in the lock file",
	providercache.LockNew:       "This was a new provider and the checksums for this platform are now tracked in the lock file",
}

func (v *Lock) succeed(text string) {
	if v.tell == nil {
		return
	}
	fmt.Fprintf(v.out.out, "\n%s %s\n", v.out.paint(v.out.out, "Success!", escBold+escGreen), v.out.paint(v.out.out, text, escBold))
}

// tellChecked says what a lock file lacks.
func (v *Lock) tellChecked(d LockedDir) problem.List {
	var missing []string
	var platforms []string
	for _, p := range d.Result.Packages {
		if len(p.Missing) == 0 {
			continue
		}
		if option := " -platform=" + p.Platform.String(); !slices.Contains(platforms, option) {
			platforms = append(platforms, option)
		}
		for _, h := range p.Missing {
			missing = append(missing, "\n  - "+v.name(p)+": "+string(h))
		}
	}
	if len(missing) == 0 {
		v.succeed("The lock file has the checksums for all platforms.")
		return nil
	}
	return problem.List{problem.Error("Incomplete dependency lock file", fmt.Sprintf(
		"The lock file in %s lacks:%s\n\nTo add what is missing, run:\n  %s providers lock%s", d.Dir, strings.Join(missing, ""), v.product.Program, strings.Join(platforms, "")))}
}

// Problems tells errors and warnings, as [Init.Problems] does.
func (v *Lock) Problems(problems problem.List) { (&Init{out: v.out}).Problems(problems) }

// Report writes what became of all directories, for programs, as one object.
func (v *Lock) Report(w io.Writer) error { return v.report.write(w) }
