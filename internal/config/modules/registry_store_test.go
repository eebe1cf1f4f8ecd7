package modules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/owner"
)

// remembering returns a Registries with a store, and one for later runs with the same store.
func remembering(t *testing.T, versions ...string) (first *Registries, later func() *Registries, requests func() int) {
	t.Helper()
	registry := newRegistry(t)
	addNet(registry, versions...)
	store := filepath.Join(t.TempDir(), "store")
	later = func() *Registries {
		registries := newRegistries(registry)
		registries.Store = store
		return registries
	}
	return later(), later, func() int { return registry.Requests("") }
}

func mustLocate(t *testing.T, r *Registries, version string) Remote {
	t.Helper()
	return must.Get(r.Locate(t.Context(), netModule, version, false))(t)
}

func TestRegistry_ARememberedVersionCostsNoRequest(t *testing.T) {
	t.Parallel()
	first, later, requests := remembering(t, "1.0.0", "1.1.0")
	asked := mustLocate(t, first, "1.0.0")
	before := requests()
	r := later()
	for _, constraint := range []string{"1.0.0", "= 1.0.0", "1.0"} {
		must.Equal(t, must.Get(r.Select(t.Context(), netModule, constraint))(t).Version, "1.0.0", constraint)
	}
	must.Equal(t, mustLocate(t, r, "1.0.0"), asked)
	must.Equal(t, requests()-before, 0)
	for constraint, want := range map[string]string{"~> 1.0": "1.1.0", "1.1.0": "1.1.0", "": "1.1.0"} {
		must.Equal(t, must.Get(r.Select(t.Context(), netModule, constraint))(t).Version, want)
	}
	must.Equal(t, requests()-before, 1)
}

func TestRegistry_LocateAgainAsksOnceAndRemembersTheAnswer(t *testing.T) {
	t.Parallel()
	first, later, requests := remembering(t, "1.0.0")
	mustLocate(t, first, "1.0.0")
	before := requests()
	must.Get(first.Locate(t.Context(), netModule, "1.0.0", true))(t)
	must.Equal(t, requests(), before, "what was told in this run is asked again")
	outdate(t, first, "git::https://old.example.com/net.git")
	r := later()
	must.Equal(t, mustLocate(t, r, "1.0.0").Package, "git::https://old.example.com/net.git")
	for range 2 {
		must.Equal(t, must.Get(r.Locate(t.Context(), netModule, "1.0.0", true))(t).Subdir, "in/sub")
	}
	must.Equal(t, mustLocate(t, later(), "1.0.0").Subdir, "in/sub")
	must.Equal(t, requests()-before, 1)
}

// outdate changes the store: netModule's version 1.0.0 is recorded at another location.
func outdate(t *testing.T, r *Registries, location string) {
	t.Helper()
	module := netModule
	module.Subdir = ""
	locationStore(r.Store).remember(release{module, "1.0.0"}, must.Get(parseLocation(location))(t))
}

func TestRegistry_OfflineKnowsWhatIsRemembered(t *testing.T) {
	t.Parallel()
	first, later, requests := remembering(t, "1.0.0", "1.1.0", "2.0.0", "3.0.0-beta1")
	for _, version := range []string{"1.0.0", "1.1.0", "3.0.0-beta1"} {
		mustLocate(t, first, version)
	}
	before := requests()
	r := later()
	r.Offline = true
	for constraint, want := range map[string]string{"": "1.1.0", "< 1.1": "1.0.0", "3.0.0-beta1": "3.0.0-beta1"} {
		choice, err := r.Select(t.Context(), netModule, constraint)
		if err != nil || choice.Version != want || choice.Unasked != (constraint != want) {
			t.Errorf("%q: got %+v, %v, want %s", constraint, choice, err, want)
			continue
		}
		mustLocate(t, r, choice.Version)
	}
	must.Fail(t, must.ErrorOf(r.Select(t.Context(), netModule, "2.0.0")), ErrOffline, "a version that isn't known")
	must.Fail(t, must.ErrorOf(r.Locate(t.Context(), netModule, "2.0.0", false)), ErrOffline, "a location that isn't known")
	other := netModule
	other.Name = "other"
	must.Fail(t, must.ErrorOf(r.Select(t.Context(), other, "")), ErrOffline, "a module that isn't known")
	r.Store = ""
	must.Fail(t, must.ErrorOf(r.Select(t.Context(), netModule, "1.0.0")), ErrOffline, "without a store")
	must.Equal(t, requests()-before, 0)
}

func TestRegistry_DamagedFilesOfTheStoreDoNotExist(t *testing.T) {
	t.Parallel()
	first, later, requests := remembering(t, "1.0.0")
	asked := mustLocate(t, first, "1.0.0")
	file := locationStore(first.Store).file(release{netModule, "1.0.0"})
	for _, content := range []string{
		"", "null", "[]", "{", `{"module":"example.com/acme/net/cloud","version":"1.0.0"}`,
		`{"module":"example.com/ACME/net/cloud","version":"1.0.0","location":"https://x.example/a"}`,
		`{"module":"example.com/acme/net/cloud","version":"1.0.1","location":"https://x.example/a"}`,
		`{"module":"example.com/acme/net/cloud","version":"1.0.0","location":"./local"}`,
		`{"module":"example.com/acme/net/cloud","version":"1.0.0","location":"a/b/c"}`,
	} {
		must.Write(t, file, content)
		before := requests()
		must.Equal(t, mustLocate(t, later(), "1.0.0"), asked, content)
		must.Equal(t, requests(), before+1, content)
	}
	must.Succeed(t, errors.Join(os.Remove(file), os.Mkdir(file, 0o700)))
	must.Equal(t, mustLocate(t, later(), "1.0.0"), asked)
}

func TestRegistry_TheStoreIsTheUsersAlone(t *testing.T) {
	t.Parallel()
	first, _, _ := remembering(t, "1.0.0")
	mustLocate(t, first, "1.0.0")
	files := 0
	must.Succeed(t, filepath.WalkDir(first.Store, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o700)
		if !entry.IsDir() {
			files, want = files+1, 0o600
		}
		if !owner.Exclusive(path) || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	}))
	must.Equal(t, files, 1)
}
