package depsfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Decode reads the form that Encode writes without a parser, if it has nothing but ASCII.
// A comment that has something else makes it use the parser, which is the oracle.
func FuzzDecode_TheCanonicalFormIsReadAsTheParserReadsIt(f *testing.F) {
	f.Add(example)
	for _, entry := range strings.Split(example, "\n\n") {
		f.Add(entry + "\n")
	}
	f.Add(locked(`constraints = "~> 1.0, != 1.5.0"`, "hashes = [\n    \"zh:b\",\n    \"h1:a\",\n  ]"))
	f.Add(locked() + locked())
	f.Add(locked("version = \"1.0.0\"", "hashes = [\n]", "other = 1"))
	f.Add(block(`version = "1.0"`, `constraints = ">=1"`, "hashes = [\n\"$${x}\",\n\"%%{a}\",\n\"x:\\n\",\n]"))
	f.Add("provider \"a.com/b/c\" {\n  version = \"1.0.0\"\n}")
	f.Add("<<<<<<< HEAD\nprovider \"terraform.io/builtin/terraform\" {\n}\nprovider \"registry.terraform.io/-/a\" {\n}\n")
	f.Add("# " + strings.Repeat("-(", 2000) + "\n" + locked())
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 200_000 {
			return // the parser gets at most 250,000 tokens
		}
		got, diags := parse(src)
		if len(diags) > 0 {
			return
		}
		want, diags := parse(src + "\n# é")
		if len(diags) > 0 {
			t.Fatalf("the parser has %v", diags)
		}
		if fmt.Sprint(got.All()) != fmt.Sprint(want.All()) || !got.Equal(want) {
			t.Errorf("got %v, the parser has %v", got.All(), want.All())
		}
	})
}

func TestDecode_TheCanonicalFormTakesLittle(t *testing.T) {
	l := &Locks{}
	for i := range 10 {
		l.Set(lock(t, fmt.Sprintf("acme/p%d", i), "1.0.0", "~> 1.0", slices.Repeat([]getproviders.Hash{getproviders.ZH([32]byte{byte(i)})}, 15)...))
	}
	src := l.Encode(terraform)
	allocs := func(src []byte) float64 {
		return testing.AllocsPerRun(10, func() { decode(t, string(src)) })
	}
	canonical, parsed := allocs(src), allocs(append(slices.Clone(src), "# é\n"...))
	t.Logf("%.0f allocations, %.0f with the parser", canonical, parsed)
	if canonical > parsed/4 {
		t.Errorf("%.0f allocations, %.0f with the parser: want at most a quarter", canonical, parsed)
	}
}
