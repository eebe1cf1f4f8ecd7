package view

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
)

// Vendor tells what is vendored: providers as [Mirror] does. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Vendor struct {
	*archives
	report VendorReport
}

// NewVendor returns a Vendor that speaks as the options say.
func NewVendor(o Options) *Vendor {
	v := &Vendor{archives: newArchives(o, "Vendoring")}
	v.report.Span = v.activity.run.span
	return v
}

// End shows what is left to show of packages, and returns what registries had to say.
func (v *Vendor) End() problem.List { return v.end() }

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
	v.report.modules = append(v.report.modules, object{"key", pkg.Key, "version?", pkg.Version, "hash", hash})
	for _, name := range tidied {
		v.line(fmt.Sprintf("  - %s of the module %s is changed so that git keeps all of it", name, pkg.Key))
	}
}

// Changed reports a file beside what is vendored.
func (v *Vendor) Changed(name string) {
	v.report.changed = append(v.report.changed, name)
	v.line("- Wrote " + name)
}

// Removed reports something that isn't needed any more.
func (v *Vendor) Removed(names ...string) {
	for _, name := range names {
		v.report.removed = append(v.report.removed, name)
		v.line("- Removed " + name)
	}
}

// Packages takes the result for the report.
func (v *Vendor) Packages(packages []archivedir.Package) {
	v.report.packages = append(v.report.packages, packages...)
}

// Checked answers whether there would be anything to do.
func (v *Vendor) Checked(reasons []CheckReason) {
	upToDate := len(reasons) == 0
	v.report.upToDate, v.report.reasons = &upToDate, reasons
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

// Report is what became of the directory so far, for programs.
func (v *Vendor) Report() Result { return v.report }
