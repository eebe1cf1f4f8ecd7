package peers

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// TestBackend_OfEveryKindLeavesNoStateBehind changes each kind of backend to other settings and to each other kind, with each option that
// moves or keeps state. The real program does the same in its own directory, against services that have no state.
//
//   - If tfdeps succeeds, the record is that of the new backend, and the real program didn't refuse the backend before it asked a service.
//   - If tfdeps refuses, no file has changed.
//
// A fixed sample of the cases runs, see [inSample], and from none to each kind: then the records of both programs are the same.
func TestBackend_OfEveryKindLeavesNoStateBehind(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, programs [2]string, env func(...string) []string) {
		cloud := storagetest.StartCloud(t)
		k := kindPlaces{url: cloud.URL, programs: programs, env: env(cloud.Env...), records: map[string]string{}}
		for kind := range backendKinds {
			k.record(t, k.block(kind, "one"))
			k.record(t, k.block(kind, "two"))
		}
		for _, before := range slices.Sorted(maps.Keys(backendKinds)) {
			t.Run("from "+before, func(t *testing.T) {
				t.Parallel()
				from := k
				from.before = before
				from.compareAll(t)
			})
		}
	})
}

// backendKinds has a block for each kind of backend. URL and HOST are the services, and ONE is what makes another state of it.
var backendKinds = map[string]string{
	"none":  "",
	"local": `backend "local" { path = "ONE.tfstate" }`,
	"azurerm": `backend "azurerm" {
  storage_account_name = "abc"
  container_name       = "ccc"
  key                  = "ONE"
  access_key           = "QUJDREVG"
}`,
	"cloud": `cloud {
  hostname     = "ONE.example.com"
  organization = "o"
  token        = "t"
  workspaces {
    name = "w"
  }
}`,
	"consul": `backend "consul" {
  path    = "ONE"
  address = "HOST"
  scheme  = "http"
}`,
	"cos": `backend "cos" {
  bucket     = "b-1250000000"
  region     = "ap-guangzhou"
  secret_id  = "a"
  secret_key = "s"
  prefix     = "ONE"
}`,
	"gcs": `backend "gcs" {
  bucket                  = "b"
  prefix                  = "ONE"
  access_token            = "t"
  storage_custom_endpoint = "URL/storage/v1/b"
}`,
	"http": `backend "http" { address = "URL/v1/ONE" }`,
	"kubernetes": `backend "kubernetes" {
  secret_suffix = "ONE"
  config_path   = "kubeconfig"
}`,
	"oci": `backend "oci" {
  bucket    = "b"
  namespace = "n"
  key       = "ONE"
}`,
	"oss": `backend "oss" {
  bucket     = "bbb"
  region     = "cn-beijing"
  access_key = "a"
  secret_key = "s"
  endpoint   = "URL"
  prefix     = "ONE"
}`,
	"pg": `backend "pg" {
  conn_str    = "postgres://tf@127.0.0.1:1/db?sslmode=disable"
  schema_name = "ONE"
}`,
	"remote": `backend "remote" {
  hostname     = "ONE.example.com"
  organization = "o"
  token        = "t"
  workspaces {
    name = "w"
  }
}`,
	"s3": `backend "s3" {
  bucket                      = "b"
  key                         = "ONE"
  region                      = "us-east-1"
  access_key                  = "a"
  secret_key                  = "s"
  use_path_style              = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  endpoints                   = { s3 = "URL" }
}`,
}

const kubeconfig = `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": "URL"}}], "users": [{"name": "u", "user": {}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}`

// kindContents are the local states before the change, in the default files.
var kindContents = map[string]map[string]string{
	"no local state":     nil,
	"local state":        {"default": "usual"},
	"local workspace":    {"dev": "usual dev"},
	"several workspaces": {"default": "usual", "dev": "usual dev"},
}

// refusals are the errors of the real programs that refuse a backend without asking its service.
var refusals = []string{"Backend configuration changed", "Invalid command-line option", "Error asking for state migration action", "Can't ask approval"}

// kindPlaces changes from one kind of backend to others.
type kindPlaces struct {
	url, before string
	programs    [2]string
	env         []string
	records     map[string]string // of the backends that the version has, by their configurations
}

