package getproviders_test

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

const (
	widgetDir    = "registry.example/acme/widget/"
	packedWidget = widgetDir + "terraform-provider-widget_1.0.0_PLATFORM.zip"
)

// treesWithAPackage are mirrors that have the provider for this machine.
// PLATFORM stands for its platform; "dir/!" is an unpacked package in dir; the
// rest is as mirror has it. The provider is registry.example/acme/widget, unless
// the first of two entries is another's address.
var treesWithAPackage = map[string][]string{
	"unpacked":                        {widgetDir + "1.0.0/PLATFORM/!"},
	"packed":                          {packedWidget},
	"unpacked before packed":          {packedWidget, widgetDir + "1.0.0/PLATFORM/!"},
	"short before packed":             {packedWidget, widgetDir + "1.0/PLATFORM/!"},
	"packed, unpacked for another":    {packedWidget, widgetDir + "1.0.0/plan9_arm/!"},
	"newest of both kinds":            {packedWidget, widgetDir + "0.9.0/PLATFORM/!", widgetDir + "1.1.0/PLATFORM/!"},
	"short version":                   {widgetDir + "1/PLATFORM/!"},
	"leading zeros":                   {widgetDir + "01.002.3/PLATFORM/!"},
	"prerelease and release":          {widgetDir + "1.0.0-beta/PLATFORM/!", widgetDir + "0.9.0/PLATFORM/!"},
	"build metadata":                  {widgetDir + "1.0.0+abc/PLATFORM/!"},
	"packed with metadata":            {widgetDir + "terraform-provider-widget_1.0.0+abc_PLATFORM.zip"},
	"packed, short":                   {widgetDir + "terraform-provider-widget_1.0_PLATFORM.zip"},
	"packed, with a remark":           {widgetDir + "terraform-provider-widget_1.0.0_PLATFORM_SIGNED.zip"},
	"packed, with two remarks":        {widgetDir + "terraform-provider-widget_1.0.0_PLATFORM_a_b.zip"},
	"packed, in capitals":             {widgetDir + "Terraform-Provider-WIDGET_1.0.0_PLATFORM.ZIP"},
	"packed, platform in capitals":    {widgetDir + "terraform-provider-widget_1.0.0_" + strings.ToUpper(getproviders.CurrentPlatform().String()) + ".zip"},
	"packed twice":                    {packedWidget, widgetDir + "terraform-provider-widget_1.0.0_PLATFORM_SIGNED.zip"},
	"packed twice, short first":       {widgetDir + "terraform-provider-widget_1.0_PLATFORM.zip", packedWidget},
	"directories in capitals":         {"Registry.Example/ACME/Widget/1.0.0/PLATFORM/!"},
	"packed, directories in capitals": {"Registry.Example/ACME/Widget/terraform-provider-widget_1.0.0_PLATFORM.zip"},
	"several spellings, lower last":   {"registry.example/Acme/widget/1.1.0/PLATFORM/!", "Registry.example/acme/widget/1.2.0/PLATFORM/!"},
	"host with its default port":      {"registry.example:443/acme/widget/1.0.0/PLATFORM/!"},
	"host with a port":                {"registry.example:8443/acme/widget", "registry.example:8443/acme/widget/1.0.0/PLATFORM/!"},
	"host in Unicode":                 {"испытание.example/acme/widget", "испытание.example/acme/widget/1.0.0/PLATFORM/!"},
	"type in decomposed Unicode":      {"registry.example/acme/caf\u00e9", "registry.example/acme/cafe\u0301/1.0.0/PLATFORM/!"},
	"stray files at each level":       {"README", "registry.example/README", "registry.example/acme/README", widgetDir + "README", widgetDir + "1.0.0/README", widgetDir + "1.0.0/PLATFORM/!"},
	"stray directories":               {".git/x/", "lost+found/", "a--b/c/d/", widgetDir + "2.0.0/", widgetDir + "index/", widgetDir + "1.0.0/PLATFORM/!"},
	"index files of a network mirror": {widgetDir + "index.json", widgetDir + "1.0.0.json", packedWidget},
	"link: platform":                  {"elsewhere/!", widgetDir + "1.0.0/PLATFORM -> ../../../../elsewhere"},
	"link: archive":                   {"some.zip", packedWidget + " -> ../../../some.zip"},
	"link: version, beside another":   {widgetDir + "0.9.0/PLATFORM/!", widgetDir + "1.0.0 -> 0.9.0"},
}

