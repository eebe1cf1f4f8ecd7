package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Lock tells what becomes of lock files, in Terraform's words. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Lock struct {
	*archives
	report lockReport
}

// LockedDir is what became of one directory.
type LockedDir struct {
	Dir      string
	LockFile string // its name in Dir
	Named    bool   // there may be others: it has to be said which one it is about
	Check    bool   // nothing was written
	Result   lockhashes.Result
}

// NewLock returns a Lock that speaks as the options say. Problems go to stderr,
// also with JSON.
func NewLock(o Options) *Lock { return &Lock{archives: newArchives(o, "")} }

// End tells what was held back, and returns what registries had to say.
func (v *Lock) End() problem.List { return v.end() }

// Tell says what became of a directory, after its lock file was written. With
// Check, the problem returned says what the file lacks.
func (v *Lock) Tell(d LockedDir) problem.List {
	v.report.add(d, v.activity.run)
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
		v.line(fmt.Sprintf("- Obtained %s checksums for %s; %s", v.activity.run.product.Short(p.Selection.Provider), p.Platform, lockChangeText[p.Change]))
		changed = changed || p.Change != lockhashes.Unchanged
	}
	text := v.activity.run.product.Name + " has validated the lock file and found no need for changes."
	if changed {
		text = v.activity.run.product.Name + " has updated the lock file."
	}
	v.succeed(text)
	if changed {
		v.line("\nReview the changes in " + d.LockFile + " and then commit to your\nversion control system to retain the new checksums.\n")
	}
	return nil
}

var lockChangeText = map[lockhashes.Change]string{
	lockhashes.Unchanged: "All checksums for this platform were already tracked in the lock file",
	lockhashes.Extended:  "Additional checksums for this platform are now tracked in the lock file",
	lockhashes.New:       "This was a new provider and the checksums for this platform are now tracked in the lock file",
}

func (v *Lock) succeed(text string) {
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
			missing = append(missing, "\n  - "+hashedName(v.activity.run.product, p)+": "+string(h))
		}
	}
	if len(missing) == 0 {
		v.succeed("The lock file has the checksums for all platforms.")
		return nil
	}
	return problem.List{problem.CodedError("lock_file_outdated", "Incomplete dependency lock file", fmt.Sprintf(
		"The lock file in %s lacks:%s\n\nTo add what is missing, run:\n  %s providers lock%s", d.Dir, strings.Join(missing, ""), v.activity.run.product.Program, strings.Join(platforms, "")))}
}

// Report is what became of all directories, for programs.
func (v *Lock) Report() Result { return v.report }

// lockReport is what became of lock files, for programs.
type lockReport struct {
	dirs                []object
	changed, incomplete int
	packages            []lockhashes.Package // of all directories, one that several need as often
}

var hashOrigins = map[lockhashes.HashOrigin]string{
	lockhashes.HashesComputed: "computed",
	lockhashes.HashesRecalled: "recalled",
	lockhashes.HashesListed:   "listed",
}

// add reports on a directory.
func (r *lockReport) add(d LockedDir, times *run) {
	changed, complete, packages := false, d.Result.Err == nil, d.Result.Packages
	if !complete {
		packages = nil
	}
	for _, p := range packages {
		changed = changed || p.Change != lockhashes.Unchanged && !d.Check
		complete = complete && (len(p.Missing) == 0 || !d.Check)
	}
	if changed {
		r.changed++
	}
	if !complete {
		r.incomplete++
	}
	r.packages = append(r.packages, packages...)
	providers := byProvider(packages, func(p lockhashes.Package) resolve.Selection { return p.Selection })
	r.dirs = append(r.dirs, slices.Concat(
		object{"dir", filepath.ToSlash(d.Dir), "lock_file", filepath.ToSlash(filepath.Join(d.Dir, d.LockFile)), "changed", changed, "complete", complete},
		errorObject(d.Result.Err),
		object{"providers", each(providers, func(all []lockhashes.Package) object { return lockedProvider(d, all, times) })},
	))
}

func lockedProvider(d LockedDir, all []lockhashes.Package, times *run) object {
	s := all[0].Selection
	lock, _ := d.Result.Locks.Provider(s.Provider)
	return object{
		"address", s.Provider, "version", s.Version, "previous_version", orNull(all[0].Previous), "version_constraints", s.Constraints, "hashes", lock.Hashes,
		"platforms", each(all, func(p lockhashes.Package) object {
			return append(object{
				"platform", p.Platform, "h1", p.H1, "zh?", p.ZH, "origin", hashOrigins[p.From], "source", p.Source,
				"authentication", p.Authentication.TrustLevel.String(), "key_id?", p.Authentication.KeyID, "missing", orEmpty(p.Missing), "bytes", orNull(p.Bytes),
			}, times.span(p.Selection, p.Platform).object()...)
		}),
	}
}

// Text writes nothing: people were told before.
func (r lockReport) Text() string { return "" }

// JSON is what became of all directories: how the hashes of packages are known, and how many bytes of archives were read.
func (r lockReport) JSON() any {
	origins := tallied(r.packages, func(p lockhashes.Package) string { return hashOrigins[p.From] })
	var bytes int64
	for _, p := range r.packages {
		bytes += p.Bytes
	}
	return object{"directories", orEmpty(r.dirs), "summary", object{
		"directories", len(r.dirs), "changed", r.changed, "incomplete", r.incomplete, "packages", len(r.packages),
		"computed", origins["computed"], "recalled", origins["recalled"], "listed", origins["listed"], "bytes", bytes,
	}}
}
