package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/providercache"
)

// Lock tells what becomes of lock files, in Terraform's words. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Lock struct {
	*archives
	report result.LockReport
}

// NewLock returns a Lock that speaks as the options say. Problems go to stderr,
// also with JSON.
func NewLock(o Options) *Lock { return &Lock{archives: newArchives(o, "")} }

// Tell says what became of a directory, after its lock file was written. With
// Check, the problem returned says what the file lacks.
func (v *Lock) Tell(d explain.LockedDir) problem.List {
	v.report.Add(d, v.Activity.run.span)
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
		v.line(fmt.Sprintf("- Obtained %s checksums for %s; %s", v.Activity.run.product.Short(p.Provider), p.Platform, lockChange(p)))
		changed = changed || p.New || p.Extended
	}
	text := v.Activity.run.product.Name + " has validated the lock file and found no need for changes."
	if changed {
		text = v.Activity.run.product.Name + " has updated the lock file."
	}
	v.succeed(text)
	if changed {
		v.line("\nReview the changes in " + d.LockFile + " and then commit to your\nversion control system to retain the new checksums.\n")
	}
	return nil
}

// lockChange says how the hashes of a package change the lock file.
func lockChange(p providercache.LockedPackage) string {
	switch {
	case p.New:
		return "This was a new provider and the checksums for this platform are now tracked in the lock file"
	case p.Extended:
		return "Additional checksums for this platform are now tracked in the lock file"
	}
	return "All checksums for this platform were already tracked in the lock file"
}

func (v *Lock) succeed(text string) {
	fmt.Fprintf(v.out.Out, "\n%s %s\n", v.out.Paint(v.out.Out, "Success!", terminal.Bold+terminal.Green), v.out.Paint(v.out.Out, text, terminal.Bold))
}

// tellChecked says what a lock file lacks.
func (v *Lock) tellChecked(d explain.LockedDir) problem.List {
	var missing, platforms []string
	for _, p := range d.Result.Packages {
		if len(p.Missing) == 0 {
			continue
		}
		if option := " -platform=" + p.Platform.String(); !slices.Contains(platforms, option) {
			platforms = append(platforms, option)
		}
		for _, h := range p.Missing {
			missing = append(missing, "\n  - "+hashedName(v.Activity.run.product, p.Outcome)+": "+string(h))
		}
	}
	if len(missing) == 0 {
		v.succeed("The lock file has the checksums for all platforms.")
		return nil
	}
	return problem.Fail("lock_file_outdated", "Incomplete dependency lock file",
		"The lock file in %s lacks:%s\n\nTo add what is missing, run:\n  tfdeps providers lock%s", d.Dir, strings.Join(missing, ""), strings.Join(platforms, ""))
}

// Report is what became of all directories, for programs.
func (v *Lock) Report() result.Result { return v.report }
