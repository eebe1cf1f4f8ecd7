package oracle

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// lockStep is a run of providers lock, after files were written.
type lockStep struct {
	needs  string // "a; b ~> 1.0" makes a configuration that requires these; "" means config
	config string // "" means unchanged
	lock   string // likewise; "-" removes it
	args   string
	fails  string // "" if it succeeds; else a text in the errors of both
	early  bool   // tfdeps fails before the first archive is requested (difference 4)
}

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
		needs: "a; b ~> 1.0; c >= 1.0, < 2.0; d 1.0.0; e != 2.0.0", args: harness.FivePlatforms,
	}, {args: harness.FivePlatforms}},
	"this platform":               {{needs: "a; b"}, {}},
	"another platform":            {{needs: "a"}, {args: "-platform=windows_amd64"}, {args: "-platform=darwin_arm64"}},
	"a platform twice":            {{needs: "a", args: "-platform=darwin_arm64 -platform=linux_arm64 -platform=darwin_arm64"}},
	"directories in the archive":  {{needs: "e", args: harness.FivePlatforms}, {args: "-platform=linux_amd64"}},
	"entries by hand":             {{needs: "a >= 0.9", lock: someLocks}, {args: "-platform=linux_arm64"}},
	"an entry without hashes":     {{needs: "a", lock: "provider \"registry.terraform.io/acme/a\" {\n  version = \"1.0.0\"\n}\n"}},
	"an older version is kept":    {{needs: "a < 2"}, {needs: "a"}},
	"constraints are refreshed":   {{needs: "a < 2"}, {needs: "a >= 1.1", args: "-platform=linux_arm64"}},
	"constraints alone":           {{needs: "a < 2"}, {needs: "a >= 1.1"}},
	"one of two":                  {{needs: "a; b", args: "acme/a"}, {args: "registry.terraform.io/acme/b"}},
	"what is locked and not used": {{needs: "a; b"}, {needs: "a", args: "-platform=linux_arm64"}},
	"built in":                    {{config: builtInConfig}, {args: "acme/a"}},
	"nothing is required":         {{config: "locals {}\n"}},
	"no configuration":            {{}},
	"plugin cache":                {{needs: "a", args: "-enable-plugin-cache"}},
	"filesystem mirror":           {{needs: "a; e", args: "-fs-mirror=$MIRROR -platform=linux_amd64 -platform=darwin_arm64"}},
	"unpacked mirror":             {{needs: "b", args: "-fs-mirror=$MIRROR -platform=linux_amd64"}},

	"network mirror":                {{needs: "a; e ~> 1.0", args: "-net-mirror=$HASHES " + harness.FivePlatforms}, {args: "-platform=linux_amd64"}},
	"network mirror without hashes": {{needs: "a", args: "-net-mirror=$NO_HASHES -platform=linux_amd64 -platform=darwin_arm64"}},

	"the locked version isn't allowed": {{needs: "a < 2"}, {needs: "a >= 2", fails: "does not match configured version constraint"}},
	"a platform that is missing":       {{needs: "a; narrow", args: "-platform=linux_amd64 -platform=linux_arm64", fails: "Could not retrieve providers for locking"}},
	"a provider that isn't there":      {{needs: "a; nobody", fails: "Could not retrieve providers for locking"}},
	"no version":                       {{needs: "a 9.0", fails: "no available releases match the given constraints 9.0.0"}},
	"no platform":                      {{needs: "a", args: "-platform=linux", fails: "The string \"linux\" given in the -platform option is not a valid target platform: must be two words separated by an underscore."}},
	"too much of a platform":           {{needs: "a", args: "-platform=linux_amd64_musl", fails: "Invalid target platform"}},
	"not required":                     {{needs: "a", args: "acme/b", fails: "The provider registry.terraform.io/acme/b is not required by the current configuration."}},
	"no address":                       {{needs: "a", args: "a/b/c/d", fails: "Invalid provider source string"}},
	"unknown option":                   {{needs: "a", args: "-bogus", fails: "flag provided but not defined: -bogus"}},
	"two mirrors":                      {{needs: "a", args: "-fs-mirror=x -net-mirror=https://x/", fails: "mutually-exclusive"}},
	"mirror without a URL":             {{needs: "a", args: "-net-mirror=x", fails: "Invalid network mirror URL"}},
	"no such mirror":                   {{needs: "a", args: "-fs-mirror=nowhere", fails: "cannot search nowhere"}},
	"broken lock file":                 {{needs: "a", lock: "provider {}\n", fails: "Error: "}},
	"broken configuration":             {{config: "terraform {\n", fails: "Unclosed configuration block"}},
}

