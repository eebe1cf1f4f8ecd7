package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// mirrorCases are runs of providers mirror, of which the last argument, the
// directory, isn't told: steps of one case have the same.
var mirrorCases = map[string][]lockStep{
	"several of each": {{
		config: lockConfig("a", "", "b", "~> 1.0", "c", ">= 1.0, < 2.0", "d", "1.0.0", "e", ""), args: fivePlatforms,
	}},
	"this platform":              {{config: lockConfig("a", "", "e", "1.0.0")}},
	"directories in the archive": {{config: lockConfig("e", ""), args: fivePlatforms}},
	"versions one by one":        {{config: lockConfig("a", "1.0.0")}, {config: lockConfig("a", "~> 1.0")}, {config: lockConfig("a", "", "b", "")}},
	"platforms one by one":       {{config: lockConfig("e", "")}, {args: "-platform=windows_amd64"}, {args: "-platform=darwin_arm64 -platform=linux_arm64"}},
	"locked":                     {{config: lockConfig("a", ">= 1"), lock: oneLocked("1.0.0")}},
	"locked, and ignored":        {{config: lockConfig("a", ">= 1"), lock: oneLocked("1.0.0"), args: "-lock-file=false"}},
	"built in":                   {{config: builtInConfig}},
	"one that is missing":        {{config: lockConfig("a", "", "nobody", "", "e", ""), fails: "Provider not available"}},
	"a platform that is missing": {{config: lockConfig("narrow", "", "a", ""), args: "-platform=linux_arm64 -platform=linux_amd64", fails: "Provider release not available"}},
	"no version":                 {{config: lockConfig("a", "9.0"), fails: "Provider not available"}},

	"locked otherwise": {{config: lockConfig("a", ">= 2"), lock: oneLocked("1.0.0"), fails: "Inconsistent dependency lock file"}},
	"locked in part":   {{config: lockConfig("a", "", "b", ""), lock: oneLocked("1.0.0"), fails: "provider registry.terraform.io/acme/b: required by this configuration but no version is selected"}},
	"no platform":      {{config: lockConfig("a", ""), args: "-platform=linux", fails: "The string \"linux\" given in the -platform option is not a valid target platform: must be two words separated by an underscore."}},
	"unknown option":   {{config: lockConfig("a", ""), args: "-bogus", fails: "flag provided but not defined: -bogus"}},
	"no boolean":       {{config: lockConfig("a", ""), args: "-lock-file=maybe", fails: "invalid boolean value \"maybe\" for -lock-file: parse error"}},
	"two directories":  {{config: lockConfig("a", ""), args: "another", fails: "No output directory specified"}},
}

func oneLocked(version string) string {
	return fmt.Sprintf("provider \"registry.terraform.io/acme/a\" {\n  version = %q\n}\n", version)
}

// TestMirrorSameAsTerraform runs providers mirror of both programs, step by step,
// and compares the trees file by file, and what is said on stdout line by line.
// What is there already is downloaded again by the real tool only.
func TestMirrorSameAsTerraform(t *testing.T) {
	peer := lookPeer(t)
	registry := newLockRegistry(t, nil)
	programs := [2]string{buildTfdeps(t), peer}
	for name, steps := range mirrorCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, err := registry.Env(t.TempDir(), "registry.terraform.io")
			if err != nil {
				t.Fatal(err)
			}
			env = append(env, "CHECKPOINT_DISABLE=1")
			dirs := [2]string{t.TempDir(), t.TempDir()}
			for i, step := range steps {
				ours, theirs := step.mirror(t, programs[0], dirs[0], env), step.mirror(t, programs[1], dirs[1], env)
				if i == 0 && !slices.Equal(ours, theirs) {
					t.Errorf("--- ours\n%s\n--- theirs\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
				}
				if ours, theirs := mirrorFiles(t, dirs[0]), mirrorFiles(t, dirs[1]); !slices.Equal(ours, theirs) {
					t.Errorf("step %d\n--- ours\n%s\n--- theirs\n%s", i+1, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
				}
			}
		})
	}
}

// mirror lays out files, runs a program, and returns the lines that it printed,
// sorted.
func (s lockStep) mirror(t *testing.T, program, dir string, env []string) []string {
	t.Helper()
	for name, content := range map[string]string{"main.tf": s.config, ".terraform.lock.hcl": s.lock} {
		if content != "" {
			writeFile(t, filepath.Join(dir, name), []byte(content))
		}
	}
	args := append([]string{"providers", "mirror", "-no-color"}, append(strings.Fields(s.args), "mirror")...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, peerEnv(t, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); (err != nil) != (s.fails != "") || !strings.Contains(oneLine(stderr.String()), s.fails) {
		t.Fatalf("%s %s: %v, want %q\n%s%s", filepath.Base(program), args, err, s.fails, &stdout, &stderr)
	}
	lines := strings.Split(stdout.String(), "\n")
	slices.Sort(lines)
	return lines
}

// mirrorFiles lists the files of a mirror with all that is in them.
func mirrorFiles(t *testing.T, dir string) (all []string) {
	t.Helper()
	root := filepath.Join(dir, "mirror")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(root, path)
		all = append(all, fmt.Sprintf("%s %s %q", info.Mode(), name, content))
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

// TestTerraformInstallsFromOurMirror has the real terraform install what tfdeps
// has put into a mirror for two directories at once, from the disk and by https.
func TestTerraformInstallsFromOurMirror(t *testing.T) {
	peer := lookPeer(t)
	ca, err := providertest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	registry := newLockRegistry(t, ca)
	env, err := registry.Env(t.TempDir(), "registry.terraform.io")
	if err != nil {
		t.Fatal(err)
	}
	work, mirror := t.TempDir(), filepath.Join(t.TempDir(), "mirror")
	configs := map[string]string{"one": lockConfig("a", "~> 1.0", "e", ""), "two": lockConfig("b", "1.0.0", "a", "")}
	for name, config := range configs {
		writeFile(t, filepath.Join(work, name, "main.tf"), []byte(config))
	}
	program, env := buildTfdeps(t), peerEnv(t, env...)
	plat := "-platform=" + getproviders.CurrentPlatform().String()
	runOK(t, work, env, program, "providers", "mirror", "-dir=*", plat, "-platform=windows_amd64", mirror)
	archives := registry.Requests("archive")
	runOK(t, work, env, program, "providers", "mirror", "-dir=one", "-dir=two", plat, "-platform=windows_amd64", mirror)
	if again := registry.Requests("archive"); archives != 8 || again != archives {
		t.Errorf("there were %d requests for archives, and then %d", archives, again)
	}
	server, err := providertest.NewServer(providertest.ServerOptions{CA: ca, Handler: http.FileServer(http.Dir(mirror))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	for _, method := range []string{
		fmt.Sprintf("filesystem_mirror { path = %q }", mirror),
		fmt.Sprintf("network_mirror { url = %q }", server.BaseURL()+"/"),
	} {
		for _, config := range configs {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "main.tf"), []byte(config))
			runOK(t, dir, trusting(t, ca, "provider_installation {\n  "+method+"\n}\n"), peer, "init", "-input=false")
		}
	}
}
