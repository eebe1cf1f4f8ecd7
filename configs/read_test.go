package configs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/combine"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
)

var asTerraform, asOpenTofu = getproviders.Terraform("1.15.9"), getproviders.OpenTofu("1.12.6")

// files maps slash-separated names to contents.
type files = map[string]string

const (
	stateOfWidget = `{"version": 4, "resources": [{"mode": "managed", "provider": "provider[\"example.com/acme/widget\"]"}]}`
	lockOfGadget  = `provider "example.com/acme/gadget" {
  version = "1.0.0"
}
`
)

// write makes a directory of files, and returns its name.
func write(t *testing.T, files files) string {
	t.Helper()
	return must.WriteAll(t, t.TempDir(), files)
}

// types are the types of the providers that are required.
func types(req getproviders.Requirements) string {
	var names []string
	for _, p := range req.Providers() {
		names = append(names, p.Type)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestRead_TakesTheStateThatCounts(t *testing.T) {
	const config = `terraform {
  required_providers { thing = { source = "example.com/acme/thing" } }
}
`
	record := func(fields string) string { return `{"version":3,"backend":{"type":` + fields + `,"hash":1}}` }
	for _, tc := range []struct {
		name    string
		files   files
		opts    configs.Options
		want    string
		unknown bool
	}{
		{name: "no state", want: "thing"},
		{name: "the usual file", files: files{"terraform.tfstate": stateOfWidget}, want: "thing widget"},
		{name: "the lock file isn't one", files: files{".terraform.lock.hcl": lockOfGadget}, want: "thing"},
		{name: "a workspace", want: "thing widget", files: files{
			"terraform.tfstate.d/w/terraform.tfstate": stateOfWidget, ".terraform/environment": "w\n"}},
		{name: "a workspace that is given", want: "thing widget", opts: configs.Options{Workspace: "w"}, files: files{
			"terraform.tfstate.d/w/terraform.tfstate": stateOfWidget}},
		{name: "a local backend", want: "thing widget", files: files{
			".terraform/terraform.tfstate": record(`"local","config":{"path":"other"}`), "other": stateOfWidget}},
		{name: "another data directory", want: "thing widget", opts: configs.Options{DataDir: "data"}, files: files{
			"data/terraform.tfstate": record(`"local","config":{"path":"other"}`), "other": stateOfWidget}},
		{name: "a backend", want: "gadget thing", unknown: true, files: files{
			".terraform/terraform.tfstate": record(`"s3","config":{}`), ".terraform.lock.hcl": lockOfGadget}},
		{name: "a backend that isn't initialized", want: "gadget thing", unknown: true, files: files{
			"backend.tf": "terraform {\n  backend \"s3\" {}\n}\n", "terraform.tfstate": stateOfWidget, ".terraform.lock.hcl": lockOfGadget}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.files == nil {
				tc.files = map[string]string{}
			}
			tc.files["main.tf"] = config
			tc.opts.Product = asTerraform
			found, problems := configs.Read(t.Context(), write(t, tc.files), tc.opts)
			must.Len(t, problems, 0)
			must.Equal(t, types(found.Requirements), tc.want)
			must.Equal(t, found.StateUnknown, tc.unknown)
		})
	}
}

func TestRead_TakesTheModulesThatAreInstalled(t *testing.T) {
	dir := write(t, files{
		"main.tf":   "module \"a\" {\n  source = \"./m\"\n}\nmodule \"b\" {\n  source = \"acme/b/c\"\n}\n",
		"m/main.tf": `resource "thing_x" "y" {}`,
		"b/main.tf": `resource "gadget_x" "y" {}`,
		".terraform/modules/modules.json": `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./m","Dir":"m"},` +
			`{"Key":"b","Source":"registry.terraform.io/acme/b/c","Version":"1.0.0","Dir":"b"}]}`,
	})
	found, problems := configs.Read(t.Context(), dir, configs.Options{}) // for Terraform
	if got := fmt.Sprint(found.Requirements.Providers()); got != "[registry.terraform.io/hashicorp/gadget registry.terraform.io/hashicorp/thing]" || problems.HasErrors() {
		t.Errorf("required are %s, problems %v", got, problems)
	}
	must.Succeed(t, os.Remove(filepath.Join(dir, ".terraform/modules/modules.json")))
	_, problems = configs.Read(t.Context(), dir, configs.Options{Product: asTerraform})
	must.Len(t, problems, 2)
	for _, p := range problems {
		if outdated, ok := p.Extra.(modules.Outdated); !ok || outdated.Code != modules.Absent {
			t.Errorf("a module that isn't installed is the problem %v", p)
		}
	}
}

func TestRead_TellsAnUnfitVersionAlone(t *testing.T) {
	dir := write(t, files{"main.tf": "terraform {\n  required_version = \">= 99\"\n}\nnonsense {}\n"})
	_, problems := configs.Read(t.Context(), dir, configs.Options{Product: asTerraform})
	if len(problems) != 1 || problems[0].Summary != "Unsupported Terraform Core version" {
		t.Errorf("the problems are %v", problems)
	}
}

// TestRead_OfNoDirectoryIsAnError: nothing is required by a directory that is misspelt.
func TestRead_OfNoDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.tf")
	must.Write(t, file, "")
	for path, want := range map[string]string{
		filepath.Join(dir, "lvie"): "doesn't exist",
		file:                       "is not a directory",
	} {
		_, problems := configs.Read(t.Context(), path, configs.Options{})
		if !problems.HasErrors() || !strings.Contains(problems[0].Detail, path) || !strings.Contains(problems[0].Detail, want) {
			t.Errorf("%s: %v", path, problems)
		}
	}

	_, problems := configs.Read(t.Context(), "lvie", configs.Options{FS: fstest.MapFS{"live/main.tf": {}}})
	if !problems.HasErrors() || !strings.Contains(problems[0].Detail, "lvie") {
		t.Errorf("in an FS: %v", problems)
	}
}

