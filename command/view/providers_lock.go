package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
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
	Dirs []jsonLockDir `json:"directories"`
	Sum  jsonLockSum   `json:"summary"`
}

type jsonLockDir struct {
	Dir      string `json:"dir"`
	LockFile string `json:"lock_file"`
	Changed  bool   `json:"changed"`
	Complete bool   `json:"complete"`
	*jsonFailure
	Providers []jsonLockProvider `json:"providers"`
}

// jsonLockSum counts directories, and the packages of all of them, one that several need as often.
type jsonLockSum struct {
	Dirs       int   `json:"directories"`
	Changed    int   `json:"changed"`
	Incomplete int   `json:"incomplete"`
	Packages   int   `json:"packages"`
	Computed   int   `json:"computed"` // how their hashes are known
	Recalled   int   `json:"recalled"`
	Listed     int   `json:"listed"`
	Bytes      int64 `json:"bytes"` // of the archives that were read
}

func (s *jsonLockSum) add(o jsonLockDir) {
	s.Dirs++
	if o.Changed {
		s.Changed++
	}
	if !o.Complete {
		s.Incomplete++
	}
	for _, provider := range o.Providers {
		for _, p := range provider.Platforms {
			s.Packages++
			*map[string]*int{"computed": &s.Computed, "recalled": &s.Recalled, "listed": &s.Listed}[p.Origin]++
			if p.Bytes != nil {
				s.Bytes += *p.Bytes
			}
		}
	}
}

type jsonLockProvider struct {
	Address     getproviders.Provider    `json:"address"`
	Version     getproviders.Version     `json:"version"`
	Previous    *getproviders.Version    `json:"previous_version"` // null: there was no entry
	Constraints getproviders.Constraints `json:"version_constraints"`
	Hashes      []getproviders.Hash      `json:"hashes"`
	Platforms   []jsonLockPlatform       `json:"platforms"`
}

type jsonLockPlatform struct {
	Platform       getproviders.Platform `json:"platform"`
	H1             getproviders.Hash     `json:"h1"`
	ZH             getproviders.Hash     `json:"zh,omitempty"`
	Origin         string                `json:"origin"`
	Source         string                `json:"source"`
	Authentication string                `json:"authentication"`
	KeyID          string                `json:"key_id,omitempty"`
	Missing        []getproviders.Hash   `json:"missing"`
	Bytes          *int64                `json:"bytes"`
	jsonSpan
}

var hashOrigins = map[lockhashes.HashOrigin]string{
	lockhashes.HashesComputed: "computed",
	lockhashes.HashesRecalled: "recalled",
	lockhashes.HashesListed:   "listed",
}

// add reports on a directory.
func (r *lockReport) add(d LockedDir, times *run) {
	out := jsonLockDir{
		Dir: filepath.ToSlash(d.Dir), LockFile: filepath.ToSlash(filepath.Join(d.Dir, d.LockFile)),
		Providers: []jsonLockProvider{}, Complete: d.Result.Err == nil,
	}
	out.jsonFailure = newJSONFailure(d.Result.Err)
	for _, p := range d.Result.Packages {
		out.Changed = out.Changed || p.Change != lockhashes.Unchanged && !d.Check && d.Result.Err == nil
		out.Complete = out.Complete && len(p.Missing) == 0 || out.Complete && !d.Check
		if d.Result.Err == nil {
			out.add(d, p, times)
		}
	}
	r.Dirs = append(r.Dirs, out)
	r.Sum.add(out)
}

// add reports on a package. Those of a provider come one after the other.
func (o *jsonLockDir) add(d LockedDir, p lockhashes.Package, times *run) {
	last := len(o.Providers) - 1
	if last < 0 || o.Providers[last].Address != p.Selection.Provider {
		entry := jsonLockProvider{Address: p.Selection.Provider, Version: p.Selection.Version, Constraints: p.Selection.Constraints}
		if lock, ok := d.Result.Locks.Provider(p.Selection.Provider); ok {
			entry.Hashes = lock.Hashes
		}
		if p.Previous != (getproviders.Version{}) {
			entry.Previous = &p.Previous
		}
		o.Providers = append(o.Providers, entry)
		last++
	}
	o.Providers[last].Platforms = append(o.Providers[last].Platforms, jsonLockPlatform{
		Platform: p.Platform, H1: p.H1, ZH: p.ZH, Origin: hashOrigins[p.From], Source: p.Source,
		Authentication: p.Authentication.TrustLevel.String(), KeyID: p.Authentication.KeyID,
		Missing: orEmpty(p.Missing), Bytes: known(p.Bytes), jsonSpan: newJSONSpan(times.span(p.Selection, p.Platform)),
	})
}

// Text writes nothing: people were told before.
func (r lockReport) Text() string { return "" }

// JSON writes what became of all directories.
func (r lockReport) JSON() any {
	r.Dirs = orEmpty(r.Dirs)
	return r
}
