package providercache_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

func TestInstall_AsksNothingIfAllIsLockedAndPresent(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	locks, _ := install(t, in, require("acme/widget", "1.0.0"), nil)
	before := tree(t, in.Target.Dir)

	asked := source.VersionsAsked + source.MetadataAsked
	again, report := install(t, in, require("acme/widget", ">= 0.9"), locks)
	must.Equal(t, source.VersionsAsked+source.MetadataAsked, asked)
	if report.Outcomes[0].State != event.Present || !again.Equal(locks) {
		t.Errorf("got %+v, want the package to be present", report)
	}
	if lock, _ := again.Provider(acmeWidget); lock.Constraints.String() != "1.0.0" {
		t.Errorf("constraints of an entry that didn't change became %q", lock.Constraints)
	}
	must.EqualSlices(t, tree(t, in.Target.Dir), before)
}

func TestInstall_KeepsTheLockedVersionAndUpgradeMoves(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	locks, _ := install(t, in, require("acme/widget", ">= 1.0"), nil)
	source.AddZip(t, "acme/widget", "1.1.0")

	succeed(t, os.RemoveAll(in.Target.Dir))
	asked := source.VersionsAsked
	kept, _ := install(t, in, require("acme/widget", ">= 1.0"), locks)
	must.Equal(t, source.VersionsAsked, asked)
	if lock, _ := kept.Provider(acmeWidget); lock.Version != v1 {
		t.Errorf("installed %s, which is not the locked version", lock.Version)
	}
	moved, report, err := in.Install(t.Context(), require("acme/widget", ">= 1.0"), kept, providercache.Upgrade)
	succeed(t, err)
	lock, _ := moved.Provider(acmeWidget)
	if lock.Version != version("1.1.0") || len(lock.Hashes) != 1 || report.Outcomes[0].Selection.Locked {
		t.Errorf("-upgrade gave %+v, want 1.1.0 with a hash of its own only", lock)
	}
	stays, report, err := in.Install(t.Context(), require("acme/widget", ">= 1.0"), moved, providercache.Upgrade)
	if err != nil || report.Outcomes[0].State != event.Present || !stays.Equal(moved) {
		t.Errorf("-upgrade to what is there: %+v, %v", report, err)
	}
}

func TestInstall_UpdatesLocks(t *testing.T) {
	source := widgetSource(t)
	other := getproviders.Hash(wrongH1)
	zh := zhOf(t, source, "acme/widget", "1.0.0")
	locks := new(depsfile.Locks)
	locks.Set(depsfile.Lock{Provider: acmeWidget, Version: v1, Constraints: constraints("1.0.0"), Hashes: []getproviders.Hash{other, zh}})
	locks.Set(entry("acme/unused", "9.0.0"))
	before := locks.Clone()

	in := newInstaller(t, source)
	got, report := install(t, in, require("acme/widget", "~> 1.0"), locks)
	lock, _ := got.Provider(acmeWidget)
	must.EqualSlices(t, lock.Hashes, hashing.Sort([]getproviders.Hash{other, zh, report.Outcomes[0].H1}))
	must.Equal(t, lock.Constraints.String(), "~> 1.0")
	if _, ok := got.Provider(provider("acme/unused")); ok {
		t.Error("an entry that no requirement needs is still there")
	}
	if !locks.Equal(before) {
		t.Error("the locks that were given have changed")
	}
	must.Len(t, report.Incomplete, 0)
}

func zhOf(tb testing.TB, s *memorySource, address, v string) getproviders.Hash {
	path := s.Packages[provider(address)][version(v)].Location.String()
	return getproviders.ZH(sha256.Sum256([]byte(read(tb, path))))
}