// TestLock_SameAsTerraform runs providers lock of both programs, step by step, and
// compares lock files byte for byte, and the lines of stdout in
// any order, because Terraform's is random.
func TestLock_SameAsTerraform(t *testing.T) {
	t.Parallel()
	programs := [2]string{harness.Tfdeps(t), harness.LookTerraform(t)}
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	expand := strings.NewReplacer("$MIRROR", lockMirror(t), "$HASHES", lockNetworkMirror(t, ca, false), "$NO_HASHES", lockNetworkMirror(t, ca, true))
	eachCase(t, lockCases, nil, 0, func(t *testing.T, steps []lockStep, _ harness.Exemption) {
		o := newLockRun(t, programs, registry)
		for i, step := range steps {
			said := o.bothSay(step, append([]string{"lock"}, strings.Fields(expand.Replace(step.args))...))
			if step.fails == "" {
				o.same(fmt.Sprintf("step %d", i+1), joined(slices.Compact(said[0])), joined(slices.Compact(said[1])), false)
			}
			o.sameLock(fmt.Sprintf("step %d", i+1))
		}
	})
}

// newLockRun returns a run with a registry of packages.
func newLockRun(t *testing.T, programs [2]string, registry *providertest.Registry) *run {
	t.Helper()
	o := &run{t: t, pair: &pair{programs: programs}, env: harness.Redirect(t, registry, "registry.terraform.io")}
	o.makeDirs()
	return o
}

func joined(lines []string) string { return strings.Join(lines, "\n") }

// bothSay writes files, runs a command of providers with both programs without their
// caches, and returns the lines that they print, sorted.
func (o *run) bothSay(step lockStep, args []string) (said [2][]string) {
	o.t.Helper()
	if step.needs != "" {
		var pairs []string
		for need := range strings.SplitSeq(step.needs, "; ") {
			name, constraint, _ := strings.Cut(need, " ")
			pairs = append(pairs, name, constraint)
		}
		step.config = harness.LockConfig(pairs...)
	}
	for i, dir := range o.dirs {
		for name, content := range map[string]string{"main.tf": step.config, ".terraform.lock.hcl": step.lock} {
			if content != "" {
				must.Write(o.t, filepath.Join(dir, name), content)
			}
		}
		end := harness.Exec(o.t, dir, harness.PinnedEnv(o.t, o.env...), append([]string{o.programs[i], "providers", args[0], "-no-color"}, args[1:]...)...)
		if (end.Code != 0) != (step.fails != "") || !strings.Contains(harness.OneLine(end.Err), step.fails) {
			o.t.Fatalf("%s %s: want %q: %s", filepath.Base(o.programs[i]), args, step.fails, end)
		}
		said[i] = strings.Split(end.Out, "\n")
		slices.Sort(said[i])
	}
	return said
}

