package modules

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// ofThisMachine are addresses of files on this machine, in all spellings.
var ofThisMachine = []string{
	"file:///home/me/private", "file:///home/me/private//sub", "FILE:///home/me/private", "file://localhost/home/me/private",
	"file::file:///home/me/private", "file::/home/me/private", "file:///home/me/private.zip", "file:///home/me/private?archive=zip",
	"git::file:///home/me/private", "git::file:///home/me/private//sub?ref=v1", "git::FILE:///home/me/private", "git::/home/me/private",
	"git::file:///home/me/r.git/private.zip", "hg::file:///home/me/private", "hg::/home/me/private",
	"s3::/home/me/private", "http::file:///home/me/private", "git:///home/me/private",
}

func TestResolver_RegistriesDontLeadToFiles(t *testing.T) {
	locations := append([]string{
		"~/private", "git::~/private", "git::../../private", "github.com/o/r/../../../../private", "github.com/o/r/%2e%2e/%2e%2e/x",
	}, ofThisMachine...)
	for _, location := range locations {
		t.Run(location, func(t *testing.T) {
			t.Parallel()
			registry := newRegistry(t)
			registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "cloud", Version: "1.0.0", Location: location})
			fetcher := &packageSet{}
			p := newProject(t, texts{"main.tf": call("a", "example.com/acme/net/cloud")})
			p.fetcher, p.registries = fetcher, newRegistries(registry)
			words := []string{"Invalid package location from module registry", `module "a"`, "example.com/acme/net/cloud"}
			if strings.Contains(location, "private") && strings.Contains(location, ":/") {
				words = append(words, "/private", "no registry may lead to", "your own configuration")
			}
			p.wantProblem("main.tf", words...)
			must.Len(t, fetcher.asked, 0)
			p.wantNothing()
			must.Refuse(populate(t, fetcher, p.registries, "example.com/acme/net/cloud", t.TempDir()))(t)
			must.Len(t, fetcher.asked, 0)
		})
	}
}

func TestResolver_LocationsInABodyDontLeadToFiles(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	addNet(registry, "1.0.0")
	registry.Break("module/download", providertest.Fault{Status: 200, Header: http.Header{"X-Terraform-Get": nil},
		Body: func([]byte) []byte { return []byte(`{"location":"file:///home/me/private"}`) }})
	for _, product := range []getproviders.Product{asTerraform, asOpenTofu} {
		registries := newRegistries(registry)
		registries.Product = product
		must.Refuse(registries.Locate(t.Context(), netModule, "1.0.0", false))(t, product.Name)
	}
}

// An earlier run may have recorded an address without refusing it.
func TestResolver_RememberedLocationsDontLeadToFiles(t *testing.T) {
	t.Parallel()
	registries := newRegistries(newRegistry(t))
	registries.Store, registries.Offline = t.TempDir(), true
	module := netModule
	module.Subdir = ""
	dir := locationStore(registries.Store).dir(module)
	write(t, dir, "1.0.0.json", `{"module":"example.com/acme/net/cloud","version":"1.0.0","location":"file:///home/me/private"}`)
	must.Fail(t, must.ErrorOf(registries.Select(t.Context(), module, "1.0.0")), ErrOffline)
	must.Fail(t, must.ErrorOf(registries.Locate(t.Context(), module, "1.0.0", false)), ErrOffline)
}

func TestResolver_PackagesDontCallFiles(t *testing.T) {
	for _, source := range ofThisMachine {
		t.Run(source, func(t *testing.T) {
			for from, files := range map[string]texts{
				netURL:           {"main.tf": call("in", source)},
				netURL + "//sub": {"sub/main.tf": call("mid", "../mid"), "mid/main.tf": call("in", source)},
			} {
				fetcher := &packageSet{others: files}
				p := newProject(t, texts{"main.tf": call("a", "./a"), "a/main.tf": call("b", from)})
				p.fetcher = fetcher
				p.wantProblem("main.tf", "Module leads to files of this machine", "module.in", netURL, "/private", "your own configuration")
				must.Len(t, fetcher.asked, 1)
			}
		})
	}
}

// An archive or a repository on this machine is made by other people, too.
func TestResolver_WhatPackagesMayCallFiles(t *testing.T) {
	for source, may := range map[string]bool{
		"/srv/net": true, "file:///srv/net": true, "file::/srv/net//sub": true,
		"/srv/net.zip": false, "file:///srv/net?archive=tgz": false, "git::file:///srv/net": false, "git::/srv/net": false, "hg::/srv/net": false,
		"git::https://h/net.git": false, "github.com/o/net": false, "git@h:o/net.git": false, "s3.amazonaws.com/b/net.zip": false, "https://h/net": false,
	} {
		inner := call("in", "file:///home/me/private") + call("other", "git::file:///home/me/private")
		fetcher := &packageSet{others: texts{"main.tf": inner, "sub/main.tf": inner}}
		p := newProject(t, texts{"main.tf": call("a", "./a"), "a/main.tf": call("b", source)})
		p.fetcher = fetcher
		_, problems := p.install()
		if may && (problems.HasErrors() || len(fetcher.asked) != 3) || !may && (len(problems) != 2 || len(fetcher.asked) != 1) {
			t.Errorf("%s: asked for %v, %v", source, fetcher.asked, problems)
		}
	}
}

