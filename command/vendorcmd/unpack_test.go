package vendorcmd

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/bundle"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// The files of these tests: packages of a provider, and modules.
const (
	pluginsOfWidget = "terraform.d/plugins/registry.terraform.io/acme/widget/"
	packageOfWidget = pluginsOfWidget + "1.0.0/linux_amd64/terraform-provider-widget"
	archiveOfWidget = pluginsOfWidget + "terraform-provider-widget_1.0.0_linux_amd64.zip"
	moduleNet       = ".terraform/modules/net/main.tf"
	moduleRecords   = ".terraform/modules/modules.json"
)

// TestUnpack_RefusesWhatIsNotLocked has archives of an attacker who tries to replace the locked
// package.
func TestUnpack_RefusesWhatIsNotLocked(t *testing.T) {
	good, evil := h1Of(t, "terraform-provider-widget", "good"), h1Of(t, "terraform-provider-widget", "evil")
	zh, net, other := getproviders.Hash("zh:"+strings.Repeat("0", 64)), h1Of(t, "main.tf", "good"), h1Of(t, "main.tf", "evil")
	const providers, modulesFile = depsfile.FileName, modulelock.FileName
	present := tree{"main.tf": "", providers: "# mine\n" + locked(t, "acme/widget@1.0.0", good, zh), packageOfWidget: "good",
		modulesFile: lockedModule("net@1.0.0", net), moduleNet: "good", moduleRecords: "{}"}
	brought := tree{packageOfWidget: "evil"}
	const home, records0 = ".terraform/modules/net", moduleRecords
	for name, tt := range map[string]struct {
		bundle tree
		want   string // with bars
	}{
		"a hash more": {
			brought.with(tree{providers: locked(t, "acme/widget@1.0.0", good, zh, evil)}), "acme/widget 1.0.0|" + string(evil) + "|-accept-hash"},
		"other hashes": {brought.with(tree{providers: locked(t, "acme/widget@1.0.0", evil)}), "acme/widget 1.0.0|" + string(evil)},
		"a hash more, and another one": {
			brought.with(tree{providers: locked(t, "acme/widget@1.0.0", good, zh, evil, "zh:"+getproviders.Hash(strings.Repeat("1", 64)))}), "zh:1111"},
		"a newer version": {
			tree{pluginsOfWidget + "1.0.1/linux_amd64/terraform-provider-widget": "evil", providers: locked(t, "acme/widget@1.0.1", evil)},
			"acme/widget 1.0.1, where 1.0.0 is locked|" + string(evil)},
		"another version with the hashes": {tree{providers: locked(t, "acme/widget@1.0.1", good, zh)}, "1.0.1, where 1.0.0 is locked|" + string(good)},
		"another version without a hash":  {tree{providers: locked(t, "acme/widget@1.0.1")}, "1.0.1, where 1.0.0 is locked|without any hash"},
		"a hash that looks like another scheme": {
			tree{providers: strings.Replace(locked(t, "acme/widget@1.0.0", good, zh), `"zh:`, "\"h2:new\",\n    \"zh:", 1)}, "h2:new"},
		"by way of a link": {
			brought.with(tree{providers: "-> " + home + "/lock", home + "/lock": locked(t, "acme/widget@1.0.0", good, zh, evil)}), string(evil)},
		"another package, the same lock file": {brought.with(tree{providers: present[providers]}), "acme/widget 1.0.0|" + string(evil)},
		"another package, no lock file":       {brought, "acme/widget 1.0.0|" + string(evil)},
		"a directory, and hashes of archives": {brought.with(tree{providers: locked(t, "acme/widget@1.0.0", zh)}), string(evil)},
		"an archive of another package":       {tree{archiveOfWidget: zipped("evil"), packageOfWidget: "good"}, archiveOfWidget + "|" + string(evil)},
		"an archive by way of a link":         {tree{archiveOfWidget: "-> ../../../../../" + home + "/x", home + "/x": zipped("evil")}, string(evil)},
		"another hash of a module":            {tree{modulesFile: lockedModule("net@1.0.0", other), moduleNet: "evil"}, "module net|" + string(other) + "|-accept-hash"},
		"another version of a module":         {tree{modulesFile: lockedModule("net@2.0.0", net), moduleNet: "good"}, "module net|version|" + string(net)},
		"another module, the same lock file":  {tree{modulesFile: present[modulesFile], moduleNet: "evil"}, "module net|" + string(other) + "|" + string(net)},
		"another module, no lock file":        {tree{moduleNet: "evil"}, "module net|" + string(other)},
		"what a module's hash leaves out":     {tree{moduleNet: "good", home + "/.hg/main.tf": "evil"}, "module net|.hg"},
		"a module in another place":           {tree{moduleNet: "good", records0: records(".terraform/modules/evil", home+"/inner")}, "module net in .terraform/modules/evil"},
		"one that it calls in another place":  {tree{moduleNet: "good", records0: records(home, ".terraform/modules/evil")}, "module net.inner"},
		"one of the directory's own in another place": {
			tree{moduleNet: "good", records0: strings.Replace(records(home, home), `"Dir":"own"`, `"Dir":"../x/.Terraform/modules/evil"`, 1)}, "module own"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "by way of a link") && !cachetest.HasLinks(t) {
				t.Skip("no symbolic links here")
			}
			dir := must.WriteAll(t, t.TempDir(), present)
			archive, before := tt.bundle.pack(t), treeOf(t, dir)
			code, output := unpackInto(t, dir, archive)
			must.Equal(t, code, 1)
			for _, want := range strings.Split(tt.want+"|Failed to unpack the archive|"+archive, "|") {
				must.Contain(t, strings.Join(strings.Fields(output), " "), want, output)
			}
			if after := treeOf(t, dir); !maps.Equal(before, after) {
				t.Errorf("there was\n%q\nand there is\n%q", before, after)
			}
		})
	}
}

