package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

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
"type": "widget_thing", "name": "x", "provider": "provider[\"HOST/acme/widget\"]", "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "sensitive_attributes": []}]}]}`

// TestState_EncryptedByTofu has the real tofu encrypt a state that requires a provider. Without
// tofu, init says once that the state can't be read. With -with=tofu, and with what "tofu state
// pull" prints, the provider is installed.
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
		must.Write(t, state, strings.Replace(stateWithProvider, "HOST", registry.Host(), 1))
		harness.Run(t, dir, env, tofu, "init")
		harness.Run(t, dir, env, tofu, "state", "push", state)
		if text := harness.ReadText(t, filepath.Join(dir, "terraform.tfstate")); !strings.Contains(text, "encrypted_data") || strings.Contains(text, "widget") {
			t.Fatalf("the state isn't encrypted: %s", text)
		}
		return dir
	}
	installed := func(dir string) bool {
		return strings.Contains(harness.ReadLock(t, dir), registry.Host()+"/acme/widget")
	}

	alone := prepare()
	out := harness.Run(t, alone, env, ours, "init", "-no-color")
	if strings.Count(out, "Warning: ") != 1 || !strings.Contains(out, "Providers that only the state needs may be missing") || installed(alone) {
		t.Errorf("init alone:\n%s", out)
	}
	with := prepare()
	if out := harness.Run(t, with, env, ours, "init", "-no-color", "-with=tofu"); !installed(with) {
		t.Errorf("-with=tofu:\n%s", out)
	}
	must.Write(t, filepath.Join(alone, "pulled.json"), harness.Run(t, alone, env, tofu, "state", "pull"))
	if out := harness.Run(t, alone, env, ours, "init", "-no-color", "-state=pulled.json"); !installed(alone) {
		t.Errorf("-state of what was pulled:\n%s", out)
	}
}
