package providercache_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

func TestEnsure_ReturnsWhatCanBeRun(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	source.addZip(t, "acme/widget", "1.1.0", zipOf(t, map[string]string{"LICENSE": "", "terraform-provider-widget_v1.1.0_x5": "run me"}))
	source.addZip(t, "acme/widget", "2.0.0")
	result := getproviders.AuthenticationResult{TrustLevel: getproviders.LevelPartner, KeyID: "0123456789ABCDEF", Signed: []getproviders.Hash{"zh:aa"}}
	source.trust("acme/widget", "1.1.0", &trust{result: result})
	in := newInstaller(t, source)

	got, err := in.Ensure(t.Context(), provider("acme/widget"), constraints("~> 1.0"))
	must(t, err)
	dir := in.Target.PackagePath(provider("acme/widget"), version("1.1.0"), linux)
	if got.Version != version("1.1.0") || got.Dir != dir || got.Executable != filepath.Join(dir, "terraform-provider-widget_v1.1.0_x5") {
		t.Errorf("got %+v", got)
	}
	if content := read(t, got.Executable); content != "run me" {
		t.Errorf("the executable is %q", content)
	}
	if got.Authentication.KeyID != result.KeyID || len(got.Hashes) != 2 || !slices.Contains(got.Hashes, "zh:aa") {
		t.Errorf("got %+v", got)
	}
}

func TestEnsure_TrustsNothingThatItCannotVerify(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	in := newInstaller(t, source)
	planted := filepath.Join(in.Target.PackagePath(provider("acme/widget"), version("1.0.0"), linux), "terraform-provider-widget")
	write(t, planted, "evil")
	got, err := in.Ensure(t.Context(), provider("acme/widget"), constraints(""))
	must(t, err)
	if content := read(t, got.Executable); content != "provider 1.0.0\n" {
		t.Errorf("the executable is %q", content)
	}
}

func TestEnsure_Fails(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0-beta1")
	in := newInstaller(t, source)
	for address, step := range map[string]resolve.Step{
		"acme/none": resolve.StepQuery, "acme/widget": resolve.StepSelect, "terraform.io/builtin/terraform": resolve.StepBuiltIn,
	} {
		_, err := in.Ensure(t.Context(), provider(address), constraints(""))
		if failure, ok := errors.AsType[*resolve.ProviderError](err); !ok || failure.Step != step {
			t.Errorf("%s: got %v, want an error in step %s", address, err, step)
		}
	}
	nothingLeft(t, in)
}
