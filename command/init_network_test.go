package command

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNoClientIsMadeForRunsWithoutNetwork: what can't be made can't send
// anything.
func TestNoClientIsMadeForRunsWithoutNetwork(t *testing.T) {
	const config = `terraform {
  required_providers {
    a = { source = "registry.example.com/acme/a" }
  }
}
module "m" {
  source = "registry.example.com/acme/m/x"
}
`
	for args, code := range map[string]int{"-check": ExitDiffers, "-offline": 1, "-frozen": 1} {
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile("main.tf", []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			helper := filepath.Join(dir, "rc")
			if err := os.WriteFile(helper, []byte(`credentials_helper "nobody" {}`), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, err bytes.Buffer
			meta := &Meta{
				Context: t.Context(), Stdout: &out, Stderr: &err, Now: time.Now, NoColor: true,
				Env: Environment{"TFDEPS_TERRAFORM_VERSION=1.15.9", "TF_CLI_CONFIG_FILE=" + helper},
				NewClient: func(string) (*http.Client, error) {
					t.Error("a client was made")
					return http.DefaultClient, nil
				},
			}
			if got := (&InitCommand{Meta: meta}).Run([]string{args}); got != code {
				t.Errorf("the exit code is %d, not %d\n%s%s", got, code, &out, &err)
			}
			if strings.Contains(err.String(), "helper") {
				t.Errorf("somebody looked for a credentials helper:\n%s", &err)
			}
		})
	}
}
