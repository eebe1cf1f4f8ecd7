package load

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

func TestLoadModule_TheZeroProductIsTerraform(t *testing.T) {
	dir := writeFiles(t, texts{"main.tf": `resource "widget_thing" "x" {}`})
	module, diags := LoadModule(dir, getproviders.Product{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	required, diags := module.Requirements()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if got := required.Providers(); len(got) != 1 || got[0].String() != "registry.terraform.io/hashicorp/widget" {
		t.Errorf("got %v", got)
	}
}
