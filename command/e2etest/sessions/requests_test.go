package sessions

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestInit_RequestsOfAFirstRun counts the requests when nothing is locked and nothing is
// installed: ten providers, five at each of two hosts.
func TestInit_RequestsOfAFirstRun(t *testing.T) {
	t.Parallel()
	const perHost = 5
	registries := []*providertest.Registry{harness.NewCountedRegistry(t, perHost), harness.NewCountedRegistry(t, perHost)}
	dir := t.TempDir()
	harness.WriteRequirements(t, filepath.Join(dir, "main.tf"), perHost, registries)

	program, env := harness.Tfdeps(t), harness.Env(t, "SSL_CERT_FILE="+harness.WriteCAs(t, registries))
	init := func() {
		t.Helper()
		harness.Run(t, dir, env, program, "init", "-no-color")
	}
	init()
	for _, r := range registries {
		for kind, want := range map[string]int{
			"discovery": 1, "versions": perHost, "package": perHost, "sums": perHost, "signature": perHost, "archive": perHost,
			"other": 0, "HEAD": 0, "": 1 + 5*perHost,
		} {
			must.Equal(t, r.Requests(kind), want, r.Host(), kind)
		}
	}

	// Difference 1: with everything locked and present, none at all.
	before := registries[0].Requests("") + registries[1].Requests("")
	init()
	must.Equal(t, registries[0].Requests("")+registries[1].Requests(""), before)
}