func TestRead_SaysWhatCannotBeRead(t *testing.T) {
	for file, want := range map[string]string{
		"terraform.tfstate":               "Error loading state",
		".terraform/terraform.tfstate":    "Error loading state",
		".terraform/modules/modules.json": "failed to read module manifest",
		".terraform.lock.hcl":             "Argument or block definition required",
	} {
		dir := write(t, files{"main.tf": "", file: "}{"})
		_, problems := configs.Read(t.Context(), dir, configs.Options{Product: asTerraform})
		if !problems.HasErrors() || problems[0].Summary != want {
			t.Errorf("%s: the problems are %v, want %q", file, problems, want)
		}
	}
}

func TestCombine_NamesLegacyAddresses(t *testing.T) {
	dir := write(t, files{"main.tf": "", "terraform.tfstate": `{"version": 4, "resources": [{"mode": "managed", "provider": "provider.old"}]}`})
	found, problems := configs.Read(context.Background(), dir, configs.Options{Product: asTerraform})
	must.Len(t, problems, 1)
	if legacy, ok := problems[0].Extra.(combine.LegacyProvider); !ok || legacy.Provider.Type != "old" {
		t.Errorf("the problem is %v", problems[0])
	}
	must.Equal(t, types(found.Requirements), "old")
}

func TestCombine_TakesAddressesOfThePredecessorForTheProducts(t *testing.T) {
	const state = `{"version": 4, "resources": [{"mode": "managed", "provider": "provider[\"registry.terraform.io/acme/a\"]"}]}`
	dir := write(t, files{"main.tofu": "", "terraform.tfstate": state})
	for keep, want := range map[bool]string{false: "registry.opentofu.org/acme/a", true: "registry.terraform.io/acme/a"} {
		found, problems := configs.Read(t.Context(), dir,
			configs.Options{Product: asOpenTofu, KeepStateAddresses: keep})
		all := found.Requirements.Providers()
		if problems.HasErrors() || len(all) != 1 || all[0].String() != want {
			t.Errorf("required are %v, problems %v; want %s", all, problems, want)
		}
	}
}
