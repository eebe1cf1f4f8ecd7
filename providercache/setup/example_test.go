package setup_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
	"github.com/tfdeps/tfdeps/providercache/setup"
)

// These are the examples of docs/engine.md, each from its first empty line on: TestExamples_AreThoseOfThePage.

func Example_options() {
	// It isn't run: these are the directories of whoever runs the tests.

	home, err := os.UserHomeDir()
	check(err)
	caches, err := os.UserCacheDir()
	check(err)
	env, err := setup.Load(context.Background(), setup.Options{
		User:     cliconfig.User{Environ: os.Environ(), HomeDir: home},
		Product:  getproviders.Terraform("1.15.9"),
		CacheDir: filepath.Join(caches, "tfdeps"),                  // packages are downloaded once for all directories
		StateDir: filepath.Join(home, ".local", "state", "tfdeps"), // packages that haven't changed aren't read again
	})
	check(err)
	defer env.Close()
}

func Example_install() {
	options, dir, done := workplace()
	defer done()

	env, err := setup.Load(context.Background(), options)
	if err != nil {
		log.Fatal(err)
	}
	defer env.Close()
	found, problems := configs.Read(context.Background(), dir, configs.Options{Product: options.Product})
	if problems.HasErrors() {
		log.Fatal(problems)
	}
	lockFile := filepath.Join(dir, depsfile.FileName)
	locks, problems := depsfile.Load(lockFile, options.Product) // empty if there is no file
	if problems.HasErrors() {
		log.Fatal(problems)
	}
	installer := env.Installer(filepath.Join(dir, ".terraform", "providers"))
	locks, report, err := installer.Install(context.Background(), found.Requirements, locks, providercache.Normal)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Outcomes[0].Version, report.Outcomes[0].State, locks.Save(lockFile, options.Product))
	// Output: 1.1.0 fetched <nil>
}

func Example_plan() {
	options, dir, done := workplace()
	defer done()
	env, required := loaded(options, dir)

	plan, err := env.Installer(filepath.Join(dir, "providers")).Plan(context.Background(), required, nil, providercache.Normal)
	check(err)
	for _, s := range plan.Fetch {
		fmt.Println("would fetch", s.Provider.Type, s.Version)
	}
	// Output: would fetch widget 1.1.0
}

func Example_check() {
	options, dir, done := workplace()
	defer done()
	env, required := loaded(options, dir)

	status, err := env.Installer(filepath.Join(dir, "providers")).Check(context.Background(), required, nil)
	check(err)
	for _, reason := range status.Reasons {
		fmt.Println(reason.Code)
	}
	// Output: lock_missing_provider
}

func Example_ensure() {
	options, dir, done := workplace()
	defer done()
	env, _ := loaded(options, dir)

	provider, err := options.Product.ParseProvider("registry.example.com/acme/widget")
	check(err)
	ready, err := env.Installer(filepath.Join(dir, "providers")).Ensure(context.Background(), provider, getproviders.MustParseConstraints("~> 1.0.0"))
	check(err)
	fmt.Println(filepath.Base(ready.Executable))
	// Output: terraform-provider-widget_v1.0.0
}

