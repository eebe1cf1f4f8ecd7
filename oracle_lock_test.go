package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// lockPlatforms are those that there are packages for.
var lockPlatforms = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"}

// newLockRegistry has five providers for five platforms, each package another
// archive. That of e has directories in it.
func newLockRegistry(tb testing.TB, ca *providertest.CA) *providertest.Registry {
	tb.Helper()
	registry := started(tb, providertest.NewRegistry, providertest.Options{CA: ca})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		for _, v := range []string{"1.0.0", "1.1.0", "2.0.0"} {
			for _, text := range lockPlatforms {
				registry.Add(lockPackage(tb, name, v, text))
			}
		}
	}
	registry.Add(lockPackage(tb, "narrow", "1.0.0", "linux_amd64"))
	return registry
}

func lockPackage(tb testing.TB, name, version, platform string) providertest.PackageSpec {
	tb.Helper()
	plat, err := getproviders.ParsePlatform(platform)
	if err != nil {
		tb.Fatal(err)
	}
	entries := []zipEntry{{name: "terraform-provider-" + name, mode: 0o755, content: version + " for " + platform + "\n"}}
	if name == "e" {
		entries = append(entries, zipEntry{name: "docs/", mode: os.ModeDir | 0o755}, zipEntry{name: "docs/page", mode: 0o644, content: "words\n"})
	}
	return providertest.PackageSpec{Namespace: "acme", Type: name, Version: version, Platform: plat, Archive: zipOf(tb, entries)}
}

// lockConfig requires providers: pairs of a name and a constraint.
func lockConfig(pairs ...string) string {
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

// lockStep is a run of providers lock, after files were laid out.
type lockStep struct {
	config string // "": as it is
	lock   string // likewise; "-": removed
	args   string
	fails  string // "": it succeeds; else it says so, in the words of both
}

var fivePlatforms = "-platform=" + strings.Join(lockPlatforms, " -platform=")

const someLocks = `# by hand
provider "registry.terraform.io/acme/a" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "zh:00",
    "h1:other=",
    "xx:1",
    "h1:another=",
    "h1:other=",
  ]
}

provider "registry.terraform.io/acme/d" {
  version = "0.1.0"
  hashes = [
    "zh:of-what-is-not-required",
    "h1:x=",
    "xx:2",
  ]
}
`

const builtInConfig = `terraform {
  required_providers {
    terraform = {
      source = "terraform.io/builtin/terraform"
    }
    a = {
      source = "acme/a"
    }
  }
}
`

var lockCases = map[string][]lockStep{
	"five of each": {{
		config: lockConfig("a", "", "b", "~> 1.0", "c", ">= 1.0, < 2.0", "d", "1.0.0", "e", "!= 2.0.0"), args: fivePlatforms,
	}, {args: fivePlatforms}},
	"this platform":               {{config: lockConfig("a", "", "b", "")}, {}},
	"another platform":            {{config: lockConfig("a", "")}, {args: "-platform=windows_amd64"}, {args: "-platform=darwin_arm64"}},
	"a platform twice":            {{config: lockConfig("a", ""), args: "-platform=darwin_arm64 -platform=linux_arm64 -platform=darwin_arm64"}},
	"directories in the archive":  {{config: lockConfig("e", ""), args: fivePlatforms}, {args: "-platform=linux_amd64"}},
	"entries by hand":             {{config: lockConfig("a", ">= 0.9"), lock: someLocks}, {args: "-platform=linux_arm64"}},
	"an entry without hashes":     {{config: lockConfig("a", ""), lock: "provider \"registry.terraform.io/acme/a\" {\n  version = \"1.0.0\"\n}\n"}},
	"an older version is kept":    {{config: lockConfig("a", "< 2")}, {config: lockConfig("a", "")}},
	"constraints are refreshed":   {{config: lockConfig("a", "< 2")}, {config: lockConfig("a", ">= 1.1"), args: "-platform=linux_arm64"}},
	"constraints alone":           {{config: lockConfig("a", "< 2")}, {config: lockConfig("a", ">= 1.1")}},
	"one of two":                  {{config: lockConfig("a", "", "b", ""), args: "acme/a"}, {args: "registry.terraform.io/acme/b"}},
	"what is locked and not used": {{config: lockConfig("a", "", "b", "")}, {config: lockConfig("a", ""), args: "-platform=linux_arm64"}},
	"built in":                    {{config: builtInConfig}, {args: "acme/a"}},
	"nothing is required":         {{config: "locals {}\n"}},
	"no configuration":            {{}},
	"plugin cache":                {{config: lockConfig("a", ""), args: "-enable-plugin-cache"}},
	"filesystem mirror":           {{config: lockConfig("a", "", "e", ""), args: "-fs-mirror=$MIRROR -platform=linux_amd64 -platform=darwin_arm64"}},
	"unpacked mirror":             {{config: lockConfig("b", ""), args: "-fs-mirror=$MIRROR -platform=linux_amd64"}},

	"network mirror":                {{config: lockConfig("a", "", "e", "~> 1.0"), args: "-net-mirror=$HASHES " + fivePlatforms}, {args: "-platform=linux_amd64"}},
	"network mirror without hashes": {{config: lockConfig("a", ""), args: "-net-mirror=$NO_HASHES -platform=linux_amd64 -platform=darwin_arm64"}},

	"the locked version isn't allowed": {{config: lockConfig("a", "< 2")}, {config: lockConfig("a", ">= 2"), fails: "does not match configured version constraint"}},
	"a platform that is missing":       {{config: lockConfig("a", "", "narrow", ""), args: "-platform=linux_amd64 -platform=linux_arm64", fails: "Could not retrieve providers for locking"}},
	"a provider that isn't there":      {{config: lockConfig("a", "", "nobody", ""), fails: "Could not retrieve providers for locking"}},
	"no version":                       {{config: lockConfig("a", "9.0"), fails: "no available releases match the given constraints 9.0.0"}},
	"no platform":                      {{config: lockConfig("a", ""), args: "-platform=linux", fails: "The string \"linux\" given in the -platform option is not a valid target platform: must be two words separated by an underscore."}},
	"too much of a platform":           {{config: lockConfig("a", ""), args: "-platform=linux_amd64_musl", fails: "Invalid target platform"}},
	"not required":                     {{config: lockConfig("a", ""), args: "acme/b", fails: "The provider registry.terraform.io/acme/b is not required by the current configuration."}},
	"no address":                       {{config: lockConfig("a", ""), args: "a/b/c/d", fails: "Invalid provider source string"}},
	"unknown option":                   {{config: lockConfig("a", ""), args: "-bogus", fails: "flag provided but not defined: -bogus"}},
	"two mirrors":                      {{config: lockConfig("a", ""), args: "-fs-mirror=x -net-mirror=https://x/", fails: "mutually-exclusive"}},
	"mirror without a URL":             {{config: lockConfig("a", ""), args: "-net-mirror=x", fails: "Invalid network mirror URL"}},
	"no such mirror":                   {{config: lockConfig("a", ""), args: "-fs-mirror=nowhere", fails: "cannot search nowhere"}},
	"broken lock file":                 {{config: lockConfig("a", ""), lock: "provider {}\n", fails: "Error: "}},
	"broken configuration":             {{config: "terraform {\n", fails: "Unclosed configuration block"}},
}

// TestLockSameAsTerraform runs providers lock of both programs, step by step, and
// compares lock files byte for byte and what is said on stdout line by line, in
// any order, which is random in the real tool.
func TestLockSameAsTerraform(t *testing.T) {
	t.Parallel()
	peer := lookPeer(t)
	ca := newCA(t)
	registry := newLockRegistry(t, ca)
	programs := [2]string{buildTfdeps(t), peer}
	expand := strings.NewReplacer("$MIRROR", lockMirror(t), "$HASHES", lockNetworkMirror(t, ca, false), "$NO_HASHES", lockNetworkMirror(t, ca, true))
	for name, steps := range lockCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := redirected(t, registry, "registry.terraform.io")
			dirs := [2]string{t.TempDir(), t.TempDir()}
			for i, step := range steps {
				args := append([]string{"lock"}, strings.Fields(expand.Replace(step.args))...)
				ours, theirs := slices.Compact(step.run(t, programs[0], dirs[0], env, args)), slices.Compact(step.run(t, programs[1], dirs[1], env, args))
				if step.fails == "" && !slices.Equal(ours, theirs) {
					t.Errorf("step %d\n--- ours\n%s\n--- theirs\n%s", i+1, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
				}
				if ours, theirs := readLock(t, dirs[0]), readLock(t, dirs[1]); ours != theirs {
					t.Errorf("step %d, lock files differ\n--- ours\n%s\n--- theirs\n%s", i+1, ours, theirs)
				}
			}
		})
	}
}