// block returns the configuration of a kind of backend, with one of two settings.
func (k kindPlaces) block(kind, setting string) string {
	block := strings.NewReplacer("URL", k.url, "HOST", strings.TrimPrefix(k.url, "http://"), "ONE", setting).Replace(backendKinds[kind])
	return strings.ReplaceAll(backendConfig, "BACKEND", block)
}

func (k kindPlaces) write(t *testing.T, dir, config string) {
	must.Write(t, filepath.Join(dir, "main.tf"), config)
	must.Write(t, filepath.Join(dir, "kubeconfig"), strings.ReplaceAll(kubeconfig, "URL", k.url))
}

func (k kindPlaces) init(t *testing.T, program, dir, config string, options ...string) harness.Ended {
	k.write(t, dir, config)
	env := append(slices.Clone(k.env), "TF_WORKSPACE=")
	return harness.Exec(t, dir, env, append([]string{program, "init", "-no-color", "-input=false"}, options...)...)
}

// record has tfdeps record the backend of a configuration in a new directory.
func (k kindPlaces) record(t *testing.T, config string) {
	t.Helper()
	dir := t.TempDir()
	switch end := k.init(t, k.programs[0], dir, config); {
	case strings.Contains(end.Said(), "Unsupported backend type"):
	case end.Code != 0:
		t.Fatalf("tfdeps doesn't record the backend: %s", end)
	default:
		k.records[config] = recordOf(dir)
	}
}

func (k kindPlaces) compareAll(t *testing.T) {
	isLocal := func(kind string) bool { return kind == "none" || kind == "local" }
	for _, after := range slices.Sorted(maps.Keys(backendKinds)) {
		if isLocal(k.before) && isLocal(after) {
			continue // see TestBackend_LeavesNoStateBehind
		}
		for _, option := range slices.Sorted(maps.Keys(stateOptions)) {
			for _, content := range slices.Sorted(maps.Keys(kindContents)) {
				name := "to " + after + "/" + option + "/" + content
				first := k.before == "none" && option == "plain" && content == "no local state"
				if first || inSample(t.Name()+"/"+name) {
					t.Run(name, func(t *testing.T) { k.compare(t, after, stateOptions[option], kindContents[content]) })
				}
			}
		}
	}
}

// compare changes, with both programs, from the kind before to another kind, or to another setting of it.
func (k kindPlaces) compare(t *testing.T, after string, options []string, content map[string]string) {
	t.Helper()
	config := k.block(after, "two")
	record, is := k.records[k.block(k.before, "one")]
	if !is {
		t.Skip("the version has no such backend")
	}
	want := k.records[config]
	var ends [2]harness.Ended
	var before, left [2]map[string]harness.File
	var records [2]string
	for i, program := range k.programs {
		dir := t.TempDir()
		if record != "" {
			must.Write(t, filepath.Join(dir, ".terraform/terraform.tfstate"), record)
		}
		for workspace, text := range content {
			must.Write(t, stateFile(dir, "", "", workspace), stateText(text))
		}
		k.write(t, dir, config)
		before[i] = harness.Files(t, dir)
		ends[i] = k.init(t, program, dir, config, options...)
		left[i], records[i] = harness.Files(t, dir), recordOf(dir)
	}
	refused := slices.ContainsFunc(refusals, func(text string) bool { return strings.Contains(ends[1].Said(), text) })
	switch {
	case ends[0].Code != 0 && !maps.Equal(before[0], left[0]):
		t.Errorf("tfdeps refuses, and has changed files: %v, which were %v", left[0], before[0])
	case ends[0].Code != 0:
	case records[0] != want:
		t.Errorf("tfdeps succeeds, and the record is\n%s\nand not\n%s", records[0], want)
	case refused:
		t.Errorf("tfdeps succeeds where %s refuses:\n%s", k.programs[1], ends[1])
	case ends[1].Code == 0 && records[0] != records[1]:
		t.Errorf("the record is\n%s\nand that of %s\n%s", records[0], k.programs[1], records[1])
	}
}

func recordOf(dir string) string {
	src, _ := os.ReadFile(filepath.Join(dir, ".terraform/terraform.tfstate"))
	return string(src)
}
