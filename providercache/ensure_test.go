package providercache_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

func TestEnsure_ReturnsWhatCanBeRun(t *testing.T) {
	source := widgetSource(t)
	source.AddZip(t, "acme/widget", "1.1.0", zipOf(t, map[string]string{"LICENSE": "", "terraform-provider-widget_v1.1.0_x5": "run me"}))
	source.AddZip(t, "acme/widget", "2.0.0")
	result := getproviders.AuthenticationResult{TrustLevel: getproviders.LevelPartner, KeyID: "0123456789ABCDEF", Signed: []getproviders.Hash{"zh:aa"}}
	source.Trust("acme/widget", "1.1.0", &trust{Result: result})
	in := newInstaller(t, source)

	got := must.Get(in.Ensure(t.Context(), acmeWidget, constraints("~> 1.0")))(t)
	dir := in.Target.PackagePath(acmeWidget, version("1.1.0"), linux)
	if got.Version != version("1.1.0") || got.Path != dir || got.Executable != filepath.Join(dir, "terraform-provider-widget_v1.1.0_x5") {
		t.Errorf("got %+v", got)
	}
	must.Equal(t, read(t, got.Executable), "run me")
	if got.Authentication.KeyID != result.KeyID || len(got.Hashes) != 2 || !slices.Contains(got.Hashes, "zh:aa") {
		t.Errorf("got %+v", got)
	}
}

func TestEnsure_TrustsNothingThatItCannotVerify(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	planted := filepath.Join(in.Target.PackagePath(acmeWidget, v1, linux), "terraform-provider-widget")
	write(t, planted, "evil")
	must.Equal(t, read(t, must.Get(in.Ensure(t.Context(), acmeWidget, constraints("")))(t).Executable), "provider 1.0.0\n")
}

// TestEnsure_RecordsAPackageThatIsThereAlready has a package from a run without StateDir: the first run with one finds that it is
// equal, and the next one doesn't fetch it again.
func TestEnsure_RecordsAPackageThatIsThereAlready(t *testing.T) {
	source := widgetSource(t)
	source.From("acme/widget", "1.0.0", "https://registry.example.com/")
	in := newInstaller(t, source)
	state := t.TempDir()
	for i, run := range []struct {
		stateDir string
		want     event.State
	}{
		{stateDir: "", want: event.Fetched},
		{stateDir: "", want: event.Fetched},
		{stateDir: state, want: event.Fetched},
		{stateDir: state, want: event.Present},
	} {
		again := newInstaller(t, source)
		again.Fetcher.StateDir = run.stateDir
		again.Target = in.Target

		got := must.Get(again.Ensure(t.Context(), acmeWidget, constraints("")))(t)
		must.Equal(t, got.State, run.want, "run", i+1)
	}
}

func TestEnsure_Fails(t *testing.T) {
	source := parallelSource(t)
	source.AddZip(t, "acme/widget", "1.0.0-beta1")
	in := newInstaller(t, source)
	for address, step := range map[string]string{
		"acme/none": during.Query, "acme/widget": during.Select, "terraform.io/builtin/terraform": during.BuiltIn,
	} {
		_, err := in.Ensure(t.Context(), provider(address), constraints(""))
		if failure, ok := getproviders.Failure(err); !ok || failure.Step != step {
			t.Errorf("%s: got %v, want an error in step %s", address, err, step)
		}
	}
	nothingLeft(t, in)
}

func TestEnsureAll_HasAResultForEach(t *testing.T) {
	source := widgetSource(t)
	source.AddZip(t, "acme/gadget", "2.0.0")
	source.AddZip(t, "acme/hollow", "1.0.0", zipOf(t, map[string]string{"LICENSE": ""}))
	in := newInstaller(t, source)
	good := require("acme/widget", "", "acme/gadget", "~> 2.0")
	results, err := in.EnsureAll(t.Context(), good)
	succeed(t, err)
	for i, p := range good.Providers() {
		one := must.Get(in.Ensure(t.Context(), p, good.Constraints(p)))(t)
		if got := results[i]; got.Provider != p || got.Err != nil || !reflect.DeepEqual(got, one) || read(t, got.Executable) != "provider "+got.Version.String()+"\n" {
			t.Errorf("got %+v, want %+v", got, one)
		}
	}
	results, err = in.EnsureAll(t.Context(), require("acme/widget", "", "acme/hollow", "", "terraform.io/builtin/terraform", ""))
	failures := providerErrors(t, err)
	if len(failures) != 2 || failures[0].Step != during.BuiltIn || failures[1].Provider != provider("acme/hollow") {
		t.Errorf("got %v", err)
	}
	for _, got := range results {
		if good := got.Provider == acmeWidget; good != (got.Err == nil) || good != (got.Executable != "") {
			t.Errorf("got %+v", got)
		}
	}
	source.AddZip(t, "acme/late", "1.0.0")
	results, err = in.EnsureAll(t.Context(), require("acme/late", "", "acme/none", ""))
	if len(results) != 2 || !errors.Is(results[0].Err, providercache.ErrNotTried) || errors.Is(err, providercache.ErrNotTried) || !errors.Is(err, results[1].Err) {
		t.Errorf("one that doesn't exist: %v, %+v", err, results)
	}
	results, err = new(providercache.Installer).EnsureAll(t.Context(), good)
	if err == nil || len(results) != 2 || results[1].Err == nil {
		t.Errorf("without a Fetcher: %v, %+v", err, results)
	}
}