func Example_lock() {
	options, dir, done := workplace()
	defer done()
	env, required := loaded(options, dir)

	results, err := env.Fetcher.Lock(context.Background(), providercache.LockRequest{
		Requirements: required,
		Platforms:    []getproviders.Platform{{OS: "linux", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"}},
	})
	check(err)
	for _, p := range results[0].Packages {
		fmt.Println(p.Platform, p.H1.Scheme(), p.ZH.Scheme())
	}
	// Output:
	// linux_amd64 h1 zh
	// darwin_arm64 h1 zh
}

func Example_mirror() {
	options, dir, done := workplace()
	defer done()
	env, required := loaded(options, dir)

	to, err := env.Destination(context.Background(), filepath.Join(dir, "mirror")) // or a bucket, or a registry of images
	check(err)
	platforms := []getproviders.Platform{{OS: "linux", Arch: "amd64"}}
	results, err := env.Fetcher.Lock(context.Background(), providercache.LockRequest{Requirements: required, Platforms: platforms})
	check(err)
	var wanted []mirror.Spec
	for _, spec := range providercache.PackageSpecs(results[0].Locks) {
		wanted = append(wanted, mirror.Spec{PackageSpec: spec, Locked: true})
	}
	result, err := mirror.Update(context.Background(), env.Fetcher, to, wanted, mirror.Options{Platforms: platforms})
	fmt.Println(len(result.Packages), err)
	// Output: 1 <nil>
}

func Example_policy() {
	options, dir, done := workplace()
	defer done()

	options.Policy = func(_ context.Context, c getproviders.Candidate) error {
		if c.Authentication.TrustLevel < getproviders.LevelPartner {
			return fmt.Errorf("%s is only %s", c.Provider.Type, c.Authentication.TrustLevel)
		}
		return nil
	}
	env, required := loaded(options, dir)
	_, _, err := env.Installer(filepath.Join(dir, "providers")).Install(context.Background(), required, nil, providercache.Normal)
	fmt.Println(getproviders.CodeOf(err))
	// Output: refused_by_policy
}

func Example_progress() {
	options, dir, done := workplace()
	defer done()

	options.Observe = func(_ context.Context, e event.Event) { // one event at a time
		if e.State == event.Fetched {
			fmt.Println(e.Provider.Type, e.Version, e.Authentication.TrustLevel)
		}
	}
	env, required := loaded(options, dir)
	_, _, err := env.Installer(filepath.Join(dir, "providers")).Install(context.Background(), required, nil, providercache.Normal)
	check(err)
	// Output: widget 1.1.0 self-signed
}

func Example_unsaved() {

	buffers := fstest.MapFS{
		"live/main.tf":        {Data: []byte("module \"net\" {\n  source = \"../modules/net\"\n}\n")},
		"modules/net/main.tf": {Data: []byte("resource \"acme_network\" \"main\" {}\n")},
	}
	found, problems := configs.Read(context.Background(), "live", configs.Options{FS: buffers})
	for _, p := range found.Requirements.Providers() {
		at := found.Requirements[p][0].Pos
		fmt.Println(p, at.Module, filepath.ToSlash(at.File), at.Line, problems.HasErrors())
	}
	// Output: registry.terraform.io/hashicorp/acme module.net modules/net/main.tf 1 false
}

func Example_serve() {
	options, dir, done := workplace()
	defer done()
	env, _ := loaded(options, dir)

	handler, err := mirrorserver.Handler(env.Fetcher, blob.NewDirectory(filepath.Join(dir, "served")), mirrorserver.Options{})
	check(err)
	defer handler.Close()
	server := httptest.NewServer(handler) // an http.Server with TLS in earnest
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/registry.example.com/acme/widget/index.json")
	check(err)
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode)
	// Output: 200
}

// workplace is a directory that requires a provider of a registry, and what a program would say of its user.
func workplace() (options setup.Options, dir string, done func()) {
	registry, err := providertest.NewRegistry(providertest.Options{})
	check(err)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		for platform := range map[getproviders.Platform]bool{linux: true, {OS: "darwin", Arch: "arm64"}: true, getproviders.CurrentPlatform(): true} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform})
		}
	}
	dir, err = os.MkdirTemp("", "")
	check(err)
	const host = "registry.example.com"
	environ, err := registry.Env(dir, host)
	check(err)
	check(os.WriteFile(filepath.Join(dir, "main.tf"), []byte("terraform {\n  required_providers {\n    widget = { source = \""+host+"/acme/widget\" }\n  }\n}\n"), 0o600))
	options = setup.Options{
		User: cliconfig.User{Environ: environ, HomeDir: dir}, Product: getproviders.Terraform("1.15.9"), Client: registry.Client(),
		CacheDir: filepath.Join(dir, "cache"), StateDir: filepath.Join(dir, "state"),
	}
	return options, dir, func() {
		registry.Close()
		check(os.RemoveAll(dir))
	}
}

// loaded is what the first example begins with.
func loaded(options setup.Options, dir string) (*setup.Environment, getproviders.Requirements) {
	env, err := setup.Load(context.Background(), options)
	check(err)
	found, problems := configs.Read(context.Background(), dir, configs.Options{Product: options.Product})
	if problems.HasErrors() {
		log.Fatal(problems)
	}
	env.Fetcher.Platform = linux
	return env, found.Requirements
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
