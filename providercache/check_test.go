package providercache_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache"
)

func TestCheck_FindsReasons(t *testing.T) {
	source := parallelSource(t)
	req := getproviders.Requirements{}
	for _, name := range strings.Fields("fine absent differs unread hashless zhonly unfit") {
		source.AddZip(t, "acme/"+name, "1.0.0")
		req.Add(provider("acme/"+name), getproviders.Requirement{})
	}
	in := newInstaller(t, source)
	locks, _ := install(t, in, req, nil)
	dir := func(address string) string { return in.Target.PackagePath(provider(address), v1, linux) }
	succeed(t, os.RemoveAll(dir("acme/absent")))
	write(t, filepath.Join(dir("acme/differs"), "stray"), "x")
	if must.Symlink(t.TempDir(), filepath.Join(dir("acme/unread"), "link")) != nil { // a link to a directory can't be hashed
		write(t, filepath.Join(dir("acme/unread"), "stray"), "x")
	}
	locks.Set(entry("acme/hashless", "1.0.0"))
	locks.Set(entry("acme/zhonly", "1.0.0", "zh:aa"))
	locks.Set(entry("acme/extra", "1.0.0"))
	req = req.Merge(require("acme/unfit", ">= 2.0", "acme/unlocked", "", "terraform.io/builtin/terraform", "1.0.0", "terraform.io/builtin/other", ""))

	in.Fetcher.Source = nil // it isn't needed
	before := tree(t, in.Target.Dir)
	status := must.Get(in.Check(t.Context(), req, locks))(t)
	var got []string
	for _, r := range status.Reasons {
		got = append(got, fmt.Sprintf("%s %s", r.Provider.Type, r.Code))
		if r.Detail == "" {
			t.Errorf("%s: no detail", r.Provider)
		}
	}
	want := []string{
		"absent package_absent", "differs package_differs", "extra lock_extra_provider", "hashless lock_without_hash",
		"unfit constraint_unsatisfied", "unlocked lock_missing_provider", "unread package_differs", "zhonly lock_without_hash",
		"other built_in_invalid", "terraform built_in_invalid",
	}
	if !slices.Equal(got, want) || status.UpToDate() {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	must.EqualSlices(t, tree(t, in.Target.Dir), before)
}

func TestCheck_AfterInstallIsUpToDate(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	req := require("acme/widget", "", "terraform.io/builtin/terraform", "")
	locks, _ := install(t, in, req, nil)
	status := must.Get(in.Check(t.Context(), req, locks))(t)
	if text, _ := json.Marshal(status); !status.UpToDate() || string(text) != `{"reasons":[]}` {
		t.Errorf("got %s", text)
	}
	must.Refuse(new(providercache.Installer).Check(t.Context(), req, locks))(t, "no error without a Target")
}

// TestCheck_NeedsNoFetcher: nothing is fetched.
func TestCheck_NeedsNoFetcher(t *testing.T) {
	t.Parallel()
	target := &providercache.Store{Dir: t.TempDir()}
	dir := target.PackagePath(acmeWidget, v1, getproviders.CurrentPlatform())
	program := filepath.Join(dir, "terraform-provider-widget")
	write(t, program, "x")
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{
		Provider: acmeWidget,
		Version:  v1,
		Hashes:   []getproviders.Hash{must.Get(treehash.Dir(t.Context(), dir))(t)},
	})

	in := &providercache.Installer{Target: target}
	status := must.Get(in.Check(t.Context(), require("acme/widget", ""), locks))(t)
	must.Equal(t, status.UpToDate(), true)
	locked, _ := in.CheckLocks(require("acme/widget", ""), locks)
	must.Len(t, locked, 1)

	write(t, program, "y")
	status = must.Get(in.Check(t.Context(), require("acme/widget", ""), locks))(t)
	must.Equal(t, status.UpToDate(), false)

	must.Refuse(in.Plan(t.Context(), require("acme/widget", ""), locks, providercache.Normal))(t, "a plan needs a source")
}

func TestPlan_SaysWhatInstallWouldDo(t *testing.T) {
	source := parallelSource(t)
	for _, address := range []string{"acme/kept", "acme/damaged", "acme/new"} {
		source.AddZip(t, address, "1.0.0")
	}
	in := newInstaller(t, source)
	locks, _ := install(t, in, require("acme/kept", "", "acme/damaged", ""), nil)
	write(t, in.Target.PackagePath(provider("acme/damaged"), v1, linux)+"/stray", "x")
	before := tree(t, in.Target.Dir)
	asked := source.MetadataAsked - source.Located

	req := require("acme/kept", "", "acme/damaged", "~> 1.0", "acme/new", ">= 0.5", "terraform.io/builtin/terraform", "")
	plan := must.Get(in.Plan(t.Context(), req, locks, providercache.Normal))(t)
	must.Equal(t, string(must.Get(json.Marshal(plan))(t)), `{"present":[{"provider":"registry.terraform.io/acme/kept","version":"1.0.0","constraints":"","locked":true}],`+
		`"link":[],"fetch":[{"provider":"registry.terraform.io/acme/damaged","version":"1.0.0","constraints":"~\u003e 1.0","locked":true,"source":"memory","location":""},`+
		`{"provider":"registry.terraform.io/acme/new","version":"1.0.0","constraints":"\u003e= 0.5.0","locked":false,"source":"memory","location":""}],`+
		`"built_in":["terraform.io/builtin/terraform"]}`)
	must.Equal(t, source.MetadataAsked-source.Located, asked)
	must.Equal(t, len(tree(t, in.Target.Dir)), len(before))
}

func TestPlan_OfNothingHasEmptyLists(t *testing.T) {
	t.Parallel()
	plan := must.Get(newInstaller(t, newSource(t)).Plan(t.Context(), nil, nil, providercache.Normal))(t)
	must.Equal(t, string(must.Get(json.Marshal(plan))(t)), `{"present":[],"link":[],"fetch":[],"built_in":[]}`)
	none := &providercache.Installer{Target: new(providercache.Store)}
	must.Refuse(none.Prefetch(t.Context(), nil))(t)
}
