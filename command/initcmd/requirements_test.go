package initcmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
)

func TestSameTypes_WarnsInOpenTofusPlace(t *testing.T) {
	required := getproviders.Requirements{}
	for _, p := range []getproviders.Provider{
		{Hostname: "registry.opentofu.org", Namespace: "hashicorp", Type: "aws"},
		{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "aws"},
		{Hostname: "registry.opentofu.org", Namespace: "acme", Type: "aws"},
		{Hostname: "registry.opentofu.org", Namespace: "hashicorp", Type: "null"},
	} {
		required.Add(p, getproviders.Requirement{})
	}
	warnings := func(product getproviders.Product) problem.List {
		r := request{Session: sources.New(nil, product, false)}
		warnSameTypes(r, required)
		return r.Log.All
	}
	got := warnings(getproviders.OpenTofu("1.12.6"))
	if len(got) != 1 || got.HasErrors() || !strings.Contains(got[0].Detail, "hashicorp/aws, registry.terraform.io/hashicorp/aws.") {
		t.Errorf("got %v", got)
	}
	if got := warnings(getproviders.Terraform("1.15.9")); len(got) > 0 {
		t.Errorf("for Terraform: %v", got)
	}
}
