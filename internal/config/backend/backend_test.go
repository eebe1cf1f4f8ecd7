package backend_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
)

var asTerraform, asOpenTofu = getproviders.Terraform("1.15.9"), getproviders.OpenTofu("1.12.6")

// parseBlock reads the text of one backend or cloud block.
func parseBlock(tb testing.TB, text string) load.Backend {
	tb.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	must.Len(tb, diags, 0)
	content, diags := file.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"},
	}})
	if diags.HasErrors() || len(content.Blocks) != 1 {
		tb.Fatal(diags)
	}
	b := content.Blocks[0]
	block := load.Backend{Type: backend.Cloud, Range: b.DefRange, Body: b.Body}
	if len(b.Labels) > 0 {
		block.Type, block.TypeRange = b.Labels[0], b.LabelRanges[0]
	}
	return block
}

// decode reads a block that has no problems.
func decode(tb testing.TB, text string, overrides ...string) *backend.Config {
	tb.Helper()
	config, diags := backend.Decode(tb.Context(), parseBlock(tb, text), backend.Options{Product: asTerraform, Overrides: overrides})
	if diags.HasErrors() {
		tb.Fatal(diags)
	}
	return config
}

func record(tb testing.TB, config *backend.Config) *backend.Record {
	tb.Helper()
	r := must.Get(backend.NewRecord(config, asTerraform))(tb)
	return r
}

