package getproviders_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// listing asks the fake registry, whose description of the package for linux_amd64 lists hashes of
// all packages, and whose checksum list is sums.
func listing(t *testing.T, packages any, sums string) getproviders.Trust {
	t.Helper()
	fake := newFakeRegistry(t, pages{
		packagePath: {body: packageBody(t, map[string]any{"packages": packages, "shasums_url": "/sums", "shasums_signature_url": "/sig"})},
		"/sums":     {body: sums}, "/sig": {body: "signature"},
	})
	found := must.Get(askForPackage(t, fake))(t)
	return must.Get(found.Trust.Loaded(t.Context()))(t)
}

func TestTrust_RegistryHashes(t *testing.T) {
	t.Parallel()
	h1, other := "h1:"+strings.Repeat("A", 43)+"=", "h1:"+strings.Repeat("B", 42)+"A="
	zh, wrong := "zh:"+strings.Repeat("0f", 32), "zh:"+strings.Repeat("1", 64)
	of := func(hashes ...any) any {
		return map[string]any{"linux_amd64": map[string]any{"hashes": hashes, "package_size": 1}}
	}
	for name, test := range map[string]struct {
		packages any
		trusted  bool
	}{
		"both":                     {of(h1, zh), true},
		"the same h1 twice":        {of(h1, h1, zh, zh), true},
		"one of another scheme":    {of("h9:x", h1, zh), true},
		"some without a scheme":    {of("", "x", h1, zh), true},
		"a zh in upper case":       {of(h1, "zh:"+strings.ToUpper(zh[3:])), true},
		"an h1 alone":              {of(h1), false},
		"a zh alone":               {of(zh), false},
		"nothing":                  {of(), false},
		"null":                     {of(nil), false},
		"no such property":         {nil, false},
		"another archive":          {of(h1, wrong), false},
		"this one and another":     {of(h1, zh, wrong), false},
		"no zh at all":             {of(h1, zh, "zh:x"), false},
		"two archives' h1":         {of(h1, other, zh), false},
		"a malformed h1":           {of("h1:x", zh), false},
		"a line more in an h1":     {of(h1[:20]+"\n"+h1[20:], zh), false},
		"an h1 with bits to spare": {of(h1[:45]+"B=", zh), false},
		"something else":           {[]any{1, 2}, false},
		"something inside":         {map[string]any{"linux_amd64": "x"}, false},
		"null for a package":       {map[string]any{"linux_amd64": nil}, false},
		"a platform of no name":    {map[string]any{"linux_amd64_": map[string]any{"hashes": []any{h1, zh}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trust := listing(t, test.packages, zh[3:]+"  "+zipName+"\n")
			want, listed := map[getproviders.Platform]getproviders.Hash{}, []getproviders.Hash(nil)
			if test.trusted {
				want[linux] = getproviders.Hash(h1)
				listed = []getproviders.Hash{getproviders.Hash(h1), getproviders.Hash(zh)}
			}
			if got := trust.RegistryHashes; !maps.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			must.EqualSlices(t, trust.ListedHashes, listed)
		})
	}
}

// TestTrust_RegistryHashesOfOtherPlatforms: each hash has to stand beside the checksum that the
// list has for the same platform.
func TestTrust_RegistryHashesOfOtherPlatforms(t *testing.T) {
	t.Parallel()
	h1 := "h1:" + strings.Repeat("A", 43) + "="
	sum := func(i int) string { return fmt.Sprintf("%064x", i) }
	packages := map[string]any{}
	for i, plat := range []string{"linux_amd64", "plan9_386", "darwin_arm64", "zos_s390x", "illumos_amd64"} {
		packages[plat] = map[string]any{"hashes": []any{h1, "zh:" + sum(i)}}
	}
	name := func(plat string) string { return strings.Replace(zipName, "linux_amd64", plat, 1) }
	for what, test := range map[string]struct {
		sums string
		want string
	}{
		"all that it lists":             {sum(1) + "  " + name("plan9_386") + "\n" + sum(2) + "  " + name("darwin_arm64") + "\n", "darwin_arm64 plan9_386"},
		"not by another's checksum":     {sum(1) + "  " + name("darwin_arm64") + "\n" + sum(2) + "  " + name("plan9_386") + "\n", ""},
		"not by another file's":         {sum(1) + "  other_plan9_386.zip\n" + sum(2) + "  " + name("darwin_arm64") + ".sig\n", ""},
		"the first line counts":         {sum(1) + "  " + name("plan9_386") + "\n" + sum(2) + "  " + name("plan9_386") + "\n", "plan9_386"},
		"even if it is no checksum":     {"x  " + name("plan9_386") + "\n" + sum(1) + "  " + name("plan9_386") + "\n", ""},
		"other lines are no obstacle":   {"x\n" + sum(1) + "  " + name("plan9_386") + "\n" + sum(9) + "  manifest.json\n", "plan9_386"},
		"a list in which there is none": {"", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var got []string
			for plat := range listing(t, packages, test.sums).RegistryHashes {
				got = append(got, plat.String())
			}
			if slices.Sort(got); strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	odd := listing(t, packages, sum(1)+"  "+name("plan9_386")+"\n").Authenticator.(getproviders.SignedChecksums)
	if odd.FileName = "widget.zip"; len(getproviders.TrustedBy(odd).RegistryHashes) != 0 {
		t.Error("a name without a platform says which names others have")
	}
}
