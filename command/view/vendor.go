package view

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache"
)

// Vendor tells what is vendored: providers as [Mirror] does. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Vendor struct {
	*archives
	report result.VendorReport
	each   result.VendorReports // of several directories, but for the one that report is about; nil: there is one
}

// NewVendor returns a Vendor that speaks as the options say.
func NewVendor(o Options) *Vendor {
	v := &Vendor{archives: newArchives(o, "Vendoring")}
	v.report.Span = v.Activity.run.span
	return v
}

// ObserveModules is for [modules.Resolver].Observe.
func (v *Vendor) ObserveModules(e modules.Event) {
	if d, ok := e.(modules.Downloading); ok {
		text := fmt.Sprintf("- Fetching module %s from %s", d.Key, d.Package)
		if d.Version != "" {
			text += " " + d.Version
		}
		v.line(text + "...")
	}
}

// Module reports a module that is vendored.
func (v *Vendor) Module(pkg modules.Package, hash string, tidied []string) {
	v.report.Modules = append(v.report.Modules, result.Object{"key", pkg.Key, "version?", pkg.Version, "hash", hash})
	for _, name := range tidied {
		v.line(fmt.Sprintf("  - %s of the module %s is changed so that git keeps all of it", name, pkg.Key))
	}
}

// Changed reports a file beside what is vendored.
func (v *Vendor) Changed(name string) {
	v.report.Changed = append(v.report.Changed, name)
	v.line("- Wrote " + name)
}

// Removed reports something that isn't needed any more.
func (v *Vendor) Removed(names ...string) {
	for _, name := range names {
		v.report.Removed = append(v.report.Removed, name)
		v.line("- Removed " + name)
	}
}

// Packages takes the result for the report.
func (v *Vendor) Packages(packages []providercache.Outcome) {
	v.report.Packages = append(v.report.Packages, packages...)
}

// Checked answers whether there would be anything to do.
func (v *Vendor) Checked(reasons []CheckReason) {
	upToDate := len(reasons) == 0
	v.report.UpToDate, v.report.Reasons = &upToDate, result.Each(reasons, func(r CheckReason) any { return r })
	text := "Nothing to do: everything is vendored."
	if !upToDate {
		text = "There is something to do for vendor:"
	}
	v.line(text)
	for _, r := range reasons {
		v.line(fmt.Sprintf("  - %s (%s)", r.text(), r.Code))
	}
}

// Done tells the last line.
func (v *Vendor) Done(text string) {
	v.out.line(line{gap: true, human: text})
}

// Several says that directories follow, which Enter names.
func (v *Vendor) Several() { v.each = result.VendorReports{} }

// Enter has all that follows be about a directory of several.
func (v *Vendor) Enter(dir string) {
	v.leave()
	v.report.Directory = dir
	v.line(dir + ":")
}

func (v *Vendor) leave() {
	if v.report.Directory != "" {
		v.each = append(v.each, v.report)
	}
	v.report = result.VendorReport{Span: v.report.Span}
}

// Report is what became of the directory so far, for programs.
func (v *Vendor) Report() result.Result {
	if v.each == nil {
		return v.report
	}
	v.leave()
	return v.each
}
