package initcmd

import (
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
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
	for product, want := range map[getproviders.Product]string{
		getproviders.OpenTofu("1.12.6"): "hashicorp/aws, registry.terraform.io/hashicorp/aws.", getproviders.Terraform("1.15.9"): "",
	} {
		r := request{Session: sources.New(new(cli.Meta), product, false)}
		warnSameTypes(r, required)
		text := ""
		for _, p := range r.Log.All {
			text += p.Detail
		}
		must.Contain(t, text, want)
		must.Equal(t, len(r.Log.All) == 0, want == "", text)
	}
}