// A record, maybe Terraform's, doesn't allow more.
func TestResolver_RecordedModulesDontLeadToFiles(t *testing.T) {
	for _, mode := range []Mode{Normal, AsRecorded, Upgrade} {
		p := newProject(t, texts{
			"main.tf":                      call("a", netURL),
			".terraform/modules/a/main.tf": call("in", "/home/me/private"),
			".terraform/modules/modules.json": `{"Modules":[{"Key":"a","Source":"` + netURL + `","Dir":".terraform/modules/a"},
				{"Key":"a.in","Source":"file:///home/me/private","Dir":".terraform/modules/a.in"}]}`,
			".terraform/modules/a.in/main.tf": "",
		})
		p.mode, p.fetcher = mode, &packageSet{others: texts{"main.tf": call("in", "/home/me/private")}}
		p.wantProblem("a/main.tf", "Module leads to files of this machine", `"file:///home/me/private"`)
	}
}

// A copy is a configuration of the user's own, whose calls may lead anywhere.
func TestResolver_CopiesOfPackagesDontLeadToFiles(t *testing.T) {
	private := t.TempDir()
	for name, files := range map[string]texts{
		"a call":            {"main.tf": call("in", "file:///home/me/private")},
		"a call below":      {"main.tf": call("sub", "./sub"), "sub/main.tf": call("in", "git::/home/me/private")},
		"a path below":      {"main.tf": call("sub", "./sub"), "sub/main.tf": call("in", "../../private")},
		"a link":            {"main.tf": call("in", "./out"), "out": "-> " + private},
		"a computed source": {"main.tf": "variable \"x\" {\n  const   = true\n  default = \"/home/me/private\"\n}\n" + call("in", "${var.x}")},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a link" {
				needSymlinks(t)
			}
			dir := t.TempDir()
			err := populate(t, &packageSet{others: files}, nil, netURL, dir)
			must.Contain(t, err, "module.in")
			must.Contain(t, err, netURL)
			must.Len(t, must.Get(os.ReadDir(dir))(t), 0)
		})
	}
}

// The values of variables may come with the copy, and are known only after it is made.
func TestResolver_CopiedRootsDontLeadToFiles(t *testing.T) {
	for source, foreign := range map[string]bool{netURL: true, "x/y/z": true, "git::/srv/net": true, "./net": false, "/srv/net": false, "": false} {
		for _, inner := range []string{"file:///home/me/private", "../private"} {
			p := newProject(t, texts{"main.tf": call("in", inner)})
			write(t, filepath.Dir(p.dir), "private/main.tf", "")
			p.fetcher, p.copied = &packageSet{others: texts{}}, source
			_, problems := p.install()
			must.Equal(t, problems.HasErrors(), foreign, source, inner, problems)
		}
	}
}

// own returns, for each fetched package, whether the user's own configuration has its address.
func (s *packageSet) own() map[string]bool {
	own := map[string]bool{}
	for _, req := range s.asked {
		own[req.Package] = req.Own
	}
	return own
}

// TestResolver_OnlyAddressesOfTheUserAreOwn: other addresses don't select credentials.
func TestResolver_OnlyAddressesOfTheUserAreOwn(t *testing.T) {
	t.Parallel()
	const inner, located = "s3::https://inner.example/b/k.zip", "s3::https://located.example/b/k.zip"
	registry := newRegistry(t)
	registry.AddModule(providertest.ModuleSpec{Namespace: "acme", Name: "net", System: "cloud", Version: "1.0.0", Location: located})
	for name, c := range map[string]struct {
		root, local string
		copied      string // the address that the root was copied from
		want        map[string]bool
	}{
		"the root":              {root: inner, want: map[string]bool{inner: true}},
		"a directory of it":     {root: "./local", local: call("b", inner), want: map[string]bool{inner: true}},
		"a registry":            {root: "example.com/acme/net/cloud", want: map[string]bool{located: false, inner: false}},
		"a package":             {root: netURL, want: map[string]bool{netURL: true, inner: false}},
		"a package of this one": {root: "/srv/net.zip", want: map[string]bool{"file:///srv/net.zip": true, inner: false}},
		"a directory elsewhere": {root: "/srv/net", want: map[string]bool{"file:///srv/net": true, inner: true}},
		"a copy":                {root: inner, copied: netURL, want: map[string]bool{inner: false}},
	} {
		p := newProject(t, texts{"main.tf": call("a", c.root), "local/main.tf": c.local})
		fetcher := &packageSet{packages: map[string]texts{inner: {"main.tf": ""}}, others: texts{"main.tf": call("in", inner)}}
		p.fetcher, p.registries, p.copied = fetcher, newRegistries(registry), c.copied
		p.save()
		must.DeepEqual(t, fetcher.own(), c.want, name)
	}
	for source, want := range map[string]map[string]bool{inner: {inner: true}, "example.com/acme/net/cloud": {located: false}} {
		fetcher := &packageSet{others: texts{"main.tf": ""}}
		must.Succeed(t, populate(t, fetcher, newRegistries(registry), source, t.TempDir()), source)
		must.DeepEqual(t, fetcher.own(), want, "-from-module", source)
	}
}