func TestInstall_ReplacesWhatIsDamaged(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	locks, _ := install(t, in, widgets, nil)
	dir, elsewhere := in.Target.PackagePath(acmeWidget, v1, linux), t.TempDir()
	write(t, filepath.Join(elsewhere, "terraform-provider-widget"), "another user's")

	for name, damage := range map[string]func(){
		"changed":  func() { write(t, filepath.Join(dir, "terraform-provider-widget"), "evil") },
		"stray":    func() { write(t, filepath.Join(dir, "stray"), "evil") },
		"empty":    func() { succeed(t, os.RemoveAll(dir)); succeed(t, os.Mkdir(dir, 0o755)) },
		"absent":   func() { succeed(t, os.RemoveAll(dir)) },
		"a file":   func() { succeed(t, os.RemoveAll(dir)); write(t, dir, "evil") },
		"dangling": func() { succeed(t, os.RemoveAll(dir)); _ = must.Symlink(filepath.Join(t.TempDir(), "nothing"), dir) }, // absent where no links can be made
		"a link":   func() { succeed(t, os.RemoveAll(dir)); _ = must.Symlink(elsewhere, dir) },
	} {
		damage()
		again, _ := install(t, in, widgets, locks)
		want := []string{packageDir("acme/widget", "1.0.0") + "/terraform-provider-widget"}
		must.EqualSlices(t, files(t, in.Target.Dir), want, name)
		must.Equal(t, read(t, filepath.Join(dir, "terraform-provider-widget")), "provider 1.0.0\n", name)
		must.Equal(t, again.Equal(locks), true, name)
		must.Equal(t, read(t, filepath.Join(elsewhere, "terraform-provider-widget")), "another user's", name)
	}
}

func TestInstall_LeavesTheSamePackageUntouched(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	install(t, in, widgets, nil)
	dir := in.Target.PackagePath(acmeWidget, v1, linux)
	before := must.Get(os.Stat(dir))(t)
	locks, _ := install(t, in, widgets, nil) // nothing is locked, so it is fetched
	after := must.Get(os.Stat(dir))(t)
	if !os.SameFile(before, after) || locks.Empty() {
		t.Error("a package that is the same was replaced")
	}
}

// failed is the failure of a provider as tests expect it.
type failed struct {
	address string
	step    string
	is      error
}

// checkFailures compares a joined error with what is expected, in order.
func checkFailures(t *testing.T, err error, want []failed) {
	t.Helper()
	failures := providerErrors(t, err)
	if len(failures) != len(want) {
		t.Fatalf("got %d errors, want %d:\n%v", len(failures), len(want), err)
	}
	for i, w := range want {
		got := failures[i]
		must.Equal(t, got.Provider, provider(w.address), i)
		must.Equal(t, got.Step, w.step, i)
		if w.is != nil && !errors.Is(failures[i], w.is) {
			t.Errorf("%s: %v doesn't match %v", w.address, failures[i], w.is)
		}
	}
}

func TestInstall_AttemptsAllPackagesAndReportsAllProblems(t *testing.T) {
	source := parallelSource(t)
	source.AddZip(t, "acme/good", "1.0.0")
	source.AddZip(t, "acme/zip", "1.0.0", []byte("this is not a zip archive"))
	source.Add("acme/gone", "1.0.0", getproviders.LocalArchive(filepath.Join(t.TempDir(), "gone.zip")))
	in := newInstaller(t, source)
	got, report, err := in.Install(t.Context(), require("acme/good", "", "acme/zip", "", "acme/gone", ""), nil, providercache.Normal)
	must.Equal(t, got, nil)
	checkFailures(t, err, []failed{{"acme/gone", during.Fetch, os.ErrNotExist}, {"acme/zip", during.Unpack, unpack.RuleArchive}})
	if len(report.Outcomes) != 3 || report.Outcomes[1].Selection.Provider != provider("acme/good") || report.Outcomes[1].Err != nil {
		t.Errorf("outcomes: %+v", report.Outcomes)
	}
	whole := []string{packageDir("acme/good", "1.0.0") + "/terraform-provider-good"}
	must.EqualSlices(t, files(t, in.Target.Dir), whole)
}