// lockMirror makes a filesystem mirror: a and e are packed, b is unpacked.
func lockMirror(t *testing.T) string {
	t.Helper()
	mirror := t.TempDir()
	for _, name := range []string{"a", "e"} {
		for _, text := range harness.LockPlatforms {
			spec := harness.LockPackage(t, name, "1.1.0", text)
			path := filepath.Join(mirror, "registry.terraform.io/acme", name, fmt.Sprintf("terraform-provider-%s_1.1.0_%s.zip", name, text))
			must.Write(t, path, spec.Archive)
		}
	}
	must.Write(t, filepath.Join(mirror, "registry.terraform.io/acme/b/1.0.0/linux_amd64/terraform-provider-b"), "b\n")
	return mirror
}

// lockNetworkMirror starts a network mirror with the packages of a and e.
func lockNetworkMirror(t *testing.T, ca *providertest.CA, noHashes bool) (url string) {
	t.Helper()
	mirror := harness.Start(t, providertest.NewMirror, providertest.MirrorOptions{CA: ca, NoHashes: noHashes})
	for _, name := range []string{"a", "e"} {
		for _, text := range harness.LockPlatforms {
			mirror.Add("registry.terraform.io", harness.LockPackage(t, name, "1.1.0", text))
		}
	}
	return mirror.URL()
}

// mirrorCases are runs of providers mirror without their last argument, the
// directory, which is the same for all steps of a case.
var mirrorCases = map[string][]lockStep{
	"several of each": {{
		needs: "a; b ~> 1.0; c >= 1.0, < 2.0; d 1.0.0; e", args: harness.FivePlatforms,
	}},
	"this platform":              {{needs: "a; e 1.0.0"}},
	"directories in the archive": {{needs: "e", args: harness.FivePlatforms}},
	"versions one by one":        {{needs: "a 1.0.0"}, {needs: "a ~> 1.0"}, {needs: "a; b"}},
	"platforms, one by one":      {{needs: "e"}, {args: "-platform=windows_amd64"}, {args: "-platform=darwin_arm64 -platform=linux_arm64"}},
	"locked":                     {{needs: "a >= 1", lock: oneLocked("1.0.0")}},
	"locked, and ignored":        {{needs: "a >= 1", lock: oneLocked("1.0.0"), args: "-lock-file=false"}},
	"built in":                   {{config: builtInConfig}},
	"one that is missing":        {{needs: "a; nobody; e", fails: "Provider not available", early: true}},
	"a platform that is missing": {{needs: "narrow; a", args: "-platform=linux_arm64 -platform=linux_amd64", fails: "Provider release not available", early: true}},
	"no version":                 {{needs: "a 9.0", fails: "Provider not available"}},

	"locked otherwise": {{needs: "a >= 2", lock: oneLocked("1.0.0"), fails: "Inconsistent dependency lock file"}},
	"locked in part":   {{needs: "a; b", lock: oneLocked("1.0.0"), fails: "provider registry.terraform.io/acme/b: required by this configuration but no version is selected"}},
	"no platform":      {{needs: "a", args: "-platform=linux", fails: "The string \"linux\" given in the -platform option is not a valid target platform: must be two words separated by an underscore."}},
	"unknown option":   {{needs: "a", args: "-bogus", fails: "flag provided but not defined: -bogus"}},
	"no boolean":       {{needs: "a", args: "-lock-file=maybe", fails: "invalid boolean value \"maybe\" for -lock-file: parse error"}},
	"two directories":  {{needs: "a", args: "another", fails: "No output directory specified"}},
}

func oneLocked(version string) string {
	return fmt.Sprintf("provider \"registry.terraform.io/acme/a\" {\n  version = %q\n}\n", version)
}

