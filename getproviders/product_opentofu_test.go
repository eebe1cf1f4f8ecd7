package getproviders

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestProduct_Addresses_InOpenTofu(t *testing.T) {
	product := OpenTofu("1.12.6")
	for given, want := range map[string]string{
		"aws":                              "registry.opentofu.org/hashicorp/aws",
		"acme/aaa":                         "registry.opentofu.org/acme/aaa",
		"registry.terraform.io/acme/aaa":   "registry.terraform.io/acme/aaa",
		"terraform.io/builtin/terraform":   "terraform.io/builtin/terraform",
		"registry.opentofu.org/acme/AAA":   "registry.opentofu.org/acme/aaa",
		"registry.opentofu.org/-/whatever": "registry.opentofu.org/-/whatever",
	} {
		must.Equal(t, must.Get(product.ParseProvider(given))(t).String(), want, given, want)
	}
	p, _ := product.ParseProvider("acme/aaa")
	must.Equal(t, product.Short(p), "acme/aaa")
}

func TestProduct_WhatOpenTofuInherits(t *testing.T) {
	product := OpenTofu("1.12.6")
	for given, want := range map[string]string{
		"registry.terraform.io/hashicorp/aws": "registry.opentofu.org/hashicorp/aws",
		"registry.terraform.io/acme/aaa":      "",
		"registry.opentofu.org/hashicorp/aws": "",
		"example.com/hashicorp/aws":           "",
	} {
		p := must.Get(product.ParseProvider(given))(t)
		own, ok := product.Inherits(p)
		if ok != (want != "") || ok && own.String() != want {
			t.Errorf("%s is inherited as %s, %t; want %q", p, own, ok, want)
		}
		if _, ok := terraform.Inherits(p); ok {
			t.Errorf("Terraform inherits %s", p)
		}
	}
}
