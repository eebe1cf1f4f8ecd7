package getproviders

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// listing queries the fake registry, whose document of the package for linux_amd64 lists the hashes
// of all packages, and whose checksum list is sums.
func listing(t *testing.T, packages any, sums string) Trust {
	t.Helper()
	fake := newFakeRegistry(t, pages{
		packagePath: packageBody(t, map[string]any{"packages": packages, "shasums_url": "/sums", "shasums_signature_url": "/sig"}),
		"/sums":     sums, "/sig": "signature",
	})
	found := must.Get(askForPackage(t, fake))(t)
	return must.Get(found.Trust.Loaded(t.Context()))(t)
}

func TestTrust_RegistryHashes(t *testing.T) {
	h1, other := "h1:"+strings.Repeat("A", 43)+"=", "h1:"+strings.Repeat("B", 42)+"A="
	zh, wrong := "zh:"+strings.Repeat("0f", 32), "zh:"+strings.Repeat("1", 64)
	of := func(hashes ...any) any {
		return map[string]any{"linux_amd64": map[string]any{"hashes": hashes, "package_size": 1}}
	}
	for trusted, lists := range map[bool]map[string]any{
		true: {
			"both":                  of(h1, zh),
			"the same h1 twice":     of(h1, h1, zh, zh),
			"one of another scheme": of("h9:x", h1, zh),
			"some without a scheme": of("", "x", h1, zh),
			"a zh in upper case":    of(h1, "zh:"+strings.ToUpper(zh[3:])),
		},
		false: {
			"an h1 alone":              of(h1),
			"a zh alone":               of(zh),
			"nothing":                  of(),
			"null":                     of(nil),
			"no such property":         nil,
			"another archive":          of(h1, wrong),
			"this one and another":     of(h1, zh, wrong),
			"no zh at all":             of(h1, zh, "zh:x"),
			"two archives' h1":         of(h1, other, zh),
			"a malformed h1":           of("h1:x", zh),
			"a line more in an h1":     of(h1[:20]+"\n"+h1[20:], zh),
			"an h1 with bits to spare": of(h1[:45]+"B=", zh),
			"something else":           []any{1, 2},
			"something inside":         map[string]any{"linux_amd64": "x"},
			"null for a package":       map[string]any{"linux_amd64": nil},
			"a platform of no name":    map[string]any{"linux_amd64_": map[string]any{"hashes": []any{h1, zh}}},
		},
	} {
		want, listed := map[Platform]Hash{}, []Hash(nil)
		if trusted {
			want[linux] = Hash(h1)
			listed = []Hash{Hash(h1), Hash(zh)}
		}
		for name, packages := range lists {
			trust := listing(t, packages, zh[3:]+"  "+zipName+"\n")
			if got := trust.RegistryHashes; !maps.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
			must.EqualSlices(t, trust.ListedHashes, listed, name)
		}
	}
}

// TestTrust_RegistryHashesOfOtherPlatforms: each hash must be listed together with the checksum
// that the list has for the same platform.
func TestTrust_RegistryHashesOfOtherPlatforms(t *testing.T) {
	h1 := "h1:" + strings.Repeat("A", 43) + "="
	sum := func(i int) string { return fmt.Sprintf("%064x", i) }
	packages := map[string]any{}
	for i, plat := range []string{"linux_amd64", "plan9_386", "darwin_arm64", "zos_s390x", "illumos_amd64"} {
		packages[plat] = map[string]any{"hashes": []any{h1, "zh:" + sum(i)}}
	}
	line := func(i int, plat string) string {
		return sum(i) + "  " + strings.Replace(zipName, "linux_amd64", plat, 1) + "\n"
	}
	for what, test := range map[string]struct{ sums, want string }{
		"all that it lists":             {line(1, "plan9_386") + line(2, "darwin_arm64"), "darwin_arm64 plan9_386"},
		"not by another's checksum":     {line(1, "darwin_arm64") + line(2, "plan9_386"), ""},
		"not by another file's":         {sum(1) + "  other_plan9_386.zip\n" + sum(2) + "  " + strings.Replace(zipName, "linux_amd64", "darwin_arm64", 1) + ".sig\n", ""},
		"the first line counts":         {line(1, "plan9_386") + line(2, "plan9_386"), "plan9_386"},
		"even if it is no checksum":     {strings.Replace(line(1, "plan9_386"), sum(1), "x", 1) + line(1, "plan9_386"), ""},
		"other lines are no obstacle":   {"x\n" + line(1, "plan9_386") + sum(9) + "  manifest.json\n", "plan9_386"},
		"a list in which there is none": {"", ""},
	} {
		var got []string
		for plat := range listing(t, packages, test.sums).RegistryHashes {
			got = append(got, plat.String())
		}
		slices.Sort(got)
		must.Equal(t, strings.Join(got, " "), test.want, what)
	}
	odd := listing(t, packages, line(1, "plan9_386")).Authenticator.(SignedChecksums)
	if odd.FileName = "widget.zip"; len(TrustedBy(odd).RegistryHashes) != 0 {
		t.Error("a name without a platform says which names others have")
	}
}
