package configs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// onDisk is a ModuleFetcher whose packages contain these files.
type onDisk map[string]string

func (f onDisk) Fetch(_ context.Context, req configs.FetchRequest, dst string) (configs.Fetched, error) {
	text, ok := f[req.Package]
	if !ok {
		return configs.Fetched{}, errors.New("there is no such package")
	}
	return configs.Fetched{}, errors.Join(os.MkdirAll(dst, 0o777), os.WriteFile(filepath.Join(dst, "main.tf"), []byte(text), 0o666))
}

func TestResolver_FetchesWhatIsMissingAndRecordsIt(t *testing.T) {
	t.Parallel()
	dir := write(t, files{
		"main.tf":     "module \"net\" {\n  source = \"git::https://git.example.com/net.git\"\n}\nmodule \"own\" {\n  source = \"./own\"\n}\n",
		"own/main.tf": "terraform {\n  required_version = \">= 1.0\"\n}\nresource \"own_x\" \"y\" {}\n",
	})
	opts := configs.Options{Product: asTerraform}
	var happened []string
	resolver := &configs.Resolver{
		Fetcher: onDisk{"git::https://git.example.com/net.git": "resource \"net_x\" \"y\" {}\n"},
		Observe: func(e configs.ModuleEvent) { happened = append(happened, e.Key+" "+e.Package+e.Dir) },
		DryRun:  true,
	}
	record := filepath.Join(dir, ".terraform/modules/modules.json")
	if _, problems := resolver.Resolve(t.Context(), dir, opts); problems.HasErrors() {
		t.Fatal(problems)
	}
	must.Fail(t, must.ErrorOf(os.Stat(record)), os.ErrNotExist)
	resolver.DryRun, happened = false, nil
	all, problems := resolver.Resolve(t.Context(), dir, opts)
	must.Len(t, problems, 0)
	if len(all) != 3 || len(all[0].Calls) != 2 || all[1].Key != "net" || all[2].Key != "own" || !slices.Equal(all[2].RequiredVersions, []string{">= 1.0"}) {
		t.Errorf("the modules are %+v", all)
	}
	if !slices.ContainsFunc(happened, func(e string) bool { return strings.HasPrefix(e, "net git::https://git.example.com/net.git") }) {
		t.Errorf("events were %q", happened)
	}
	must.Succeed(t, os.Remove(filepath.Join(dir, "own/main.tf")))
	found, _ := configs.Read(t.Context(), dir, opts)
	if got := types(found.Requirements); !strings.Contains(got, "net") || strings.Contains(got, "own") {
		t.Errorf("after that, required are %s", got)
	}
	resolver.Fetcher, resolver.Upgrade = nil, true
	if _, problems := resolver.Resolve(t.Context(), dir, opts); !problems.HasErrors() {
		t.Error("without a Fetcher, what has to be fetched is no problem")
	}
}

func TestResolver_TakesValuesOfVariables(t *testing.T) {
	t.Parallel()
	dir := write(t, files{
		"main.tf": "variable \"x\" {\n  type = string\n}\nmodule \"m\" {\n  source = \"./${var.x}\"\n}\n", "a/main.tf": "", "v.tfvars": "x = \"a\"\n",
	})
	for name, opts := range map[string]configs.Options{
		"an option":       {Variables: []string{"x=a"}},
		"a file":          {Variables: []string{"@" + filepath.Join(dir, "v.tfvars")}},
		"the environment": {Environ: []string{"TF_VAR_x=a"}},
	} {
		opts.Product = getproviders.OpenTofu("1.12.0")
		found, diags := (&configs.Resolver{DryRun: true}).Resolve(t.Context(), dir, opts)
		if diags.HasErrors() || len(found) != 2 || filepath.Base(found[1].Dir) != "a" {
			t.Errorf("%s: %+v, %v", name, found, diags)
		}
	}
}
