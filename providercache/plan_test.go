package providercache_test

import (
	"encoding/json"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

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
}
