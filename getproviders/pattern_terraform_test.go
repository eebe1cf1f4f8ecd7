package getproviders_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// oddPatterns say for each whether it is a pattern. None has a space, because Terraform wraps its
// messages.
var oddPatterns = map[string]bool{
	"hashicorp/aws": true, "HashiCorp/AWS": true, "hashicorp/*": true, "*/*": true, "*/*/*": true,
	"example.com/*/*": true, "example.com/acme/*": true, "Example.com:443/a/b": true, "example.com:08443/a/b": true,
	"bücher.example/*/*": true, "BÜCHER.example/a/b": true, "a/ü": true, "Ü/x": true, "a/ß": true, "a/b-c": true,
	"1/1": true, "０/a": true, "localhost/a/b": true, "127.0.0.1/a/b": true, "example.com./a/b": true,
	"hashicorp/terraform-provider-aws": true, "terraform.io/builtin/terraform": true, "terraform/terraform": true,

	"": false, "*": false, "aws": false, "a/b/c/d": false, "a//b": false, "/a/b": false, "a/b/": false, "//": false,
	"*/aws": false, "example.com/*/a": false, "*/hashicorp/*": false, "*/hashicorp/aws": false, "*/*/aws": false,
	"hashicorp/a*": false, "ex*ample.com/*/*": false, "example.com/*a/*": false, "a/**": false,
	"hashicorp/a.b": false, "hashi--corp/*": false, "a/b_c": false, "a/-b": false, "a/b-": false,
	"-/aws": false, "-/*": false, "registry.terraform.io/-/aws": false, "example.com/-/*": false,
	"xn--bcher-kva.example/*/*": false, "example..com/a/b": false, ".example.com/a/b": false, "[::1]/a/b": false,
	"example.com:abc/a/b": false, "example.com:/a/b": false, "https://example.com/*": false,
}

// TestPattern_AgreeWithRealTerraform puts each pattern into a block of its own: Terraform
// complains about each.
func TestPattern_AgreeWithRealTerraform(t *testing.T) {
	t.Parallel()
	terraform := peertest.LookTerraform(t)
	var config strings.Builder
	for pattern := range oddPatterns {
		fmt.Fprintf(&config, "  direct {\n    include = [%q]\n  }\n", pattern)
	}
	dir := t.TempDir()
	cli := filepath.Join(dir, "cli.tfrc")
	must.Succeed(t, os.WriteFile(cli, []byte("provider_installation {\n"+config.String()+"}\n"), 0o600))
	cmd := exec.CommandContext(t.Context(), terraform, "version")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TF_CLI_CONFIG_FILE="+cli, "CHECKPOINT_DISABLE=1", "HOME="+dir)
	out, err := cmd.CombinedOutput()
	must.Succeed(t, err, out)
	said := strings.Join(strings.Fields(strings.ReplaceAll(string(out), "│", "")), " ")
	for pattern, valid := range oddPatterns {
		must.Equal(t, !strings.Contains(said, fmt.Sprintf("matching pattern %q", pattern)), valid, pattern)
		must.Equal(t, must.ErrorOf(getproviders.Terraform("1.15.9").ParsePattern(pattern)) == nil, valid, pattern)
	}
}
