package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// TestRequestsOfAFirstInit counts what goes over the wire when nothing is
// locked and nothing is installed: ten providers, five at each of two hosts.
func TestRequestsOfAFirstInit(t *testing.T) {
	t.Parallel()
	const perHost = 5
	registries := []*providertest.Registry{newCountedRegistry(t, perHost), newCountedRegistry(t, perHost)}
	dir := t.TempDir()
	writeRequirements(t, filepath.Join(dir, "main.tf"), perHost, registries)

	program, env := buildTfdeps(t), peerEnv(t, "SSL_CERT_FILE="+writeCAs(t, registries))
	init := func() {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, "init", "-no-color")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("init: %v\n%s", err, out)
		}
	}
	init()
	for _, r := range registries {
		for kind, want := range map[string]int{
			"discovery": 1, "versions": perHost, "package": perHost, "sums": perHost, "signature": perHost, "archive": perHost,
			"other": 0, "HEAD": 0, "": 1 + 5*perHost,
		} {
			if got := r.Requests(kind); got != want {
				t.Errorf("%s: %d requests of kind %q, want %d", r.Host(), got, kind, want)
			}
		}
	}

	// README, difference 1: with everything locked and present, none at all.
	before := registries[0].Requests("") + registries[1].Requests("")
	init()
	if after := registries[0].Requests("") + registries[1].Requests(""); after != before {
		t.Errorf("a second init made %d requests, want none", after-before)
	}
}

// newCountedRegistry starts a registry with providers p0, p1 and so on.
func newCountedRegistry(t *testing.T, providers int) *providertest.Registry {
	t.Helper()
	registry := started(t, providertest.NewRegistry, providertest.Options{})
	for i := range providers {
		for _, version := range []string{"1.0.0", "1.1.0"} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: fmt.Sprint("p", i), Version: version})
		}
	}
	return registry
}

// writeRequirements asks for all providers of the registries, at their own
// hosts, where they are found by service discovery.
func writeRequirements(t *testing.T, path string, perHost int, registries []*providertest.Registry) {
	t.Helper()
	var config strings.Builder
	config.WriteString("terraform {\n  required_providers {\n")
	for i, r := range registries {
		for j := range perHost {
			fmt.Fprintf(&config, "    p%d%d = { source = \"%s/acme/p%d\", version = \"~> 1.0\" }\n", i, j, r.Host(), j)
		}
	}
	config.WriteString("  }\n}\n")
	if err := os.WriteFile(path, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeCAs writes the certificates of all registries' CAs to one file.
func writeCAs(t *testing.T, registries []*providertest.Registry) string {
	t.Helper()
	var pem [][]byte
	for _, r := range registries {
		pem = append(pem, r.CAPEM())
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, bytes.Join(pem, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