// TestMirror_SameAsTerraform runs providers mirror of both programs, step by step,
// and compares the trees file by file, and stdout line by line.
// Only Terraform downloads existing packages again, and mirrors what it can before it fails.
func TestMirror_SameAsTerraform(t *testing.T) {
	t.Parallel()
	programs := [2]string{harness.Tfdeps(t), harness.LookTerraform(t)}
	registry := harness.NewLockRegistry(t, nil)
	eachCase(t, mirrorCases, nil, 0, func(t *testing.T, steps []lockStep, _ harness.Exemption) {
		o := newLockRun(t, programs, registry)
		for i, step := range steps {
			said := o.bothSay(step, append(append([]string{"mirror"}, strings.Fields(step.args)...), "mirror"))
			if step.early {
				must.Len(t, mirrorFiles(t, o.dirs[0]), 0)
				continue
			}
			if i == 0 {
				o.same("what is said", joined(said[0]), joined(said[1]), false)
			}
			o.same(fmt.Sprintf("step %d", i+1), joined(withoutSignatures(t, mirrorFiles(t, o.dirs[0]))), joined(mirrorFiles(t, o.dirs[1])), false)
		}
	})
}

// mirrorFiles lists the files of a mirror with their content.
func mirrorFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	for name, file := range harness.Files(t, filepath.Join(dir, "mirror")) {
		all = append(all, fmt.Sprintf("%s %s %q", file.Mode, name, file.Content))
	}
	slices.Sort(all)
	return all
}

// signedNames matches files that only mirrors of tfdeps have: difference 42.
var signedNames = regexp.MustCompile(`^-rw-(?:r--r--|rw-rw-) registry\.terraform\.io/acme/([a-z]+)/terraform-provider-([a-z]+)_\d+\.\d+\.\d+_SHA256SUMS(|\.sig|\.keys\.json) "`)

// withoutSignatures leaves these files out of a list of a mirror's files, in
// which every version has to have all three or none.
func withoutSignatures(t *testing.T, files []string) []string {
	t.Helper()
	count := map[string]int{}
	others := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		name := signedNames.FindStringSubmatch(file)
		if name == nil || name[1] != name[2] {
			return false
		}
		count[name[3]]++
		return true
	})
	must.Equal(t, count[""], count[".sig"], count)
	must.Equal(t, count[""], count[".keys.json"], count)
	return others
}

// TestMirror_TerraformInstallsFromIt installs with the real terraform from a mirror that tfdeps
// has filled for two directories at once, from the disk and by https.
func TestMirror_TerraformInstallsFromIt(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	env := harness.Redirect(t, registry, "registry.terraform.io")
	work, mirror := t.TempDir(), filepath.Join(t.TempDir(), "mirror")
	configs := map[string]string{"one": harness.LockConfig("a", "~> 1.0", "e", ""), "two": harness.LockConfig("b", "1.0.0", "a", "")}
	for name, config := range configs {
		must.Write(t, filepath.Join(work, name, "main.tf"), config)
	}
	program, env := harness.Tfdeps(t), harness.PinnedEnv(t, env...)
	plat := "-platform=" + getproviders.CurrentPlatform().String()
	harness.Run(t, work, env, program, "providers", "mirror", "-dir=*", plat, "-platform=darwin_arm64", mirror)
	must.Equal(t, registry.Requests("archive"), 8)
	server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.FileServer(http.Dir(mirror))})
	for _, installation := range []string{
		fmt.Sprintf("provider_installation {\n  filesystem_mirror { path = %q }\n}\n", mirror),
		fmt.Sprintf("provider_installation {\n  network_mirror { url = %q }\n}\n", server.BaseURL()+"/"),
		"", // then it is in terraform.d/plugins
	} {
		for _, config := range configs {
			dir := harness.WorkDir(t, config)
			if installation == "" {
				harness.Run(t, dir, env, program, "providers", "mirror", plat, "terraform.d/plugins")
			}
			harness.Run(t, dir, harness.Trust(t, ca, installation), peer, "init", "-input=false")
		}
	}
	must.Contain(t, server.Log(), ".zip", "what terraform asks for")
	must.NotContain(t, server.Log(), "SHA256SUMS", "what terraform asks for")
	must.Contain(t, mirrorFiles(t, filepath.Dir(mirror)), "_SHA256SUMS.sig")
}