// treesWithoutPackage are mirrors that have no package for this machine.
var treesWithoutPackage = map[string][]string{
	"newest for another platform":     {packedWidget, widgetDir + "2.0.0/plan9_arm/!"},
	"for other platforms only":        {widgetDir + "1.0.0/plan9_arm/!", widgetDir + "terraform-provider-widget_1.0.0_plan9_mips.zip"},
	"prefixed version":                {widgetDir + "v1.0.0/PLATFORM/!"},
	"four numbers":                    {widgetDir + "1.0.0.1/PLATFORM/!"},
	"prerelease only":                 {widgetDir + "1.0.0-beta/PLATFORM/!"},
	"packed, prefixed":                {widgetDir + "terraform-provider-widget_v1.0.0_PLATFORM.zip"},
	"packed, of another type":         {widgetDir + "terraform-provider-gadget_1.0.0_PLATFORM.zip"},
	"packed, without platform":        {widgetDir + "terraform-provider-widget_1.0.0.zip"},
	"packed, another ending":          {widgetDir + "terraform-provider-widget_1.0.0_PLATFORM.tar"},
	"packed, a directory":             {widgetDir + "terraform-provider-widget_1.0.0_PLATFORM.zip/!"},
	"packed, a level too deep":        {widgetDir + "1.0.0/terraform-provider-widget_1.0.0_PLATFORM.zip"},
	"packed, a level too high":        {"registry.example/acme/terraform-provider-widget_1.0.0_PLATFORM.zip"},
	"unpacked, a file for a platform": {widgetDir + "1.0.0/PLATFORM"},
	"unpacked, platform in capitals":  {widgetDir + "1.0.0/" + strings.ToUpper(getproviders.CurrentPlatform().String()) + "/!"},
	"unpacked, three words":           {widgetDir + "1.0.0/PLATFORM_SIGNED/!"},
	"host in punycode":                {"испытание.example/acme/widget", "xn--80akhbyknj4f.example/acme/widget/1.0.0/PLATFORM/!"},
	"link: platform, broken":          {widgetDir + "1.0.0/PLATFORM -> nowhere"},
	"link: platform, to a file":       {"file", widgetDir + "1.0.0/PLATFORM -> ../../../../file"},
	"link: platform, to itself":       {widgetDir + "1.0.0/PLATFORM -> PLATFORM"},
	"link: archive, broken":           {packedWidget + " -> nowhere"},
	"link: archive, to a directory":   {"elsewhere/!", packedWidget + " -> ../../../elsewhere"},
	"link: version":                   {"v/PLATFORM/!", widgetDir + "1.0.0 -> ../../../v"},
	"link: type":                      {"t/1.0.0/PLATFORM/!", "registry.example/acme/widget -> ../../t"},
	"link: namespace":                 {"n/widget/1.0.0/PLATFORM/!", "registry.example/acme -> ../n"},
	"link: host":                      {"h/acme/widget/1.0.0/PLATFORM/!", "registry.example -> h"},
	"empty":                           {"registry.example/"},
	"nothing at all":                  nil,
}

// TestFilesystemMirrorSource_AgreesWithRealTerraform has Terraform install the newest version from
// odd mirrors, and compares it with what the source finds.
func TestFilesystemMirrorSource_AgreesWithRealTerraform(t *testing.T) {
	t.Parallel()
	terraform := peertest.LookTerraform(t)
	for _, trees := range []map[string][]string{treesWithAPackage, treesWithoutPackage} {
		for name, tree := range trees {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				peertest.PeerCase(t, t.Name())
				agreeWithTerraform(t, terraform, tree)
			})
		}
	}
	for name, path := range map[string]string{"missing": "missing", "a file": "file"} {
		base := filepath.Join(oddMirror(t, widget, []string{"file"}).Dir, path)
		_, err := newestContent(t, &getproviders.FilesystemMirrorSource{Dir: base}, widget)
		theirs, output := terraformContent(t, terraform, base, widget)
		must.Equal(t, theirs, "", name, output)
		must.Fail(t, err, getproviders.ErrUnreachable, name)
	}
}

// TestFilesystemMirrorSource_FindsWhatIsInOddMirrors compares with what Terraform is known to find.
func TestFilesystemMirrorSource_FindsWhatIsInOddMirrors(t *testing.T) {
	t.Parallel()
	for found, trees := range map[bool]map[string][]string{true: treesWithAPackage, false: treesWithoutPackage} {
		for name, tree := range trees {
			if runtime.GOOS == "windows" && strings.ContainsAny(strings.Join(tree, ""), ":>") {
				continue // it has no such names, and not always links
			}
			source, p := oddTree(t, tree)
			ours, err := newestContent(t, source, p)
			must.Equal(t, ours != "", found, name, err)
		}
	}
}

