package oracle

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// tofuHost is the one registry whose listed hashes OpenTofu records.
const tofuHost = "registry.opentofu.org"

// TestLock_RegistryHashesSameAsTofu makes a lock file with both programs from a registry that lists
// the hashes of all platforms' packages, and completes one that lacks them. The addresses have a
// host, because the programs have different default hosts.
func TestLock_RegistryHashesSameAsTofu(t *testing.T) {
	t.Parallel()
	programs := tofuPrograms(t)
	ours, tofu := programs[0], programs[len(programs)-1]
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{ListHashes: true})
	for _, spec := range threePlatforms() {
		registry.Add(spec)
	}
	env := harness.Redirect(t, registry, tofuHost)
	fresh := func(program, lock string, more ...string) []string {
		dir := t.TempDir()
		if lock != "" {
			must.Write(t, filepath.Join(dir, ".terraform.lock.hcl"), lock)
		}
		end := initAsTofu(t, program, dir, slices.Concat(env, more))
		must.Equal(t, end.Code, 0, program, end)
		return lockedHashes(t, dir)
	}
	got := fresh(ours, "")
	must.EqualSlices(t, got, fresh(tofu, ""))
	must.Len(t, got, 6)
	read := fresh(ours, "", "TFDEPS_HASHES=read")
	must.Len(t, read, 4)
	for _, known := range [][]string{read, read[:1]} {
		lock := fmt.Sprintf("provider %q {\n  version = \"1.0.0\"\n  hashes = [\"%s\"]\n}\n", tofuHost+"/acme/widget", strings.Join(known, `", "`))
		must.EqualSlices(t, fresh(ours, lock), fresh(tofu, lock), lock)
	}
}

// TestLock_TrustedMirrorHashesSameAsTofu installs with both programs from a network mirror that lists
// the hashes of three platforms. All of them are only locked with trust_all_hashes.
func TestLock_TrustedMirrorHashesSameAsTofu(t *testing.T) {
	t.Parallel()
	programs := tofuPrograms(t)
	ca := harness.NewCA(t)
	mirror := harness.Start(t, providertest.NewMirror, providertest.MirrorOptions{CA: ca})
	for _, spec := range threePlatforms() {
		mirror.Add(tofuHost, spec)
	}
	for option, want := range map[string]int{"": 2, "trust_all_hashes = false": 2, "trust_all_hashes = true": 6} {
		env := harness.Trust(t, ca, fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n    %s\n  }\n}\n", mirror.URL(), option))
		var hashes [][]string
		for _, program := range programs {
			dir := t.TempDir()
			end := initAsTofu(t, program, dir, env)
			must.Equal(t, end.Code, 0, option, program, end)
			hashes = append(hashes, lockedHashes(t, dir))
		}
		must.Len(t, hashes[0], want, option)
		must.EqualSlices(t, hashes[0], hashes[len(hashes)-1], option)
	}
}

// TestInit_ExpiredKeysSameAsTofu installs with both programs a package with an expired key,
// and one with an expired signature, with and without the variable that forbids that.
func TestInit_ExpiredKeysSameAsTofu(t *testing.T) {
	t.Parallel()
	programs, now := tofuPrograms(t), time.Now()
	for name, opts := range map[string]providertest.SignerOptions{
		"key":       {Created: now.Add(-3 * time.Hour), Lifetime: time.Hour, SignedAt: now.Add(-150 * time.Minute)},
		"signature": {Created: now.Add(-3 * time.Hour), SignedAt: now.Add(-2 * time.Hour), SignatureLifetime: time.Hour},
	} {
		signer := providertest.NewSigner(opts)
		registry := harness.Start(t, providertest.NewRegistry, providertest.Options{Signer: signer})
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
		for value, refuses := range map[string]bool{"": false, "false": false, "true": true} {
			var hashes [][]string
			for _, program := range programs {
				dir, env := t.TempDir(), harness.Redirect(t, registry, tofuHost)
				end := initAsTofu(t, program, dir, append(env, "OPENTOFU_ENFORCE_GPG_EXPIRATION="+value))
				must.Equal(t, end.Code != 0, refuses, name, value, program, end)
				if !refuses {
					must.Contain(t, end.Said(), "expired", name, value, program)
					hashes = append(hashes, lockedHashes(t, dir))
				}
			}
			if !refuses {
				must.EqualSlices(t, hashes[0], hashes[len(hashes)-1], name, value)
			}
		}
	}
}