func TestInstall_ReportsWhatMetadataShowsBeforeItFetches(t *testing.T) {
	source := parallelSource(t)
	source.AddZip(t, "acme/good", "1.0.0")
	source.AddZip(t, "acme/old", "1.0.0")
	down := errors.New("dial tcp 192.0.2.1:443: connect: connection refused")
	source.Broken[provider("acme/down")] = down
	locks := new(depsfile.Locks)
	locks.Set(entry("acme/locked", "1.0.0"))
	locks.Set(entry("acme/vanished", "3.0.0"))

	in := newInstaller(t, source)
	req := require("acme/good", "", "acme/old", ">= 2.0", "acme/down", "", "acme/none", "",
		"acme/locked", ">= 2.0", "acme/vanished", "", "registry.terraform.io/-/ancient", "", "terraform.io/builtin/terraform", "1.0.0", "terraform.io/builtin/other", "")
	got, report, err := in.Install(t.Context(), req, locks, providercache.Normal)
	must.Equal(t, got, nil)
	want := []failed{
		{"registry.terraform.io/-/ancient", during.Query, nil},
		{"acme/down", during.Query, down},
		{"acme/locked", during.Lock, nil},
		{"acme/none", during.Query, getproviders.ErrProviderNotFound},
		{"acme/old", during.Select, getproviders.ErrNoMatchingVersion},
		{"acme/vanished", during.Metadata, getproviders.ErrVersionNotFound},
		{"terraform.io/builtin/other", during.BuiltIn, nil},
		{"terraform.io/builtin/terraform", during.BuiltIn, nil},
	}
	checkFailures(t, err, want)
	must.Equal(t, len(report.Outcomes), len(want)+1)
	for _, o := range report.Outcomes {
		good := o.Selection.Provider == provider("acme/good")
		must.Equal(t, o.State == event.NotTried, good, o.Selection.Provider)
		must.Equal(t, o.Err == nil, good, o.Selection.Provider)
	}
	nothingLeft(t, in)
}

func TestInstall_OfBuiltInProvidersLeavesNothing(t *testing.T) {
	t.Parallel()
	in := newInstaller(t, newSource(t))
	install(t, in, require("terraform.io/builtin/terraform", ""), nil)
	nothingLeft(t, in)
}

func TestInstall_RefusesAHalfMadeInstaller(t *testing.T) {
	t.Parallel()
	for _, in := range []*providercache.Installer{{}, {Fetcher: &providercache.Fetcher{Source: newSource(t)}}, {Target: storeIn(t.TempDir())}} {
		must.Refuse(attempt(t, in, widgets, nil))(t)
		must.Refuse(in.Plan(t.Context(), widgets, nil, providercache.Normal))(t, "no error from Plan")
	}
}

func TestInstall_ByManyIntoOneDirectory(t *testing.T) {
	source := parallelSource(t)
	for _, address := range []string{"acme/a", "acme/b", "acme/c"} {
		source.AddZip(t, address, "1.0.0")
	}
	req := require("acme/a", "", "acme/b", "", "acme/c", "")
	shared := newInstaller(t, source)
	installers := []*providercache.Installer{shared, shared, shared}
	for range 5 {
		installers = append(installers, &providercache.Installer{Fetcher: installtest.Again(shared.Fetcher), Target: shared.Target})
	}
	var all sync.WaitGroup
	for _, in := range installers {
		all.Go(func() { must.Equal(t, attempt(t, in, req, nil), nil) })
	}
	all.Wait()
	must.Len(t, files(t, shared.Target.Dir), 3)
}

// symlink makes a link, or skips the test where the system allows none.
func symlink(tb testing.TB, target, link string) {
	tb.Helper()
	if err := must.Symlink(target, link); err != nil {
		tb.Skipf("this system makes no symbolic links here: %v", err)
	}
}

func TestInstall_RefusesACacheThatIsTheTarget(t *testing.T) {
	m := newMachine(t)
	d := m.directory()
	d.Cache = d.Target
	err := attempt(t, d.Installer, getproviders.Requirements{}, nil)
	must.Contain(t, err, "can't be its Target")
}