func TestDecode_WhatIsWrongWithABlock(t *testing.T) {
	big := strings.Repeat("[", 20000)
	for block, want := range map[string]string{ // summaries with places
		// type
		`backend "nope" {}`: "Unsupported backend type main.tf:1",
		// former type
		`backend "swift" {}`: "Unsupported backend type main.tf:1",
		// argument
		"backend \"local\" {\n  foo = 1\n}": "Unsupported argument main.tf:2",
		// block
		"backend \"local\" {\n  foo {}\n}": "Unsupported block type main.tf:2",
		// type of a value
		"backend \"local\" {\n  path = []\n}": "Incorrect attribute value type main.tf:2",
		// variable
		"backend \"local\" {\n  path = var.p\n}": "Variables not allowed main.tf:2",
		// function
		"backend \"local\" {\n  path = upper(\"p\")\n}": "Function calls not allowed main.tf:2",
		// required
		`backend "s3" {}`: "Missing Required Value main.tf:1, Missing Required Value main.tf:1, Missing region value main.tf:1",
		// required in a block
		"backend \"cos\" {\n  bucket = \"b\"\n  region = \"r\"\n  assume_role {}\n}": "Missing Required Value main.tf:1, Missing Required Value main.tf:1",
		// required in an object
		"backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  assume_role = {}\n}": "Incorrect attribute value type main.tf:4",
		// empty path
		"backend \"local\" {\n  path = \"\"\n  workspace_dir = \"\"\n}": "Invalid local state file path main.tf:1, Invalid local workspace directory path main.tf:1",
		// no address
		`backend "http" {}`: "address argument is required main.tf:1",
		// no web address
		"backend \"http\" {\n  address = \"ftp://hunter2/\"\n  lock_address = \"\"\n  unlock_address = \"x\"\n}": "address must be HTTP or HTTPS main.tf:1, lock_address must be HTTP or HTTPS main.tf:1, unlock_address must be HTTP or HTTPS main.tf:1",
		// certificates
		"backend \"http\" {\n  address = \"http://x\"\n  client_private_key_pem = \"hunter2\"\n  client_ca_certificate_pem = \"hunter2\"\n}": "failed to append certs main.tf:1, client_private_key_pem is set but client_certificate_pem is not main.tf:1",
		// no region
		"backend \"s3\" {\n  bucket = \" \"\n  key = \"/a//b\"\n}": "Invalid Value main.tf:1, Invalid Value main.tf:1, Invalid Value main.tf:1, Missing region value main.tf:1",
		// keys
		"backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  kms_key_id = \"x\"\n  sse_customer_key = \"x\"\n  retry_mode = \"x\"\n}": "Invalid KMS Key ID main.tf:1, Invalid sse_customer_key value main.tf:1, Invalid Value main.tf:1, Invalid Attribute Combination main.tf:1",
		// roles
		"backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  assume_role = { role_arn = \"hunter2\", policy_arns = [\"hunter2\", \"arn:aws:iam::1:role/hunter2\"] }\n" +
			"  assume_role_with_web_identity = { role_arn = \"arn:aws:iam::1:user/hunter2\", policy_arns = [\"arn:aws:iam::1:policy/x\"] }\n}": "Invalid ARN main.tf:1, Invalid ARN main.tf:1, Invalid IAM Policy ARN main.tf:1, Invalid IAM Role ARN main.tf:1",
		// no roles
		"backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  assume_role = { role_arn = \" \" }\n  assume_role_with_web_identity = { role_arn = \"arn:aws:iam\" }\n}": "Invalid Value main.tf:1, Invalid ARN main.tf:1",
		// settings of a database
		"backend \"pg\" {\n  conn_str = \"host=h password hunter2\"\n}": "missing \"=\" in connection info string main.tf:1",
		// quotes in settings
		"backend \"pg\" {\n  conn_str = \"host='h' password='hunter2\\\\'\"\n}": "unterminated quoted string literal in connection string main.tf:1",
		// backslash in settings
		"backend \"pg\" {\n  conn_str = \"a = b password=hunter2\\\\\"\n}": "missing character after backslash main.tf:1",
		// URL of a database
		"backend \"pg\" {\n  conn_str = \"postgres://u:hunter2%zz@h/d\"\n}": "invalid connection URL main.tf:1",
		// credentials of gcs
		"backend \"gcs\" {\n  bucket = \"b\"\n  credentials = <<E\n{\"type\": \"service_account\", \"private_key\": [\"hunter2\"]}\nE\n}": "storage.NewClient() failed: dialing main.tf:1",
		// keys of gcs
		"backend \"gcs\" {\n  bucket = \"b\"\n  encryption_key = \"\"\n  kms_encryption_key = \"\"\n}": "can't set both encryption_key and kms_encryption_key main.tf:1",
		// cos
		"backend \"cos\" {\n  bucket = \"b\"\n  region = \"r\"\n  prefix = \"./a\"\n  key = \"a/\"\n  acl = \"x\"\n}": "prefix must not start with '/' or './' main.tf:1, key can not start and end with '/' main.tf:1, acl value invalid main.tf:1",
		// oss
		"backend \"oss\" {\n  bucket = \"b\"\n  prefix = \"/a\"\n  key = \"/a\"\n  acl = \"x\"\n}": "workspace_key_prefix must not start with '/' or './' main.tf:1, key can not start and end with '/' main.tf:1, acl value invalid main.tf:1",
		// oci
		"backend \"oci\" {\n  bucket = \"b\"\n  namespace = \"n\"\n  key = \"a//b\"\n  workspace_key_prefix = \"/a\"\n}": "Invalid Value main.tf:1, Invalid Value main.tf:1",
		// metadata
		"backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  ec2_metadata_service_endpoint_mode = \"ipv4\"\n}": "Invalid Value main.tf:1",
		// old arguments
		"backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  dynamodb_table = \"t\"\n  endpoint = \"e\"\n  endpoints = { s3 = \"hunter2\", iam = \"i\" }\n  sts_endpoint = \"s\"\n}": "Deprecated Parameter main.tf:1, Deprecated Parameter main.tf:1, Deprecated Parameter main.tf:1, Complete URL Expected main.tf:1, Complete URL Expected main.tf:1, " +
			"Complete URL Expected main.tf:1, Complete URL Expected main.tf:1, Conflicting Parameters main.tf:1",
		// host
		"backend \"remote\" {\n  hostname = \"a..hunter2\"\n  organization = \"o\"\n  workspaces {\n    name = \"a\"\n  }\n}": "The hostname is not in the correct format main.tf:1",
		// host of a cloud
		"cloud {\n  hostname = \"a b\"\n  organization = \"o\"\n  workspaces {\n    name = \"a\"\n  }\n}": "The hostname is not in the correct format main.tf:1",
		// no workspaces
		"backend \"remote\" {\n  organization = \"\"\n}": "Invalid organization value main.tf:1, Invalid workspaces configuration main.tf:1",
		// two kinds of workspaces
		"backend \"remote\" {\n  organization = \"o\"\n  workspaces {\n    name = \"a\"\n    prefix = \"b\"\n  }\n}": "Invalid workspaces configuration main.tf:1",
		// two kinds of workspaces in a cloud
		"cloud {\n  workspaces {\n    name = \"a\"\n    tags = []\n  }\n}": "Invalid workspaces configuration main.tf:1",
		// block twice
		"backend \"remote\" {\n  organization = \"o\"\n  workspaces {}\n  workspaces {}\n}": "Duplicate workspaces block main.tf:4",
	} {
		refuse(t, asTerraform, block, nil, want)
	}
	for block, want := range map[string]string{ // in an older version
		`backend "oci" {}`: "Unsupported backend type main.tf:1",
		`backend "oss" {
  bucket                   = "b"
  tablestore_instance_name = "i"
}`: "Unsupported argument main.tf:3",
	} {
		refuse(t, getproviders.Terraform("1.11.4"), block, nil, want)
	}
	for text, want := range map[string]string{ // a block, and each option behind a bar
		`backend "local" {}|path =x`:                                                          "Invalid backend configuration argument",                              // pair's spaces
		`backend "local" {}|nope=1`:                                                           "Invalid backend configuration argument",                              // pair's name
		`backend "kubernetes" {}|secret_suffix=s|exec={}`:                                     "Invalid backend configuration argument",                              // pair for a block
		`backend "http" {}|retry_max=hunter2`:                                                 "Invalid backend configuration value",                                 // pair's type
		`backend "http" {}|retry_max=1e600000000`:                                             "Invalid backend configuration value",                                 // pair's size
		`backend "http" {}|retry_max=1e-600000000`:                                            "Invalid backend configuration value",                                 // pair's smallness
		`backend "kubernetes" { secret_suffix = "s" }|config_paths=[hunter2`:                  "Unterminated tuple constructor expression",                           // pair's syntax
		`backend "kubernetes" { secret_suffix = "s" }|config_paths=[hunter2]`:                 "Variables not allowed",                                               // pair without quotes
		`backend "kubernetes" { secret_suffix = "s" }|config_paths={a="hunter2"}`:             `Incorrect attribute value type -backend-config="config_paths=...":1`, // pair's parts
		`backend "kubernetes" { secret_suffix = "s" }|config_paths=` + big:                    `Value nested too deeply`,                                             // pair's depth
		`backend "kubernetes" { secret_suffix = "s" }|config_paths=[for x in ["hunter2"]: y]`: "Unknown variable",                                                    // pair's loop
		`backend "local" {}|nofile`:                                                           "Failed to read file",                                                 // file
		`backend "local" {}|.`:                                                                "Failed to read file",                                                 // directory
		`backend "local" {}||`:                                                                "Failed to read file, Failed to read file",                            // no file twice
	} {
		given := strings.Split(text, "|")
		refuse(t, asTerraform, given[0], given[1:], want)
	}
}

