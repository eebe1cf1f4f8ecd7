package initcmd

import (
	"bytes"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestCommand_MakesNoClientForRunsWithoutNetwork: without a client, nothing can be sent.
func TestCommand_MakesNoClientForRunsWithoutNetwork(t *testing.T) {
	const config = `terraform {
  required_providers {
    a = { source = "registry.example.com/acme/a" }
  }
}
module "m" {
  source = "registry.example.com/acme/m/x"
}
`
	for args, code := range map[string]int{"-check": cli.ExitDiffers, "-offline": 1, "-frozen": 1} {
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			must.Write(t, "main.tf", config)
			helper := filepath.Join(dir, "rc")
			must.Write(t, helper, `credentials_helper "nobody" {}`)
			var out, err bytes.Buffer
			meta := &cli.Meta{
				Context: t.Context(), Stdout: &out, Stderr: &err, Now: time.Now, NoColor: true,
				Env: cli.Environment{"TFDEPS_TERRAFORM_VERSION=1.15.9", "TF_CLI_CONFIG_FILE=" + helper},
				NewClient: func(hosts.ClientOptions) (*http.Client, error) {
					t.Error("a client was made")
					return http.DefaultClient, nil
				},
			}
			must.Equal(t, Command().Execute(meta, []string{args}), code, &out, &err)
			must.NotContain(t, err.String(), "helper", "a credentials helper was looked for", &err)
		})
	}
}
