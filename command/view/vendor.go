package view

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// Vendor tells what is vendored: providers as [Mirror] does. It is for one
// goroutine at a time. With JSON it tells nothing before the report.
type Vendor struct {
	mirror *Mirror
	report vendorReport
}

// NewVendor returns a Vendor that speaks as the options say.
func NewVendor(o Options) *Vendor {
	return &Vendor{mirror: &Mirror{archives: newArchives(o, "Vendoring")}}
}

// Activity is what shows what is under way.
func (v *Vendor) Activity() *Activity { return v.mirror.activity }

// Observe is for the events of packages.
func (v *Vendor) Observe(e event.Event) { v.mirror.Observe(e) }

// End shows what is left to show of packages, as [Mirror.End].
func (v *Vendor) End() problem.List { return v.mirror.End(mirror.Result{}) }

// vendorReport is what became of a directory, for programs.
type vendorReport struct {
	Packages []jsonArchive  `json:"packages"`
	Modules  []vendorModule `json:"modules"`
	Changed  []string       `json:"changed"`
	Removed  []string       `json:"removed"`
	UpToDate *bool          `json:"up_to_date,omitempty"` // of -check
	Reasons  []CheckReason  `json:"reasons,omitempty"`
	Sum      vendorSum      `json:"summary"`
}

// vendorSum counts what is in the lists.
type vendorSum struct {
	jsonArchivesSum
	Modules int `json:"modules"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

type vendorModule struct {
	Key     string `json:"key"`
	Version string `json:"version,omitempty"`
	Hash    string `json:"hash"`
}

// ObserveModules is for [modules.Resolver].Observe.
func (v *Vendor) ObserveModules(e modules.Event) {
	if d, ok := e.(modules.Downloading); ok {
		text := fmt.Sprintf("- Fetching module %s from %s", d.Key, d.Package)
		if d.Version != "" {
			text += " " + d.Version
		}
		v.mirror.line(text + "...")
	}
}

// Module reports a module that is vendored.
func (v *Vendor) Module(pkg modules.Package, hash string, tidied []string) {
	v.report.Modules = append(v.report.Modules, vendorModule{pkg.Key, pkg.Version, hash})
	for _, name := range tidied {
		v.mirror.line(fmt.Sprintf("  - %s of the module %s is changed so that git keeps all of it", name, pkg.Key))
	}
}

// Changed reports a file beside what is vendored.
func (v *Vendor) Changed(name string) {
	v.report.Changed = append(v.report.Changed, name)
	v.mirror.line("- Wrote " + name)
}

// Removed reports something that isn't needed any more.
func (v *Vendor) Removed(names ...string) {
	for _, name := range names {
		v.report.Removed = append(v.report.Removed, name)
		v.mirror.line("- Removed " + name)
	}
}

// Packages takes the result for the report.
func (v *Vendor) Packages(packages []archivedir.Package) {
	v.report.Packages = append(v.report.Packages, v.mirror.packages(packages)...)
}

// Checked answers whether there would be anything to do.
func (v *Vendor) Checked(reasons []CheckReason) {
	upToDate := len(reasons) == 0
	v.report.UpToDate, v.report.Reasons = &upToDate, reasons
	text := "Nothing to do: everything is vendored."
	if !upToDate {
		text = "There is something to do for vendor:"
	}
	v.mirror.line(text)
	for _, r := range reasons {
		v.mirror.line(fmt.Sprintf("  - %s (%s)", r.text(), r.Code))
	}
}

// Done tells the last line.
func (v *Vendor) Done(text string) {
	v.mirror.out.line(line{gap: true, human: text})
}

// Report is what became of the directory so far, for programs.
func (v *Vendor) Report() Result { return v.report }

// Text writes nothing: people were told before.
func (r vendorReport) Text() string { return "" }

// JSON writes what became of the directory.
func (r vendorReport) JSON() any {
	r.Sum = vendorSum{sumOfArchives(r.Packages), len(r.Modules), len(r.Changed), len(r.Removed)}
	r.Packages, r.Modules, r.Changed, r.Removed = orEmpty(r.Packages), orEmpty(r.Modules), orEmpty(r.Changed), orEmpty(r.Removed)
	return r
}
