package backend_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/must"
)

var update = flag.Bool("update", false, "write testdata/records.txt again")

// fullBlocks has every type with all arguments of its blocks, by the table of Terraform 1.15.9.
// Version 1.11.4 writes the same records where a test can compare: see TestRecord_SameAsTerraform.
var fullBlocks = []struct {
	text, given string // each option behind a bar
}{
	{text: `backend "azurerm" {
  storage_account_name      = "a"
  container_name            = "c"
  key                       = "k"
  use_oidc                  = true
  use_aks_workload_identity = false
  snapshot                  = "true"
}`, given: "|access_key=secret"},
	{text: `cloud {
  organization = "o"
  workspaces {
    tags = ["b", "a"]
  }
}`},
	{text: `cloud {
  hostname = "h"
  workspaces {
    project = "p"
    tags    = { a = "b" }
  }
}`},
	{text: `backend "consul" {
  path = "p"
  gzip = true
}`, given: "|access_token=secret"},
	{text: `backend "cos" {
  bucket = "b"
  region = "r"
  assume_role {
    role_arn         = "a"
    session_name     = "s"
    session_duration = "60"
  }
  assume_role {
    role_arn     = "b"
    session_name = "s"
  }
}`, given: "|secret_key=secret"},
	{text: `backend "gcs" {
  bucket                                = "b"
  impersonate_service_account_delegates = ["b", "a"]
}`, given: "|access_token=secret"},
	{text: `backend "http" {
  address        = "http://localhost"
  retry_max      = 2
  retry_wait_min = 15
}`, given: "|password=secret|retry_wait_max=3"},
	{text: `backend "inmem" { lock_id = "l" }`},
	{text: `backend "kubernetes" {
  labels = { b = 1, a = "2" }
  exec {
    api_version = "v1"
    command     = "c"
    args        = ["b", "a"]
    env         = { A = "b" }
  }
}`, given: `|secret_suffix=s|config_paths=["b", "a"]|token=secret`},
	{text: `backend "local" { path = "<a> & \"é\"" }`, given: "|workspace_dir=w=x"},
	{text: `backend "oci" {
  bucket    = "b"
  namespace = "n"
}`, given: "|private_key=secret"},
	{text: `backend "oss" {
  bucket                   = "b"
  tablestore_instance_name = "i"
  assume_role {
    role_arn = "a"
  }
}`, given: "|secret_key=secret"},
	{text: `backend "pg" { skip_schema_creation = true }`, given: "|conn_str=postgres://u:secret@h/d"},
	{text: `backend "remote" {
  organization = "o"
  workspaces {
    prefix = "p-"
  }
}`, given: "|token=secret"},
	{text: `backend "s3" {
  bucket              = "b"
  region              = "r"
  allowed_account_ids = ["210987654321", "123456789012"]
  endpoints           = { s3 = "e" }
  assume_role = {
    role_arn            = "arn:aws:iam::1:role/a"
    tags                = { b = "1", a = "2" }
    transitive_tag_keys = ["b", "a"]
  }
  assume_role_with_web_identity = { role_arn = "arn:aws:iam::1:role/a" }
}`, given: `|key=k|secret_key=secret|shared_config_files=["b","a"]`},
}

func TestRecord_OfAllTypes(t *testing.T) {
	var got strings.Builder
	types := map[string]bool{}
	for _, b := range fullBlocks {
		given := strings.Split(b.given, "|")[1:]
		config := decode(t, b.text, given...)
		types[config.Type] = true
		content := must.Get(record(t, config).Encode())(t)
		fmt.Fprintf(&got, "# %s %s\n%s\n", strings.Join(strings.Fields(b.text), " "), strings.Join(given, " "), content)
		if path := filepath.Join(t.TempDir(), backend.FileName); len(given) > 0 {
			must.Write(t, path, string(content))
			read := must.Get(backend.Read(nil, path, getproviders.Product{}))(t)
			must.Equal(t, read.Compare(config, true), backend.Unchanged, config.Type)
		}
	}
	must.Len(t, types, 14, "types have a record")
	golden := "testdata/records.txt"
	if *update {
		must.Write(t, golden, got.String())
	}
	want := must.Get(os.ReadFile(golden))(t)
	must.Equal(t, got.String(), strings.ReplaceAll(string(want), "\r\n", "\n"), golden)
}