// TestUnpack_KeepsWhatIsLocked: entries that the archive doesn't have stay. Entries for packages that aren't
// locked, and hashes that the user has named, are added.
func TestUnpack_KeepsWhatIsLocked(t *testing.T) {
	good, more := h1Of(t, "terraform-provider-widget", "good"), h1Of(t, "terraform-provider-widget", "more")
	zh, net, other := getproviders.Hash("zh:"+strings.Repeat("0", 64)), h1Of(t, "main.tf", "good"), h1Of(t, "main.tf", "more")
	const providers, modulesFile = depsfile.FileName, modulelock.FileName
	widget, gadget := "# mine\n"+locked(t, "acme/widget@1.0.0", good, zh), locked(t, "acme/gadget@2.0.0", good)
	both := func(version string, hashes ...getproviders.Hash) string {
		locks, problems := depsfile.Decode([]byte(gadget), "", getproviders.Terraform("1.15.9"))
		must.Len(t, problems, 0)
		return lockedToo(t, locks, "acme/widget@"+version, hashes...)
	}
	accept := func(hashes ...getproviders.Hash) (options []string) {
		for _, h := range hashes {
			options = append(options, "-accept-hash="+string(h))
		}
		return options
	}
	for name, tt := range map[string]struct {
		present, bundle tree
		options         []string
		want            tree
	}{
		"first use": {
			tree{}, tree{packageOfWidget: "good", providers: widget, modulesFile: lockedModule("net@1.0.0", net), moduleNet: "good", moduleRecords: records(".terraform/modules/net", ".terraform/modules/net/inner")},
			nil, tree{packageOfWidget: "good", providers: widget, modulesFile: lockedModule("net@1.0.0", net), moduleNet: "good"}},
		"the same":                         {tree{providers: widget}, tree{packageOfWidget: "good", providers: widget}, nil, tree{providers: widget, packageOfWidget: "good"}},
		"an archive whose files are known": {tree{providers: widget}, tree{archiveOfWidget: zipped("good")}, nil, tree{providers: widget}},
		"fewer hashes":                     {tree{providers: widget}, tree{providers: locked(t, "acme/widget@1.0.0", good)}, nil, tree{providers: widget}},
		"fewer entries":                    {tree{providers: both("1.0.0", good, zh)}, tree{providers: gadget}, nil, tree{providers: both("1.0.0", good, zh)}},
		"an entry more":                    {tree{providers: gadget}, tree{packageOfWidget: "good", providers: locked(t, "acme/widget@1.0.0", good)}, nil, tree{providers: both("1.0.0", good)}},
		"a hash that is named": {tree{providers: both("1.0.0", good)}, tree{packageOfWidget: "more", providers: locked(t, "acme/widget@1.0.0", more)},
			accept(more), tree{providers: both("1.0.0", good, more), packageOfWidget: "more"}},
		"a version whose hashes are named": {tree{providers: both("1.0.0", good)}, tree{providers: locked(t, "acme/widget@1.1.0", good, zh)},
			accept(zh, good), tree{providers: both("1.1.0", good, zh)}},
		"fewer modules": {tree{modulesFile: lockedModule("net@1.0.0", net)}, tree{modulesFile: "# none\n"}, nil, tree{modulesFile: lockedModule("net@1.0.0", net)}},
		"a module whose hash is named": {tree{modulesFile: lockedModule("net@1.0.0", net)}, tree{modulesFile: lockedModule("net@1.1.0", other), moduleNet: "more"},
			accept(other), tree{modulesFile: lockedModule("net@1.1.0", other), moduleNet: "more"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := must.WriteAll(t, t.TempDir(), tt.present)
			if code, output := unpackInto(t, dir, tt.bundle.pack(t), tt.options...); code != 0 {
				t.Fatalf("got exit code %d\n%s", code, output)
			}
			for name, want := range tt.want {
				if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); string(got) != want {
					t.Errorf("%s is\n%s\nand should be\n%s\n%v", name, got, want, err)
				}
			}
		})
	}
}

