package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
	"github.com/tfdeps/tfdeps/providercache/setup"
)

var linux = getproviders.Platform{OS: "linux", Arch: "amd64"}

// TestLoad_InstallsAndMirrorsAsTheCLIConfigurationSays: what is made for a user installs from the user's hosts by way of a cache, fills a
// mirror, and installs from that without any host.
func TestLoad_InstallsAndMirrorsAsTheCLIConfigurationSays(t *testing.T) {
	t.Parallel()
	registry := providertest.New(t)
	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux})
	registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "cloud", Version: "1.2.0", Location: registry.BaseURL() + "/none.zip"})
	dir := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "home"), 0o700))
	env := must.Get(registry.Env(filepath.Join(dir, "home"), string(providertest.Host)))(t)
	o := setup.Options{
		User: cliconfig.User{Environ: env, HomeDir: filepath.Join(dir, "home")}, Product: getproviders.Terraform("1.15.9"),
		CacheDir: filepath.Join(dir, "cache"), StateDir: filepath.Join(dir, "state"), Client: registry.Client(),
	}
	made := must.Get(setup.Load(t.Context(), o))(t)
	made.Fetcher.Platform = linux
	required := getproviders.Requirements{}
	required.Add(registry.Provider("acme", "widget"), getproviders.Requirement{})
	locks, _, err := made.Installer(filepath.Join(dir, "one")).Install(t.Context(), required, nil, providercache.Normal)
	must.Succeed(t, err)
	if made.Cache == nil || made.Cache.Dir != filepath.Join(dir, "cache", "providers", "v1") {
		t.Errorf("the cache is %v", made.Cache)
	}
	must.Get(os.Stat(made.Cache.PackagePath(registry.Provider("acme", "widget"), getproviders.MustParseVersion("1.0.0"), linux)))(t)

	to := must.Get(made.Destination(t.Context(), filepath.Join(dir, "mirror")))(t)
	var specs []mirror.Spec
	for _, s := range providercache.PackageSpecs(locks) {
		specs = append(specs, mirror.Spec{PackageSpec: s, Locked: true})
	}
	must.Get(mirror.Update(t.Context(), made.Fetcher, to, specs, mirror.Options{Platforms: []getproviders.Platform{linux}}))(t)

	must.Write(t, filepath.Join(dir, "live", "main.tf"), "module \"net\" {\n  source = \""+string(providertest.Host)+"/acme/net/cloud\"\n}\n")
	_, problems := made.Modules().Resolve(t.Context(), filepath.Join(dir, "live"), configs.Options{Product: o.Product})
	if !problems.HasErrors() || !strings.Contains(problems.Error(), "none.zip") {
		t.Errorf("the package of a module isn't there, and the problems are %v", problems)
	}
	must.Succeed(t, made.Close())

	o.Mirrors, o.Offline, o.CacheDir = []string{filepath.Join(dir, "mirror")}, true, ""
	offline := must.Get(setup.Load(t.Context(), o))(t)
	defer offline.Close()
	offline.Fetcher.Platform = linux
	before := registry.Requests("")
	must.Equal(t, must.ErrorOf(offline.Installer(filepath.Join(dir, "two")).Install(t.Context(), required, locks, providercache.Normal)), nil)
	must.Equal(t, registry.Requests(""), before)
}

func TestLoad_TellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "rc")
	must.Write(t, file, "provider_installation {\n  direct {\n    include = [\"a b\"]\n  }\n}\n")
	user := cliconfig.User{Environ: []string{"TF_CLI_CONFIG_FILE=" + file}}
	_, err := setup.Load(t.Context(), setup.Options{User: user})
	must.Contain(t, err, file+":3: ")
	must.Write(t, file, strings.Repeat(" ", 32<<20))
	must.NotContain(t, must.ErrorOf(setup.Load(t.Context(), setup.Options{User: user})), ":0: ")
	for location, want := range map[string]string{
		"s3://":                               "s3://BUCKET/PREFIX",
		"ftp://host/a":                        "it has to be",
		"oci://host.example/a":                "${namespace}",
		"https://user:secret1@host.example:x": "unreadable",
	} {
		_, err := setup.Load(t.Context(), setup.Options{Mirrors: []string{location}})
		if err == nil || strings.Contains(err.Error(), "secret1") || want != "unreadable" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", location, err)
		}
	}
	made := must.Get(setup.Load(t.Context(), setup.Options{}))(t)
	defer made.Close()
	must.Refuse(made.Bucket(t.Context(), "nowhere"))(t, "a directory is opened as a bucket's URL")
	must.Refuse(made.Destination(t.Context(), "oci://host.example/a"))(t, "repositories that providers share are a destination")
}
