package load

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRequirements_HaveTheirPosition(t *testing.T) {
	module := load(t, texts{
		"main.tf": `
terraform {
  required_providers {
    a = { source = "acme/a", version = ">= 1" }
    same = {
      source = "acme/a"
    }
  }
}
provider "a" {
  version = "< 3"
}
resource "a_x" "y" {}
resource "b_x" "y" {}
resource "b_x" "z" {}
`,
		"z.tf": `
provider "b" {}
provider "c" {}
import {
  to = d_x.y
  id = "z"
}
`,
		"z_override.tf": `
resource "b_x" "z" {
  provider = e
}
`,
	})
	reqs, diags := module.Requirements()
	must.Len(t, diags, 0)
	var got []string
	for _, p := range reqs.Providers() {
		for _, req := range reqs[p] {
			got = append(got, fmt.Sprintf("%s/%s %q %s:%d,%d", p.Namespace, p.Type, req.Constraints, filepath.Base(req.Pos.File), req.Pos.Line, req.Pos.Column))
		}
	}
	want := []string{
		`acme/a ">= 1.0.0" main.tf:4,5`,
		`acme/a "" main.tf:5,5`,
		`acme/a "< 3.0.0" main.tf:10,1`,
		`hashicorp/b "" z.tf:2,1`,
		`hashicorp/c "" z.tf:3,1`,
		`hashicorp/d "" z.tf:4,1`,
		`hashicorp/e "" z_override.tf:2,1`,
	}
	must.EqualSlices(t, got, want)
}

func TestRequirements_AreUsableInSpiteOfErrors(t *testing.T) {
	module, diags := LoadModule(writeFiles(t, texts{
		"main.tf": `
terraform {
  required_providers {
    good   = { source = "acme/good" }
    bad    = { source = "acme//bad" }
    strict = "v1.0.0"
  }
}
resource "other_x" "y" {}
x = 1
`,
	}), asTerraform)
	if !diags.HasErrors() {
		t.Error("no errors")
	}
	reqs, diags := module.Requirements()
	if len(diags) != 1 || diags[0].Summary != "Invalid version constraint" {
		t.Errorf("got %v", diags)
	}
	for _, given := range []string{"acme/good", "hashicorp/other"} {
		p, err := asTerraform.ParseProvider(given)
		if _, ok := reqs[p]; !ok || err != nil {
			t.Errorf("%s is not in %v", given, reqs)
		}
	}
	must.Len(t, reqs, 2)
}

// The zero product is Terraform.
func TestRequirements_WithoutHostAreOfTheProductsHost(t *testing.T) {
	dir := writeFiles(t, texts{"main.tf": "provider \"a\" {}\nterraform {\nrequired_providers {\nb = {\nsource = \"acme/b\"\n}\n}\n}\n"})
	for host, product := range map[string]getproviders.Product{"registry.terraform.io": {}, "registry.example.com": {DefaultHost: "registry.example.com"}} {
		module, diags := LoadModule(dir, product)
		must.Len(t, diags, 0)
		reqs, _ := module.Requirements()
		must.Equal(t, fmt.Sprint(reqs.Providers()), fmt.Sprintf("[%s/acme/b %[1]s/hashicorp/a]", host))
	}
}
