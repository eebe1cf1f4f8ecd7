package depsfile_test

import (
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestExtend_KeepsHashesOfUnknownSchemes(t *testing.T) {
	t.Parallel()
	p := must.Get(getproviders.Terraform("1.15.9").ParseProvider("acme/widget"))(t)
	one, two := getproviders.MustParseVersion("1.0.0"), getproviders.MustParseVersion("2.0.0")
	const file = "provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = [\"zh:b\", \"xx:1\", \"h1:a\"]\n}\n"
	for name, c := range map[string]struct {
		version getproviders.Version
		want    []getproviders.Hash
	}{
		"same version":  {one, []getproviders.Hash{"h1:a", "h1:c", "xx:1", "zh:b"}},
		"other version": {two, []getproviders.Hash{"h1:c"}},
	} {
		locks, diags := depsfile.Decode([]byte(file), "f", getproviders.Terraform("1.15.9"))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		locks.Extend(depsfile.Lock{Provider: p, Version: c.version, Hashes: []getproviders.Hash{"h1:c", "yy:2"}})
		if got, _ := locks.Provider(p); !slices.Equal(got.Hashes, c.want) || got.Version != c.version {
			t.Errorf("%s: %v %q, want %q", name, got.Version, got.Hashes, c.want)
		}
	}
	var none depsfile.Locks
	none.Extend(depsfile.Lock{Provider: p, Version: one, Hashes: []getproviders.Hash{"h1:c"}})
	if got, ok := none.Provider(p); !ok || len(got.Hashes) != 1 {
		t.Errorf("a new entry is %v", got)
	}
}
