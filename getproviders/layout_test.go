package getproviders

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/must"
)

var linux = Platform{OS: "linux", Arch: "amd64"}

func TestPaths(t *testing.T) {
	tests := []struct{ address, version, unpacked, packed string }{
		{
			"hashicorp/aws", "5.0.0",
			"registry.terraform.io/hashicorp/aws/5.0.0/linux_amd64",
			"terraform-provider-aws_5.0.0_linux_amd64.zip",
		},
		{
			"испытание.com:8443/acme/x", "1.0.0-beta.1+b2",
			"испытание.com:8443/acme/x/1.0.0-beta.1+b2/linux_amd64",
			"terraform-provider-x_1.0.0-beta.1+b2_linux_amd64.zip",
		},
	}
	for _, tt := range tests {
		p, v := mustParse(t, tt.address), MustParseVersion(tt.version)
		must.Equal(t, layout.UnpackedPath(p, v, linux), tt.unpacked)
		must.Equal(t, p.PackedName(v, linux), tt.packed)
	}
}

// Terraform 1.11.4 finds the same versions under these names.
func TestParsePackedName(t *testing.T) {
	for providerType, names := range map[string]map[string]string{ // and the version in the name
		"aws": {
			"terraform-provider-aws_5.0.0_linux_amd64.zip":        "5.0.0",
			"Terraform-Provider-AWS_5.0.0_Linux_AMD64.ZIP":        "5.0.0",
			"terraform-provider-aws_5.0_linux_amd64.zip":          "5.0.0",
			"terraform-provider-aws_5.0.0-BETA_linux_amd64.zip":   "5.0.0-beta",
			"terraform-provider-aws_5.0.0_linux_amd64_SIGNED.zip": "5.0.0",
			"terraform-provider-aws_5.0.0_linux_amd64_.zip":       "5.0.0",
			"terraform-provider-aws_5.0.0_linux_amd64_a_b_c.zip":  "5.0.0",
			"terraform-provider-aws_v5.0.0_linux_amd64.zip":       "",
			"terraform-provider-aws_5.0.0.0_linux_amd64.zip":      "",
			"terraform-provider-aws_5.0.0_linux_amd64":            "",
			"terraform-provider-aws_5.0.0_linux_amd64.tar.gz":     "",
			"terraform-provider-aws_5.0.0_linux_amd64.x.zip":      "",
			"terraform-provider-aws_5.0.0_linux.zip":              "",
			"terraform-provider-aws_5.0.0__amd64.zip":             "",
			"terraform-provider-aws_5.0.0.zip":                    "",
			"terraform-provider-aws.zip":                          "",
			"terraform-provider-awscc_5.0.0_linux_amd64.zip":      "",
			"aws_5.0.0_linux_amd64.zip":                           "",
			"":                                                    "",
		},
		"AWS": {
			"terraform-provider-aws_5.0.0_linux_amd64.zip": "5.0.0",
		},
		"my-own": {
			"terraform-provider-my-own_5.0.0_linux_amd64.zip": "5.0.0",
		},
		"awscc": {
			"terraform-provider-aws_5.0.0_linux_amd64.zip": "",
		},
		"": {
			".zip": "",
		},
	} {
		for name, version := range names {
			v, plat, ok := Provider{Type: providerType}.ParsePackedName(name)
			if ok != (version != "") || ok && (v.String() != version || plat != linux) {
				t.Errorf("%q of type %q: %s, %s, %t; want %q", name, providerType, v, plat, ok, version)
			}
		}
	}
}

func TestExecutableName(t *testing.T) {
	aws := mustParse(t, "hashicorp/aws")
	for want, names := range map[bool]string{
		true:  "terraform-provider-aws terraform-provider-aws_v5.0.0 terraform-provider-aws_v5.0.0_x5.exe terraform-provider-aws.exe terraform-provider-aws.txt",
		false: "terraform-provider-awscc terraform-provider-aws-5 Terraform-Provider-aws terraform-provider aws ",
	} {
		for name := range strings.SplitSeq(names, " ") {
			must.Equal(t, layout.ExecutableName(aws, name), want, name)
		}
	}
}

func FuzzParsePackedName(f *testing.F) {
	for _, seed := range []string{"terraform-provider-aws_5.0.0_linux_amd64.zip", "terraform-provider-aws_5.0.0-BETA_Linux_amd64_SIGNED.ZIP", "terraform-provider-aws_5._linux_.zip", ".zip"} {
		f.Add(seed, "aws")
	}
	f.Add("terraform-provider-aw\x90_5.0.0_linux_amd64.zip", "aw\x90")
	f.Fuzz(func(t *testing.T, name, providerType string) {
		v, plat, ok := Provider{Type: providerType}.ParsePackedName(name)
		if !ok {
			must.Equal(t, v, Version{})
			must.Equal(t, plat, Platform{})
			return
		}
		p := Provider{Hostname: Terraform("").DefaultHost, Namespace: "acme", Type: strings.ToLower(providerType)}
		if p.Validate() != nil {
			return // No package of it has a name.
		}
		again, samePlat, ok := p.ParsePackedName(p.PackedName(v, plat))
		if !ok || again != v || samePlat != plat {
			t.Errorf("%q: %s on %s is read back as %s on %s, %t", name, v, plat, again, samePlat, ok)
		}
	})
}

func TestParseDocumentName(t *testing.T) {
	for name, want := range map[string]string{
		"terraform-provider-widget_1.0.0_SHA256SUMS":               "1.0.0",
		"terraform-provider-widget_1.0.0-rc1_SHA256SUMS.sig":       "1.0.0-rc1",
		"terraform-provider-widget_1.0.0_SHA256SUMS.keys.json":     "1.0.0",
		"terraform-provider-widget_1.0_SHA256SUMS":                 "",
		"terraform-provider-gadget_1.0.0_SHA256SUMS":               "",
		"terraform-provider-widget_1.0.0_SHA256SUMS.asc":           "",
		"terraform-provider-widget_1.0.0_SHA256SUMS.sig.sig":       "",
		"terraform-provider-widget_1.0.0_SHA256SUMS.keys.json.sig": "",
		"Terraform-provider-widget_1.0.0_SHA256SUMS":               "",
		"1.0.0_SHA256SUMS":                "",
		"terraform-provider-widget_1.0.0": "",
		"":                                "",
	} {
		v, ok := widget.ParseDocumentName(name)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("%q is about %s, %v; want %q", name, v, ok, want)
		}
	}
	for _, name := range []string{layout.ChecksumsName(widget, version("1.2.3")), layout.SignatureName(widget, version("1.2.3")), layout.KeysName(widget, version("1.2.3"))} {
		if v, ok := widget.ParseDocumentName(name); !ok || v != version("1.2.3") {
			t.Errorf("%q is about %s, %v", name, v, ok)
		}
	}
}
