package depsfile_test

import (
	"bytes"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

func TestEncode_TheZeroProductIsTerraform(t *testing.T) {
	locks, diags := depsfile.Decode([]byte("provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n}\n"), "test", getproviders.Product{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := locks.Encode(getproviders.Terraform(""))
	if got := locks.Encode(getproviders.Product{}); !bytes.Equal(got, want) || !bytes.Contains(got, []byte(`"terraform init"`)) {
		t.Errorf("got\n%s", got)
	}
}