// refuse decodes a block that has these errors, none of which contains a value.
func refuse(t *testing.T, product getproviders.Product, block string, given []string, want string) {
	t.Helper()
	t.Run(fmt.Sprintf("%.100s %.100s", block, strings.Join(given, " ")), func(t *testing.T) {
		config, diags := backend.Decode(t.Context(), parseBlock(t, block), backend.Options{Product: product, Overrides: given})
		must.Equal(t, config != nil, !strings.HasPrefix(want, "Unsupported backend type"))
		if config != nil {
			if _, err := backend.NewRecord(config, asTerraform); err == nil || config.Text("path") != "" || config.HasTags() || config.Workspace() != "" {
				t.Error("there are errors, and there are values")
			}
		}
		must.Equal(t, summaries(diags), want)
		must.NotContain(t, diags.Error(), "hunter2", "the message has the secret", diags)
	})
}

func TestDecode_TakesWhatMayBeRight(t *testing.T) {
	terraform, tofu := asTerraform, asOpenTofu
	const s3 = "backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  assume_role = { "
	for _, tt := range []struct {
		block string
		only  string // the only product that accepts it
	}{
		{block: s3 + `role_arn = "arn:aws:iam::1:role/a:b", policy_arns = ["arn:aws:iam::aws:policy/x"] }` + "\n}"},
		{block: s3 + `role_arn = "x" }` + "\n}", only: tofu.Name},
		{block: `backend "pg" { conn_str = "" }`},
		{block: `backend "pg" { conn_str = " host = h  password='a b\\' c'user=u =x port=" }`},
		{block: `backend "pg" { conn_str = "a=b\\ c d= 'e\\\\'" }`},
		{block: `backend "pg" { conn_str = "postgresql://u:p@h:1/d?sslmode=disable" }`},
		{block: `backend "pg" { conn_str = "postgres://h:1,i:2/d" }`},
		{block: "backend \"gcs\" {\n  bucket = \"b\"\n  credentials = <<E\n{\"Type\": \"external_account\", \"AUDIENCE\": \"a\", \"subject_token_type\": \"t\"}\nE\n}"},
		{block: "backend \"gcs\" {\n  bucket = \"b\"\n  credentials = <<E\n{\"type\": \"service_account\", \"client_email\": null, \"audience\": 1}\nE\n}"},
	} {
		for _, product := range []getproviders.Product{terraform, tofu} {
			_, diags := backend.Decode(t.Context(), parseBlock(t, tt.block), backend.Options{Product: product})
			if want := tt.only == "" || tt.only == product.Name; diags.HasErrors() == want {
				t.Errorf("%s takes %s: %t, want %t: %v", product.Name, tt.block, !want, want, diags)
			}
		}
	}
}

