package getproviders

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// oddPatterns are patterns, and others that aren't. None has a space, because Terraform wraps its
// messages.
var oddPatterns = map[bool][]string{
	true: strings.Fields(`
		hashicorp/aws HashiCorp/AWS hashicorp/* */* */*/* example.com/*/* example.com/acme/* Example.com:443/a/b example.com:08443/a/b
		bücher.example/*/* BÜCHER.example/a/b a/ü Ü/x a/ß a/b-c 1/1 ０/a localhost/a/b 127.0.0.1/a/b example.com./a/b
		hashicorp/terraform-provider-aws terraform.io/builtin/terraform terraform/terraform`),
	false: append(strings.Fields(`
		* aws a/b/c/d a//b /a/b a/b/ // */aws example.com/*/a */hashicorp/* */hashicorp/aws */*/aws hashicorp/a* ex*ample.com/*/*
		example.com/*a/* a/** hashicorp/a.b hashi--corp/* a/b_c a/-b a/b- -/aws -/* registry.terraform.io/-/aws example.com/-/*
		xn--bcher-kva.example/*/* example..com/a/b .example.com/a/b [::1]/a/b example.com:abc/a/b example.com:/a/b https://example.com/*
`), ""),
}

// TestPattern_AgreeWithRealTerraform puts each pattern into a block of its own: Terraform
// complains about each.
func TestPattern_AgreeWithRealTerraform(t *testing.T) {
	t.Parallel()
	terraform := peertest.LookTerraform(t)
	var config strings.Builder
	for _, pattern := range slices.Concat(oddPatterns[true], oddPatterns[false]) {
		fmt.Fprintf(&config, "  direct {\n    include = [%q]\n  }\n", pattern)
	}
	dir := t.TempDir()
	cli := filepath.Join(dir, "cli.tfrc")
	must.Write(t, cli, "provider_installation {\n"+config.String()+"}\n")
	out, err := peertest.Command(t.Context(), terraform, dir, []string{"TF_CLI_CONFIG_FILE=" + cli, "HOME=" + dir}, "version").CombinedOutput()
	must.Succeed(t, err, out)
	said := strings.Join(strings.Fields(strings.ReplaceAll(string(out), "│", "")), " ")
	for valid, patterns := range oddPatterns {
		for _, pattern := range patterns {
			must.Equal(t, !strings.Contains(said, fmt.Sprintf("matching pattern %q", pattern)), valid, pattern)
			must.Equal(t, must.ErrorOf(Terraform("1.15.9").ParsePattern(pattern)) == nil, valid, pattern)
		}
	}
}