// TestUnpack_AllHashesHaveToBeNamed: to name one of two isn't enough.
func TestUnpack_AllHashesHaveToBeNamed(t *testing.T) {
	good, one, two := h1Of(t, "x", "good"), h1Of(t, "x", "one"), h1Of(t, "x", "two")
	for _, version := range []string{"1.0.0", "1.1.0"} {
		dir := must.WriteAll(t, t.TempDir(), tree{depsfile.FileName: locked(t, "acme/widget@1.0.0", good)})
		archive, before := tree{depsfile.FileName: locked(t, "acme/widget@"+version, one, two)}.pack(t), treeOf(t, dir)
		code, output := unpackInto(t, dir, archive, "-accept-hash="+string(one))
		if code != 1 || !strings.Contains(output, string(two)) || !maps.Equal(before, treeOf(t, dir)) {
			t.Errorf("%s: exit code %d\n%s", version, code, output)
		}
	}
}

// tree is the content of a directory, by path. A content that begins with "-> " is a symlink.
type tree map[string]string

// with returns the tree with added or changed files.
func (tr tree) with(more tree) tree {
	all := maps.Clone(tr)
	maps.Copy(all, more)
	return all
}

// pack makes an archive of the tree, as any user can.
func (tr tree) pack(t *testing.T) string {
	t.Helper()
	dir, files, name := t.TempDir(), maps.Clone(tr), filepath.Join(t.TempDir(), "all.tar")
	var entries []bundle.Entry
	for path, content := range tr {
		link, isLink := strings.CutPrefix(content, "-> ")
		if entries = append(entries, bundle.Entry{Path: path}); isLink {
			entries[len(entries)-1].Link = link
			delete(files, path)
		}
	}
	must.WriteAll(t, dir, files)
	var b bytes.Buffer
	must.Get(bundle.Write(t.Context(), &b, dir, entries))(t)
	must.Write(t, name, b.Bytes())
	return name
}

// treeOf returns the content of a directory, with modes and mtimes of files.
func treeOf(t *testing.T, dir string) tree {
	t.Helper()
	all := tree{}
	must.Succeed(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if all[name] = info.Mode().String(); !d.IsDir() {
			content, err := os.ReadFile(path)
			all[name] += info.ModTime().String() + string(content)
			return err
		}
		return nil
	}))
	return all
}

// zipped returns an archive of the provider's package.
func zipped(content string) string {
	return string(providertest.Zip(map[string]string{"terraform-provider-widget": content}))
}

// h1Of returns the hash of a package with one file.
func h1Of(t *testing.T, name, content string) getproviders.Hash {
	t.Helper()
	return must.Get(treehash.Dir(t.Context(), must.WriteAll(t, t.TempDir(), tree{name: content})))(t)
}

// locked returns a lock file for "PROVIDER@VERSION" and hashes.
func locked(t *testing.T, name string, hashes ...getproviders.Hash) string {
	t.Helper()
	return lockedToo(t, &depsfile.Locks{}, name, hashes...)
}

func lockedToo(t *testing.T, locks *depsfile.Locks, name string, hashes ...getproviders.Hash) string {
	t.Helper()
	product := getproviders.Terraform("1.15.9")
	source, version, _ := strings.Cut(name, "@")
	locks.Set(depsfile.Lock{Provider: must.Get(product.ParseProvider(source))(t), Version: getproviders.MustParseVersion(version), Hashes: hashes})
	return string(locks.Encode(product))
}

// lockedModule returns a lock file for modules.
func lockedModule(keyed string, hash getproviders.Hash) string {
	key, version, _ := strings.Cut(keyed, "@")
	locks := modulelock.Locks{}
	locks.Set(modulelock.Lock{Key: key, Source: "registry.terraform.io/acme/net/cloud", Version: version, Hash: hash})
	return string(locks.Encode())
}

func records(dirOfNet, dirOfInner string) string {
	return `{"Modules":[{"Key":"","Source":"","Dir":"."},` +
		`{"Key":"net","Source":"registry.terraform.io/acme/net/cloud","Version":"1.0.0","Dir":"` + dirOfNet + `"},` +
		`{"Key":"net.inner","Source":"./inner","Dir":"` + dirOfInner + `"},{"Key":"own","Source":"./own","Dir":"own"}]}`
}

// unpackInto runs the command.
func unpackInto(t *testing.T, target, archive string, options ...string) (code int, output string) {
	t.Helper()
	var out bytes.Buffer
	meta := &cli.Meta{
		Context: t.Context(), Stdout: &out, Stderr: &out, Now: time.Now, NoColor: true,
		Env: cli.Environment{"PATH=" + t.TempDir(), "TFDEPS_TERRAFORM_VERSION=1.15.9"},
	}
	code = must.Get(run(meta, append(append([]string{"-unpack=" + archive}, options...), target)))(t)
	return code, out.String()
}
