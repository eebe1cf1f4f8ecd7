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
	dir := in.Target.PackagePath(acmeWidget, v1, linux)
	elsewhere := filepath.Join(t.TempDir(), packageDir("acme/widget", "1.0.0")) // as in a cache
	write(t, filepath.Join(elsewhere, "terraform-provider-widget"), "another user's")

	for name, damage := range map[string]func(){
		"changed": func() { write(t, filepath.Join(dir, "terraform-provider-widget"), "evil") },
		"empty":   func() { succeed(t, os.RemoveAll(dir)); succeed(t, os.Mkdir(dir, 0o755)) },
		"absent":  func() { succeed(t, os.RemoveAll(dir)) },
		"dangling": func() {
			succeed(t, os.RemoveAll(dir))
			_ = must.Symlink(filepath.Join(t.TempDir(), packageDir("acme/widget", "1.0.0")), dir)
		}, // absent where no links can be made
		"a link": func() { succeed(t, os.RemoveAll(dir)); _ = must.Symlink(elsewhere, dir) },
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

// What a user has put into a package's place is kept, under a name that says so.
func TestInstall_MovesAsideWhatNoProgramPutThere(t *testing.T) {
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "terraform-provider-widget"), "under development")
	const executable = "terraform-provider-widget"

	for name, tt := range map[string]struct {
		put  func(t *testing.T, dir string)
		kept map[string]string // the files that are moved aside
	}{
		"stray files": {
			put: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "notes", "today"), "mine")
				write(t, filepath.Join(dir, executable+"_debug"), "mine, too")
			},
			kept: map[string]string{"notes/today": "mine", executable + "_debug": "mine, too"},
		},
		"a link among the files": {
			put:  func(t *testing.T, dir string) { symlink(t, elsewhere, filepath.Join(dir, "build")) },
			kept: map[string]string{"build/" + executable: "under development"},
		},
		"a directory in place of the executable": {
			put: func(t *testing.T, dir string) {
				succeed(t, os.Remove(filepath.Join(dir, executable)))
				write(t, filepath.Join(dir, executable, "main.go"), "package main")
			},
			kept: map[string]string{executable + "/main.go": "package main"},
		},
		"a file": {
			put:  func(t *testing.T, dir string) { succeed(t, os.RemoveAll(dir)); write(t, dir, "mine") },
			kept: map[string]string{"": "mine"},
		},
		"a link": {
			put:  func(t *testing.T, dir string) { succeed(t, os.RemoveAll(dir)); symlink(t, elsewhere, dir) },
			kept: map[string]string{executable: "under development"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInstaller(t, widgetSource(t))
			locks, _ := install(t, in, widgets, nil)
			dir := in.Target.PackagePath(acmeWidget, v1, linux)
			for _, aside := range []string{"moved-aside_" + filepath.Base(dir), "moved-aside_" + filepath.Base(dir) + ".2"} {
				tt.put(t, dir)
				_, report := install(t, in, widgets, locks)
				aside = filepath.Join(filepath.Dir(dir), aside)
				must.Equal(t, report.Outcomes[0].MovedAside, aside)
				must.Equal(t, read(t, filepath.Join(dir, executable)), "provider 1.0.0\n")
				for file, content := range tt.kept {
					must.Equal(t, read(t, filepath.Join(aside, filepath.FromSlash(file))), content, file)
				}
			}
			_, report := install(t, in, widgets, locks)
			must.Equal(t, report.Outcomes[0].State, event.Present)
		})
	}
}

// It is done ten times at most, so that a program that changes packages again and again doesn't fill the disk.
func TestInstall_MovesAsideTenTimesAtMost(t *testing.T) {
	in := newInstaller(t, widgetSource(t))
	locks, _ := install(t, in, widgets, nil)
	stray := filepath.Join(in.Target.PackagePath(acmeWidget, v1, linux), "stray")
	for range 10 {
		write(t, stray, "mine")
		install(t, in, widgets, locks)
	}
	write(t, stray, "mine")
	_, _, err := in.Install(t.Context(), widgets, locks, providercache.Normal)
	must.Contain(t, err.Error(), "remove "+filepath.Join(filepath.Dir(filepath.Dir(stray)), "moved-aside_"+filepath.Base(filepath.Dir(stray))))
	must.Equal(t, read(t, stray), "mine")
}

// Another build of the version, as a receipt records it, isn't the user's, whatever its files are called.
func TestInstall_MovesNoPackageOfItsOwnAside(t *testing.T) {
	source := widgetSource(t)
	installtest.NeedsReceipts(t)
	in := newInstaller(t, source)
	in.Fetcher.StateDir = t.TempDir()
	install(t, in, widgets, nil)

	source.AddZip(t, "acme/widget", "1.0.0", zipOf(t, map[string]string{"terraform-provider-widget_v1.0.0": "another build"}))
	in.Fetcher = installtest.Again(in.Fetcher)
	_, report := install(t, in, widgets, nil)
	must.Equal(t, report.Outcomes[0].State, event.Fetched)
	must.Equal(t, report.Outcomes[0].MovedAside, "")
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
