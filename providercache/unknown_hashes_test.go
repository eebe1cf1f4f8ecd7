package providercache_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// recording decodes a lock file for widget 1.0.0, as it may have been written by a newer program.
func recording(t *testing.T, hashes string) *depsfile.Locks {
	t.Helper()
	locks, diags := depsfile.Decode([]byte("provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = ["+hashes+"]\n}\n"), depsfile.FileName, product)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return locks
}

func TestLock_HashesOfUnknownKindsStayWithTheirVersion(t *testing.T) {
	source := widgetSource(t)
	zh := zhOf(t, source, "acme/widget", "1.0.0")
	in := newInstaller(t, source)
	locks, report := install(t, in, widgets, recording(t, `"h9:x", "`+string(zh)+`"`))
	lock, _ := locks.Provider(acmeWidget)
	must.EqualSlices(t, lock.Hashes, hashing.Sort([]getproviders.Hash{"h9:x", zh, report.Outcomes[0].H1}))
	if want := []getproviders.Provider{acmeWidget}; slices.Equal(report.Incomplete, want) {
		t.Errorf("incomplete, although the hash of an archive was recorded")
	}
	source.AddZip(t, "acme/widget", "1.1.0")
	moved, _, err := in.Install(t.Context(), widgets, locks, providercache.Upgrade)
	if lock, _ := moved.Provider(acmeWidget); err != nil || slices.Contains(lock.Hashes, "h9:x") {
		t.Errorf("another version has %q (%v)", lock.Hashes, err)
	}
}

// An entry that has hashes, none of which can be compared, says that somebody has chosen a package. It is not that there is
// nothing to compare with.
func TestLock_HashesOfUnknownKindsMatchNothing(t *testing.T) {
	source := widgetSource(t)
	unpacked := newSource(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "terraform-provider-widget"), "one")
	unpacked.Add("acme/widget", "1.0.0", getproviders.LocalDirectory(dir))
	required, locks := require("acme/widget", ""), recording(t, `"h9:x"`)

	for name, s := range map[string]*memorySource{"an archive": source, "a directory": unpacked} {
		in := newInstaller(t, s)
		err := attempt(t, in, required, locks)
		if mismatch := getproviders.FaultOf(err, getproviders.ErrLockMismatch); mismatch == nil || !strings.Contains(mismatch.Hint, "only hashes of kinds that this program doesn't know") {
			t.Errorf("%s: got %v", name, err)
		}
		nothingLeft(t, in)
	}

	in := newInstaller(t, source)
	in.Cache = &providercache.Store{Dir: filepath.Join(t.TempDir(), "cache")}
	install(t, in, required, nil)
	if err := attempt(t, in, required, locks); !errors.Is(err, getproviders.ErrLockMismatch) {
		t.Errorf("a package that is there: got %v", err)
	}
	succeed(t, os.RemoveAll(in.Target.Dir))
	if err := attempt(t, in, required, locks); !errors.Is(err, getproviders.ErrLockMismatch) {
		t.Errorf("a package of the cache: got %v", err)
	}
	wanted := providercache.PackageSpecs(locks)
	must.Fail(t, must.ErrorOf(in.Prefetch(t.Context(), wanted)), getproviders.ErrLockMismatch)
	if h1, ok, err := in.FindCached(t.Context(), wanted[0]); ok || err != nil {
		t.Errorf("found %v, %v", h1, err)
	}
}