func agreeWithTerraform(t *testing.T, terraform string, tree []string) {
	t.Helper()
	source, p := oddTree(t, tree)
	ours, err := newestContent(t, source, p)
	theirs, output := terraformContent(t, terraform, source.Dir, p)
	must.Equal(t, ours, theirs, err, output)
}

// oddTree makes the mirror of a tree, and says which provider is looked for in it.
func oddTree(t *testing.T, tree []string) (*getproviders.FilesystemMirrorSource, getproviders.Provider) {
	t.Helper()
	p := widget
	if len(tree) == 2 && isAddress(tree[0]) {
		p, tree = mustParse(t, tree[0]), tree[1:]
	}
	return oddMirror(t, p, tree), p
}

// isAddress distinguishes an address from an entry of a tree.
func isAddress(text string) bool {
	return strings.Count(text, "/") == 2 && !strings.ContainsAny(text, "!_ ")
}

// oddMirror makes a mirror in which each package has an executable that says where it is.
func oddMirror(t *testing.T, p getproviders.Provider, tree []string) *getproviders.FilesystemMirrorSource {
	t.Helper()
	var names []string
	for _, name := range tree {
		name = strings.ReplaceAll(name, "PLATFORM", getproviders.CurrentPlatform().String())
		if strings.Contains(name, " -> ") {
			skipWithoutLinks(t)
		}
		names = append(names, strings.Replace(name, "/!", "/terraform-provider-"+p.Type, 1))
	}
	source := mirror(t, names...)
	must.Succeed(t, filepath.WalkDir(source.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content := []byte(path)
		if strings.EqualFold(filepath.Ext(path), ".zip") {
			content = providertest.Zip(map[string]string{"terraform-provider-" + p.Type: path})
		}
		return os.WriteFile(path, content, 0o755)
	}))
	return source
}

// newestContent returns the version that the source would install, and what its executable says.
func newestContent(t *testing.T, source getproviders.Source, p getproviders.Provider) (string, error) {
	t.Helper()
	available, err := source.Versions(t.Context(), p)
	if err != nil {
		return "", err
	}
	newest, ok := getproviders.Constraints{}.Newest(available.Versions)
	if !ok {
		return "", fmt.Errorf("no release among %v", available.Versions)
	}
	found, err := source.Package(t.Context(), p, newest, getproviders.CurrentPlatform())
	if err != nil {
		return "", err
	}
	var open func(string) (fs.File, error)
	switch at := found.Location.(type) {
	case getproviders.LocalDirectory:
		open = os.DirFS(string(at)).Open
	case getproviders.LocalArchive:
		archive, err := zip.OpenReader(string(at))
		if err != nil {
			return "", err
		}
		defer archive.Close()
		open = archive.Open
	}
	return newest.String() + " " + contentFrom(t, open, p), nil
}

func contentFrom(t *testing.T, open func(string) (fs.File, error), p getproviders.Provider) string {
	t.Helper()
	file := must.Get(open("terraform-provider-" + p.Type))(t)
	defer file.Close()
	content := must.Get(io.ReadAll(file))(t)
	return string(content)
}

// terraformContent is newestContent for Terraform.
func terraformContent(t *testing.T, terraform, base string, p getproviders.Provider) (content, output string) {
	t.Helper()
	cli := filepath.Join(t.TempDir(), "cli.tfrc")
	must.Write(t, cli, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", base))
	dir, output, ok := terraformInit(t, terraform, p, "TF_CLI_CONFIG_FILE="+cli)
	if !ok {
		return "", output
	}
	installed, err := filepath.Glob(filepath.Join(dir, ".terraform", "providers", p.Hostname.String(), p.Namespace, p.Type, "*", getproviders.CurrentPlatform().String()))
	if err != nil || len(installed) != 1 {
		t.Fatalf("installed %q, %v:\n%s", installed, err, output)
	}
	version := filepath.Base(filepath.Dir(installed[0]))
	return version + " " + contentFrom(t, os.DirFS(installed[0]).Open, p), output
}

// terraformInit has Terraform install a provider in a directory of its own.
func terraformInit(t *testing.T, terraform string, p getproviders.Provider, env ...string) (dir, output string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	must.Write(t, filepath.Join(dir, "main.tf"), fmt.Sprintf("terraform {\n  required_providers {\n    widget = { source = %q }\n  }\n}\n", p))
	cmd := exec.CommandContext(t.Context(), terraform, "init", "-no-color", "-input=false")
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "CHECKPOINT_DISABLE=1", "HOME="+dir), env...)
	out, err := cmd.CombinedOutput()
	return dir, string(out), err == nil
}
