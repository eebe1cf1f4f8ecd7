package view

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// vendored reports one run by a Vendor.
func vendored(t *testing.T, asJSON bool) (stdout string) {
	t.Helper()
	var out, problems bytes.Buffer
	o := into(&out, &problems)
	o.JSON = asJSON
	v := NewVendor(o)
	one, two := mirroredPackage(t, "a", "darwin_arm64"), mirroredPackage(t, "a", "linux_amd64")
	two.State = event.Present
	v.ObserveModules(modules.Downloading{Key: "net", Package: "git::https://example.com/net", Version: "1.2.0"})
	v.Module(modules.Package{Record: modules.Record{Key: "net", Version: "1.2.0"}}, "h1:x", []string{".gitignore"})
	v.Observe(event.Event{Kind: event.Queued, Packages: []providercache.Outcome{one, two}})
	v.Observe(event.Event{Kind: event.Fetching, Outcome: one, Package: getproviders.Package{Location: getproviders.LocalArchive("/x")}})
	v.Observe(of(event.Done, one))
	v.Observe(of(event.Done, two))
	v.End()
	v.Packages([]providercache.Outcome{one, two})
	v.Removed("b", "c")
	v.Changed(".gitignore")
	v.Checked([]CheckReason{{Code: "package_absent", Provider: one.Provider, Detail: "gone"}, {Code: "module_absent", Module: "net", Detail: "gone"}})
	v.Done("All is vendored.")
	if problems.Len() > 0 {
		t.Error(&problems)
	}
	if asJSON {
		must.Succeed(t, result.Write(&out, v.Report(), true, result.Run{}))
	}
	return out.String()
}

func TestVendor_ShowsWhatIsVendored(t *testing.T) {
	t.Parallel()
	const want = `- Fetching module net from git::https://example.com/net 1.2.0...
  - .gitignore of the module net is changed so that git keeps all of it
- Vendoring acme/a...
  - Selected v1.0.0 with no constraints
  - Taking package for darwin_arm64 from this machine...
  - Package authenticated: self-signed
    note: old key
  - Package for linux_amd64 is there already
- Removed b
- Removed c
- Wrote .gitignore
There is something to do for vendor:
  - provider registry.terraform.io/acme/a: gone (package_absent)
  - module net: gone (module_absent)

All is vendored.
`
	must.Equal(t, vendored(t, false), want)
}

func TestVendor_Report(t *testing.T) {
	t.Parallel()
	var report struct {
		Packages []struct{ Address, Version, Platform, Authentication string }
		Modules  []struct{ Key, Version, Hash string }
		Changed  []string
		Removed  []string
		UpToDate *bool `json:"up_to_date"`
		Reasons  []struct{ Code, Provider, Module string }
	}
	must.Succeed(t, json.Unmarshal([]byte(vendored(t, true)), &report))
	packages, reasons := report.Packages, report.Reasons
	if len(packages) != 2 || packages[0].Address != "registry.terraform.io/acme/a" || packages[0].Authentication != "self-signed" || packages[1].Authentication != "" {
		t.Errorf("%+v", packages)
	}
	if len(report.Modules) != 1 || report.Modules[0].Hash != "h1:x" || len(report.Changed) != 1 || len(report.Removed) != 2 {
		t.Errorf("%+v", report)
	}
	if report.UpToDate == nil || *report.UpToDate || len(reasons) != 2 || reasons[0].Provider == "" || reasons[1].Module != "net" {
		t.Errorf("%+v", reasons)
	}
}

func TestVendor_EmptyReportHasNoNulls(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := NewVendor(Options{Now: time.Now, JSON: true, Stdout: terminal.Stream{Writer: &out}})
	if err := result.Write(&out, v.Report(), true, result.Run{}); err != nil || bytes.Contains(out.Bytes(), []byte("null")) {
		t.Errorf("%v, %s", err, &out)
	}
}
