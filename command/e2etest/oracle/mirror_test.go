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

// mirrorCases are runs of providers mirror, of which the last argument, the
// directory, isn't told: steps of one case have the same.
var mirrorCases = map[string][]lockStep{
	"several of each": {{
		needs: "a; b ~> 1.0; c >= 1.0, < 2.0; d 1.0.0; e", args: harness.FivePlatforms,
	}},
	"this platform":              {{needs: "a; e 1.0.0"}},
	"directories in the archive": {{needs: "e", args: harness.FivePlatforms}},
	"versions one by one":        {{needs: "a 1.0.0"}, {needs: "a ~> 1.0"}, {needs: "a; b"}},
	"platforms one by one":       {{needs: "e"}, {args: "-platform=windows_amd64"}, {args: "-platform=darwin_arm64 -platform=linux_arm64"}},
	"locked":                     {{needs: "a >= 1", lock: oneLocked("1.0.0")}},
	"locked, and ignored":        {{needs: "a >= 1", lock: oneLocked("1.0.0"), args: "-lock-file=false"}},
	"built in":                   {{config: builtInConfig}},
	"one that is missing":        {{needs: "a; nobody; e", fails: "Provider not available"}},
	"a platform that is missing": {{needs: "narrow; a", args: "-platform=linux_arm64 -platform=linux_amd64", fails: "Provider release not available"}},
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
// and compares the trees file by file, and what is said on stdout line by line.
// What is there already is downloaded again by Terraform only.
func TestMirror_SameAsTerraform(t *testing.T) {
	t.Parallel()
	programs := [2]string{harness.Tfdeps(t), harness.LookTerraform(t)}
	registry := harness.NewLockRegistry(t, nil)
	eachCase(t, mirrorCases, nil, 0, func(t *testing.T, steps []lockStep, _ harness.Exemption) {
		o := newLockRun(t, programs, registry)
		for i, step := range steps {
			said := o.bothSay(step, append(append([]string{"mirror"}, strings.Fields(step.args)...), "mirror"))
			if i == 0 {
				o.same("what is said", joined(said[0]), joined(said[1]), false)
			}
			o.same(fmt.Sprintf("step %d", i+1), joined(withoutSignatures(t, mirrorFiles(t, o.dirs[0]))), joined(mirrorFiles(t, o.dirs[1])), false)
		}
	})
}

// mirrorFiles lists the files of a mirror with all that is in them.
func mirrorFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	for name, file := range harness.Files(t, filepath.Join(dir, "mirror")) {
		all = append(all, fmt.Sprintf("%s %s %q", file.Mode, name, file.Content))
	}
	slices.Sort(all)
	return all
}

// signedNames are files that only mirrors of tfdeps have: difference 42.
var signedNames = regexp.MustCompile(`^-rw-r--r-- registry\.terraform\.io/acme/([a-z]+)/terraform-provider-([a-z]+)_\d+\.\d+\.\d+_SHA256SUMS(|\.sig|\.keys\.json) "`)

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
	if count[""] != count[".sig"] || count[""] != count[".keys.json"] {
		t.Errorf("signatures are not whole: %v", count)
	}
	return others
}

// TestMirror_TerraformInstallsFromIt has the real terraform install what tfdeps
// has put into a mirror for two directories at once, from the disk and by https.
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
	harness.Run(t, work, env, program, "providers", "mirror", "-dir=*", plat, "-platform=windows_amd64", mirror)
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
	if asked := server.Requests(""); asked == 0 || slices.ContainsFunc(server.Log(), func(r providertest.Request) bool { return strings.Contains(r.Path, "SHA256SUMS") }) {
		t.Errorf("terraform made %d requests, for signatures too", asked)
	}
	if len(withoutSignatures(t, mirrorFiles(t, filepath.Dir(mirror)))) == len(mirrorFiles(t, filepath.Dir(mirror))) {
		t.Error("the mirror has no signatures")
	}
}