// tofuPrograms returns tfdeps under the name tofu, and tofu, if it is installed.
func tofuPrograms(t *testing.T) []string {
	t.Helper()
	programs := []string{linkedAs(t, "tofu")}
	if peer, err := peertest.PeerProgram("tofu"); err == nil {
		programs = append(programs, peer)
	}
	return programs
}

// initAsTofu runs init in a directory that requires acme/widget of OpenTofu's registry.
func initAsTofu(t *testing.T, program, dir string, env []string) harness.Ended {
	t.Helper()
	must.Write(t, filepath.Join(dir, "main.tf"), "terraform {\n  required_providers {\n    widget = { source = \""+tofuHost+"/acme/widget\" }\n  }\n}\n")
	return harness.Exec(t, dir, harness.Env(t, append(slices.Clone(env), "TFDEPS_TOFU_VERSION="+testedTofu)...), program, "init", "-no-color")
}

// threePlatforms are packages of acme/widget.
func threePlatforms() (specs []providertest.PackageSpec) {
	for i, plat := range []getproviders.Platform{{}, {OS: "plan9", Arch: "386"}, {OS: "plan9", Arch: "arm"}} {
		specs = append(specs, providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat,
			Archive: providertest.Zip(map[string]string{"terraform-provider-widget": string(rune('a' + i))})})
	}
	return specs
}

// lockedHashes returns the hashes in the lock file of a directory, sorted.
func lockedHashes(t *testing.T, dir string) []string {
	t.Helper()
	hashes := regexp.MustCompile(`(h1|zh):[^"]+`).FindAllString(harness.LockOf(t, dir), -1)
	slices.Sort(hashes)
	return hashes
}

// encryptedConfig has OpenTofu encrypt the state with a passphrase.
const encryptedConfig = `terraform {
  encryption {
    key_provider "pbkdf2" "own" {
      passphrase = "correct horse battery staple"
    }
    method "aes_gcm" "own" {
      keys = key_provider.pbkdf2.own
    }
    state {
      method = method.aes_gcm.own
    }
  }
}
`

// stateWithProvider is a state with an object of acme/widget, which no configuration mentions.
const stateWithProvider = `{"version": 4, "terraform_version": "1.12.6", "serial": 7, "lineage": "0a0b0c0d-0000-0000-0000-000000000000", "outputs": {}, "resources": [{"mode": "managed",
"type": "widget_thing", "name": "x", "provider": "provider[\"tf.example.com/acme/widget\"]", "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "sensitive_attributes": []}]}]}`

// TestState_EncryptedByTofu encrypts a state that requires a provider with the real tofu. Without
// tofu, init warns once that the state can't be read. With -with=tofu, and with the output of "tofu state
// pull", the provider is installed.
func TestState_EncryptedByTofu(t *testing.T) {
	t.Parallel()
	tofu := harness.LookTofu(t)
	ours := linkedAs(t, "tofu")
	registry := newOracleRegistry(t, nil)
	env := harness.Env(t, append(harness.Redirect(t, registry, oracleHosts...), "TFDEPS_TOFU_VERSION="+tofuVersion(t, tofu))...)
	prepare := func() (dir string) {
		dir = t.TempDir()
		must.Write(t, filepath.Join(dir, "main.tf"), encryptedConfig)
		state := filepath.Join(t.TempDir(), "plain.json")
		must.Write(t, state, stateWithProvider)
		harness.Run(t, dir, env, tofu, "init")
		harness.Run(t, dir, env, tofu, "state", "push", state)
		text := harness.ReadText(t, filepath.Join(dir, "terraform.tfstate"))
		must.Contain(t, text, "encrypted_data")
		must.NotContain(t, text, "widget")
		return dir
	}
	const widget = "tf.example.com/acme/widget"
	alone := prepare()
	out := harness.Run(t, alone, env, ours, "init", "-no-color")
	must.Equal(t, strings.Count(out, "Warning: "), 1, out)
	must.Contain(t, out, "Providers that only the state needs may be missing")
	must.NotContain(t, harness.ReadLock(t, alone), widget)
	with := prepare()
	harness.Run(t, with, env, ours, "init", "-no-color", "-with=tofu")
	must.Contain(t, harness.ReadLock(t, with), widget)
	must.Write(t, filepath.Join(alone, "pulled.json"), harness.Run(t, alone, env, tofu, "state", "pull"))
	harness.Run(t, alone, env, ours, "init", "-no-color", "-state=pulled.json")
	must.Contain(t, harness.ReadLock(t, alone), widget)
}
