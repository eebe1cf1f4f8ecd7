package depsfile

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

const terraformLocks = `
provider "registry.opentofu.org/hashicorp/b" {
  version = "1.0.0"
}

provider "registry.terraform.io/acme/c" {
  version = "1.0.0"
}

provider "registry.terraform.io/hashicorp/a" {
  version     = "1.1.0"
  constraints = "~> 1.0"
  hashes = [
    "zh:00",
  ]
}

provider "registry.terraform.io/hashicorp/b" {
  version = "2.0.0"
}
`

func TestInherit_OpenTofuInheritsLocks(t *testing.T) {
	product := getproviders.OpenTofu("1.12.6")
	locks, diags := Decode([]byte(terraformLocks), "", product)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	inherited := locks.Inherit(product)
	if len(inherited) != 1 || inherited[0].Provider.String() != "registry.terraform.io/hashicorp/a" {
		t.Errorf("inherited %v", inherited)
	}
	own, _ := product.ParseProvider("hashicorp/a")
	lock, ok := locks.Provider(own)
	if !ok || lock.Version.String() != "1.1.0" || lock.Constraints.String() != "~> 1.0" || len(lock.Hashes) > 0 {
		t.Errorf("the entry of its own is %+v", lock)
	}
	must.Len(t, locks.Inherit(product), 0)
	for _, kept := range []string{"acme/c", "hashicorp/a", "hashicorp/b"} {
		p, _ := getproviders.Terraform("").ParseProvider(kept)
		if _, ok := locks.Provider(p); !ok {
			t.Errorf("the entry of %s is gone", p)
		}
	}
}

func TestInherit_TerraformInheritsNothing(t *testing.T) {
	product := getproviders.Terraform("1.15.9")
	locks, _ := Decode([]byte(terraformLocks), "", product)
	must.Len(t, locks.Inherit(product), 0)
}
