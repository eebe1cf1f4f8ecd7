package harness

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// LockPlatforms are the platforms of the packages.
var LockPlatforms = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"}

// NewLockRegistry starts a registry of five providers for five platforms, each package with its own
// archive. Those of e have directories.
func NewLockRegistry(tb testing.TB, ca *providertest.CA) *providertest.Registry {
	tb.Helper()
	registry := Start(tb, providertest.NewRegistry, providertest.Options{CA: ca})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		for _, v := range []string{"1.0.0", "1.1.0", "2.0.0"} {
			for _, text := range LockPlatforms {
				registry.Add(LockPackage(tb, name, v, text))
			}
		}
	}
	registry.Add(LockPackage(tb, "narrow", "1.0.0", "linux_amd64"))
	return registry
}

func LockPackage(tb testing.TB, name, version, platform string) providertest.PackageSpec {
	tb.Helper()
	plat, err := getproviders.ParsePlatform(platform)
	if err != nil {
		tb.Fatal(err)
	}
	entries := []ZipEntry{{Name: "terraform-provider-" + name, Mode: 0o755, Content: version + " for " + platform + "\n"}}
	if name == "e" {
		entries = append(entries, ZipEntry{Name: "docs/", Mode: os.ModeDir | 0o755}, ZipEntry{Name: "docs/page", Mode: 0o644, Content: "words\n"})
	}
	return providertest.PackageSpec{Namespace: "acme", Type: name, Version: version, Platform: plat, Archive: ZipOf(tb, entries)}
}

// LockConfig returns a configuration that requires providers: pairs of a name and a constraint.
func LockConfig(pairs ...string) string {
	var b strings.Builder
	b.WriteString("terraform {\n  required_providers {\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "    %s = {\n      source = \"acme/%[1]s\"\n", pairs[i])
		if pairs[i+1] != "" {
			fmt.Fprintf(&b, "      version = %q\n", pairs[i+1])
		}
		b.WriteString("    }\n")
	}
	return b.String() + "  }\n}\n"
}

var FivePlatforms = "-platform=" + strings.Join(LockPlatforms, " -platform=")