// run lays out files, runs a command of providers with a program that remembers
// nothing, and returns the lines that it printed, sorted.
func (s lockStep) run(t *testing.T, program, dir string, env, args []string) []string {
	t.Helper()
	for name, content := range map[string]string{"main.tf": s.config, ".terraform.lock.hcl": s.lock} {
		if content != "" {
			writeFile(t, filepath.Join(dir, name), []byte(content))
		}
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"providers", args[0], "-no-color"}, args[1:]...)...)
	cmd.Dir, cmd.Env = dir, oracleEnv(t, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); (err != nil) != (s.fails != "") || !strings.Contains(oneLine(stderr.String()), s.fails) {
		t.Fatalf("%s %s: %v, want %q\n%s%s", filepath.Base(program), cmd.Args[1:], err, s.fails, &stdout, &stderr)
	}
	lines := strings.Split(stdout.String(), "\n")
	slices.Sort(lines)
	return lines
}

// lockMirror makes a filesystem mirror: a and e are packed, b is unpacked.
func lockMirror(t *testing.T) string {
	t.Helper()
	mirror := t.TempDir()
	for _, name := range []string{"a", "e"} {
		for _, text := range lockPlatforms {
			spec := lockPackage(t, name, "1.1.0", text)
			path := filepath.Join(mirror, "registry.terraform.io", "acme", name, fmt.Sprintf("terraform-provider-%s_1.1.0_%s.zip", name, text))
			writeFile(t, path, spec.Archive)
		}
	}
	writeFile(t, filepath.Join(mirror, "registry.terraform.io", "acme", "b", "1.0.0", "linux_amd64", "terraform-provider-b"), []byte("b\n"))
	return mirror
}

// lockNetworkMirror starts a network mirror with the packages of a and e.
func lockNetworkMirror(t *testing.T, ca *providertest.CA, noHashes bool) (url string) {
	t.Helper()
	mirror := started(t, providertest.NewMirror, providertest.MirrorOptions{CA: ca, NoHashes: noHashes})
	for _, name := range []string{"a", "e"} {
		for _, text := range lockPlatforms {
			mirror.Add("registry.terraform.io", lockPackage(t, name, "1.1.0", text))
		}
	}
	return mirror.URL()
}

func writeFile(tb testing.TB, path string, content []byte) {
	tb.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