// A record with another number keeps its values unchanged.
func TestRecord_RenumberedKeepsWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), backend.FileName)
	must.Write(t, path, `{"version": 3, "terraform_version": "1.9.0", "backend": {"type": "local", "config": {"path": "x"}, "hash": 1}}`)
	old := must.Get(backend.Read(nil, path, getproviders.Product{}))(t)
	config := decode(t, "backend \"local\" {\n  path = \"x\"\n}")
	must.Equal(t, old.Compare(config, false), backend.Rehashed)
	got := must.Get(old.Renumbered(record(t, config)).Encode())(t)
	want := strings.ReplaceAll(string(must.Get(record(t, config).Encode())(t)), ",\n      \"workspace_dir\": null", "")
	if string(got) != want || !strings.Contains(want, `"path": "x"`) || strings.Contains(want, "workspace_dir") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func summaries(diags hcl.Diagnostics) string {
	var all []string
	for _, d := range diags {
		text := d.Summary
		if d.Subject != nil {
			text += " " + d.Subject.Filename + ":" + string(rune('0'+d.Subject.Start.Line))
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestDecode_RequiredArgumentFromAVariable(t *testing.T) {
	block := parseBlock(t, `backend "cos" { bucket = "b" }`)
	for value, wanted := range map[string]bool{"": true, "ap-guangzhou": false} {
		_, diags := backend.Decode(t.Context(), block, backend.Options{Product: asTerraform, Getenv: func(name string) string {
			if name == "TENCENTCLOUD_REGION" {
				return value
			}
			return ""
		}})
		must.Equal(t, diags.HasErrors(), wanted, value, diags)
	}
}

// One of several arguments is sufficient, and each may come from its variable.
func TestDecode_OneOfSeveralArgumentsFromAVariable(t *testing.T) {
	azure := `backend "azurerm" {
  storage_account_name = "account"
  container_name       = "container"
  key                  = "k"
  use_azuread_auth     = false
}`
	cluster := `backend "kubernetes" {
  secret_suffix     = "s"
  in_cluster_config = false
}`
	for _, tt := range []struct{ block, variable, value, want string }{
		{azure, "ARM_ACCESS_KEY", "", "One of `access_key`, `sas_token`, `use_azuread_auth` and `resource_group_name` must be specified main.tf:1"},
		{azure, "ARM_ACCESS_KEY", "YQ==", ""},
		{azure, "ARM_SAS_TOKEN", "sv=1", ""},
		{cluster, "KUBE_CONFIG_PATH", "", "Failed to initialize kubernetes configuration main.tf:1"},
		{cluster, "KUBE_CONFIG_PATH", "config", ""},
	} {
		_, diags := backend.Decode(t.Context(), parseBlock(t, tt.block), backend.Options{Product: asTerraform, Getenv: func(name string) string {
			switch name {
			case tt.variable:
				return tt.value
			case "KUBE_IN_CLUSTER_CONFIG", "ARM_USE_AZUREAD":
				return "false"
			}
			return ""
		}})
		must.Equal(t, summaries(diags), tt.want, tt.variable, tt.value)
	}
}

// The programs expand users' directories and variables in the path of a bundle, and read it whatever its size.
func TestDecode_FilesOfCertificates(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.pem")
	must.Succeed(t, os.WriteFile(large, make([]byte, 2<<20), 0o600))
	for name, want := range map[string]string{
		"~/ca.pem": "", "$HOME/ca.pem": "", filepath.ToSlash(large): "",
		"nofile.pem": "reading custom CA bundle main.tf:1",
	} {
		block := "backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n  custom_ca_bundle = \"" + name + "\"\n}"
		_, diags := backend.Decode(t.Context(), parseBlock(t, block), backend.Options{Product: asTerraform})
		must.Equal(t, summaries(diags), want, name)
	}
}

func TestCompare(t *testing.T) {
	plain := decode(t, `backend "local" { path = "a" }`)
	other := decode(t, `backend "local" { path = "b" }`)
	partial := decode(t, `backend "local" {}`, "path=a")
	elsewhere := decode(t, `backend "inmem" {}`)
	required := decode(t, `backend "consul" { gzip = true }`, "path=p")
	incomplete, _ := backend.Decode(t.Context(), parseBlock(t, `backend "consul" { gzip = true }`), backend.Options{Product: asTerraform})
	wrong, _ := backend.Decode(t.Context(), parseBlock(t, `backend "consul" { gzip = [] }`), backend.Options{Product: asTerraform})
	rehashed := record(t, plain)
	rehashed.Hash = 1
	for _, tt := range []struct {
		name       string
		record     *backend.Record
		config     *backend.Config
		overridden bool
		want       backend.Change
	}{
		{"nothing", nil, nil, false, backend.None},
		{"empty record", &backend.Record{}, nil, false, backend.None},
		{"first time", nil, plain, false, backend.Added},
		{"empty record, first time", &backend.Record{}, plain, true, backend.Added},
		{"the same", record(t, plain), plain, false, backend.Unchanged},
		{"the same, given again", record(t, partial), partial, true, backend.Unchanged},
		{"given no more", record(t, partial), decode(t, `backend "local" {}`), false, backend.Unchanged},
		{"given no more, and required", record(t, required), incomplete, false, backend.Unchanged},
		{"given in part, and required", record(t, required), incomplete, true, backend.Changed},
		{"unusable", record(t, required), wrong, false, backend.Changed},
		{"unusable, first time", nil, wrong, false, backend.Added},
		{"given otherwise", record(t, partial), decode(t, `backend "local" {}`, "path=b"), true, backend.Changed},
		{"now in the block", record(t, partial), plain, false, backend.Rehashed},
		{"other number", rehashed, plain, false, backend.Rehashed},
		{"other values", record(t, plain), other, false, backend.Changed},
		{"other type", record(t, plain), elsewhere, false, backend.Replaced},
		{"gone", record(t, plain), nil, false, backend.Removed},
	} {
		must.Equal(t, tt.record.Compare(tt.config, tt.overridden), tt.want, tt.name)
	}
}

// A record may be from a product with fewer arguments, or with others.
func TestCompare_WithOtherArguments(t *testing.T) {
	config := decode(t, `backend "local" { path = "a" }`)
	for text, want := range map[string]backend.Change{
		`{"path": "a"}`:            backend.Rehashed,
		`{"path": "a", "more": 1}`: backend.Changed,
		`{"path": ["a"]}`:          backend.Changed,
		`null`:                     backend.Changed,
		`[`:                        backend.Changed,
	} {
		path := filepath.Join(t.TempDir(), backend.FileName)
		must.Write(t, path, `{"version": 3, "serial": 1, "lineage": "x", "backend": {"type": "local", "config": `+text+`, "hash": 1}}`)
		r, err := backend.Read(nil, path, getproviders.Product{})
		if text == "[" {
			must.Fail(t, err, backend.ErrFormat)
			continue
		}
		must.Succeed(t, err)
		must.Equal(t, r.Compare(config, false), want, text)
	}
}

func TestDecode_WorkspaceOfACloudBlock(t *testing.T) {
	for text, want := range map[string]string{
		"cloud {\n  workspaces {\n    name = \"w\"\n  }\n}":   "w",
		"cloud {\n  workspaces {\n    tags = [\"w\"]\n  }\n}": "",
		"cloud {}": "",
		"backend \"remote\" {\n  organization = \"o\"\n  workspaces {\n    name = \"w\"\n  }\n}": "",
	} {
		must.Equal(t, decode(t, text).Workspace(), want, text)
	}
}

func TestSave_ThenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".terraform", backend.FileName)
	must.Equal(t, must.Get(backend.Read(nil, path, getproviders.Product{}))(t), nil)
	written := record(t, decode(t, `backend "local" { path = "a" }`))
	must.Succeed(t, written.Save(path))
	before := must.Get(os.Stat(path))(t)
	if runtime.GOOS != "windows" && before.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", before.Mode())
	}
	must.Succeed(t, written.Save(path))
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("a file that is as it should be was replaced (%v)", err)
	}
	read := must.Get(backend.Read(nil, path, getproviders.Product{}))(t)
	if read.Type != "local" || read.Hash != written.Hash || read.Product != "1.15.9" || read.Text("path") != "a" || read.Text("workspace_dir") != "" {
		t.Errorf("got %+v", read)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestRead_Refuses(t *testing.T) {
	for name, content := range map[string]string{"format": `{"version": 4}`, "no version": `{}`, "no JSON": `{`, "empty": ``} {
		path := filepath.Join(t.TempDir(), backend.FileName)
		must.Write(t, path, content)
		must.Fail(t, must.ErrorOf(backend.Read(nil, path, getproviders.Product{})), backend.ErrFormat, name)
	}
	for _, content := range []string{``, `{"version": 3, "remote": {"type": "s3"}}`, `{"version": 3, "state_store": {}}`} {
		path := filepath.Join(t.TempDir(), backend.FileName)
		must.Write(t, path, content)
		must.Fail(t, must.ErrorOf(backend.Read(nil, path, getproviders.Product{})), backend.ErrFormat, content)
		if r, err := backend.Read(nil, path, asOpenTofu); err != nil || r != nil && r.Type != "" {
			t.Errorf("%s: OpenTofu: %+v, %v", content, r, err)
		}
	}
	if _, err := backend.Read(nil, t.TempDir(), getproviders.Product{}); err == nil || errors.Is(err, backend.ErrFormat) {
		t.Errorf("a directory: got %v", err)
	}
}

func TestFiles_States(t *testing.T) {
	const empty = `{"version": 4, "resources": [], "outputs": {}}`
	for _, tt := range []struct {
		name, file, content string
		full                bool
	}{
		{"nothing", "", "", false},
		{"empty file", "terraform.tfstate", "", false},
		{"empty state", "terraform.tfstate", empty, false},
		{"resource", "terraform.tfstate", `{"version": 4, "resources": [{}]}`, true},
		{"output", "[x]/w/terraform.tfstate", `{"version": 4, "outputs": {"a": {}}}`, true},
		{"old", "terraform.tfstate", `{"version": 3, "modules": [{"path": ["root"], "resources": {"a": {}}}]}`, true},
		{"old and empty", "terraform.tfstate", `{"version": 3, "modules": [{"path": ["root"], "resources": {}}]}`, false},
	} {
		dir := t.TempDir()
		if tt.file != "" {
			path := filepath.Join(dir, filepath.FromSlash(tt.file))
			must.Write(t, path, tt.content)
		}
		files := backend.LocalFiles(filepath.Join(dir, "terraform.tfstate"), filepath.Join(dir, "[x]"))
		states := must.Get(files.States(nil))(t)
		for _, s := range states {
			want := tt.full && s.Path == filepath.Join(dir, filepath.FromSlash(tt.file))
			if s.Full != want || s.Stays {
				t.Errorf("%s: got %+v", tt.name, s)
			}
		}
		must.Equal(t, len(states) == 2, strings.Contains(tt.file, "/w/"), states, tt.name)
	}
}

// TestFiles_StatesThatStay: the meaning of a path depends on the file system.
func TestFiles_StatesThatStay(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"d/dev", "d/bare", "other/deep"} {
		must.Succeed(t, os.MkdirAll(filepath.FromSlash(name), 0o755))
	}
	const full = `{"version": 4, "outputs": {"a": {}}}`
	must.Write(t, "s", full)
	must.Write(t, "d/dev/terraform.tfstate", full)
	must.Write(t, "other/s", full)
	linked := must.Symlink("other/deep", "link") == nil
	for _, tt := range []struct{ path, others, want string }{
		{"s", "d", "default bare dev"},
		{filepath.Join(dir, "s"), filepath.Join(dir, "d"), "default bare dev"},
		{"./s", "other/../d", "default bare dev"},
		{"link/../s", "link/../d", "bare dev"}, // all programs clean the path of a directory, so that only s is below other
		{"other/s", "d", "bare dev"},
		{"s", "missing", "default"},
		{"d/dev/terraform.tfstate", "missing", ""},
	} {
		t.Run(tt.path+" in "+tt.others, func(t *testing.T) {
			if (runtime.GOOS == "windows" || !linked) && strings.HasPrefix(tt.path, "link") {
				t.Skip("no symbolic links here, or, on Windows, \"..\" takes them away")
			}
			next := backend.LocalFiles(filepath.FromSlash(tt.path), filepath.FromSlash(tt.others))
			states := must.Get(backend.LocalFiles("s", "d").States(&next))(t)
			var stay []string
			for _, s := range states {
				if s.Stays {
					stay = append(stay, s.Workspace)
				}
			}
			must.Equal(t, strings.Join(stay, " "), tt.want)
		})
	}
}
