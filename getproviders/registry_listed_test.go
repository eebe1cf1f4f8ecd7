package getproviders_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

func TestRegistryListsHashes(t *testing.T) {
	h1, other := "h1:"+strings.Repeat("A", 43)+"=", "h1:"+strings.Repeat("B", 42)+"A="
	zh := "zh:" + strings.Repeat("0f", 32)
	of := func(hashes ...string) any {
		return map[string]any{"linux_amd64": map[string]any{"hashes": hashes, "package_size": 1}, "darwin_arm64": map[string]any{"hashes": []string{other}}}
	}
	for name, test := range map[string]struct {
		packages any
		want     string
	}{
		"both":               {of(h1, zh), h1 + " " + zh},
		"an h1":              {of(h1), h1 + " " + zh},
		"a zh":               {of(zh), ""},
		"nothing":            {of(), ""},
		"no such property":   {nil, ""},
		"another platform":   {map[string]any{"darwin_arm64": map[string]any{"hashes": []string{h1}}}, ""},
		"another archive":    {of(h1, "zh:"+strings.Repeat("1", 64)), ""},
		"no zh at all":       {of(h1, "zh:x"), ""},
		"two archives' h1":   {of(h1, other, zh), ""},
		"the same h1 twice":  {of(h1, h1), h1 + " " + zh},
		"a malformed h1":     {of("h1:x"), ""},
		"of another scheme":  {of("h9:x", h1), h1 + " " + zh},
		"without a scheme":   {of("", "x", h1), h1 + " " + zh},
		"something else":     {[]any{1, 2}, ""},
		"something inside":   {map[string]any{"linux_amd64": "x"}, ""},
		"null for a package": {map[string]any{"linux_amd64": nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fake := newFakeRegistry(t, map[string]answer{
				packagePath: {body: packageBody(t, map[string]any{"packages": test.packages, "shasums_url": "/sums", "shasums_signature_url": "/sig"})},
				"/sums":     {body: "sums"}, "/sig": {body: "signature"},
			})
			found, err := askForPackage(t, fake)
			if err != nil {
				t.Fatal(err)
			}
			judge, err := found.Trust.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Trim(fmt.Sprint(judge.(getproviders.HashLister).ListedHashes()), "[]"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
