package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// checkRecipes compares the Dockerfile and the formula with the release files that they name.
func checkRecipes(t *testing.T, dist string, inside map[string][]byte) {
	t.Helper()
	top := baseName("v0.1.0", here) + "/"
	expand := strings.NewReplacer("${VERSION}", "0.1.0", "${TARGETARCH}", runtime.GOARCH).Replace
	copied := 0
	if recipe := read(t, filepath.Join(dist, "image", "Dockerfile")); !strings.Contains(recipe, "\nUSER 65532:65532\n") || strings.Count(recipe, "\nFROM scratch") != 2 {
		t.Error("the image runs as root, or has a base")
	}
	for line := range strings.Lines(read(t, filepath.Join(dist, "image", "Dockerfile"))) {
		words := strings.Fields(expand(line))
		if len(words) < 3 || words[0] != "COPY" && words[0] != "ADD" {
			continue
		}
		for _, source := range words[1 : len(words)-1] {
			switch {
			case strings.HasPrefix(source, "--from="):
			case words[0] == "COPY":
				copied++
				have(t, inside, strings.TrimPrefix(source, "/"))
			default:
				if info, err := os.Stat(filepath.Join(dist, source)); err != nil || info.Size() == 0 {
					t.Errorf("the recipe of the image adds %s: %v", source, err)
				}
			}
		}
	}
	equal(t, copied, 3, "files that the recipe of the image copies")
	installed := 0
	for line := range strings.Lines(read(t, "tfdeps.rb.tmpl")) {
		for _, name := range regexp.MustCompile(`install.*"`).FindAllString(line, 1) {
			for _, quoted := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(strings.Split(name, "=>")[0], -1) {
				installed++
				found := false
				for file := range inside {
					found = found || get(filepath.Match(quoted[1], strings.TrimPrefix(file, top)))(t)
				}
				equal(t, found, true, "the archive has what the formula installs", quoted[1])
			}
		}
	}
	equal(t, installed, 7, "names that the formula installs")
}

// buildImage builds the image of a release without a daemon, and returns the names of its files.
func buildImage(t *testing.T, dist string) (files []string) {
	t.Helper()
	buildah, err := exec.LookPath("buildah")
	if err != nil || os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("the image isn't built: that takes buildah, and root on Linux")
	}
	storage := t.TempDir()
	run := func(args ...string) (string, error) {
		all := append([]string{"--storage-driver=vfs", "--root=" + filepath.Join(storage, "root"), "--runroot=" + filepath.Join(storage, "run")}, args...)
		cmd := exec.CommandContext(t.Context(), buildah, all...)
		cmd.Dir = dist
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if out, err := run("build", "--isolation=chroot", "-f", "image/Dockerfile", "--build-arg", "VERSION=0.1.0", "--build-arg", "TARGETARCH="+runtime.GOARCH, "-t", "tfdeps", "."); err != nil {
		if strings.Contains(out, "not permitted") || strings.Contains(out, "mount") {
			t.Skipf("this container doesn't allow it: %s", out)
		}
		t.Fatalf("buildah: %v\n%s", err, out)
	}
	container := get(run("from", "--pull=never", "tfdeps"))(t)
	root := get(run("mount", container))(t)
	_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			name, _ := filepath.Rel(root, path)
			files = append(files, "/"+filepath.ToSlash(name))
		}
		return nil
	})
	_, _ = run("umount", container)
	_, _ = run("rm", container)
	return files
}

// The lines of docs/install.md that install a release: the script by its checksum, and an archive by its signature.
func TestInstall_ByTheLinesOfThePage(t *testing.T) {
	t.Parallel()
	needShell(t)
	for _, program := range []string{"curl", "sha256sum", "minisign"} {
		need(t, program)
	}
	url := releaseServer(t, "v0.1.0", asItIs)
	script := getURL(t, url+"/v0.1.0/install.sh")
	for name, c := range map[string]struct {
		heading, sum string
		fails        bool
	}{
		"the script":       {"In two lines", fmt.Sprintf("%x", sha256.Sum256(script)), false},
		"another script":   {"In two lines", fmt.Sprintf("%x", sha256.Sum256(append(script, '\n'))), true},
		"a signed archive": {"From an archive", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, target := t.TempDir(), filepath.Join(t.TempDir(), "bin")
			lines := strings.NewReplacer(downloads, url, "CHECKSUM", c.sum, "-P KEY", "-P "+publicText(throwAwayKey()), "&& sh install.sh", "&& sh install.sh -d "+target, "linux_amd64", here.String()).
				Replace(blockBelow(t, c.heading))
			if c.sum == "" { // fetched by the block before
				for _, file := range []string{"SHA256SUMS", "SHA256SUMS.minisig", archiveName("v0.1.0", here)} {
					write(t, filepath.Join(dir, file), getURL(t, url+"/v0.1.0/"+file))
				}
				target = filepath.Join(dir, baseName("v0.1.0", here))
			}
			cmd := exec.Command("sh", "-euxc", lines)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
			out, err := cmd.CombinedOutput()
			_, missing := os.Stat(filepath.Join(target, here.program()))
			equal(t, err != nil, c.fails, err, string(out))
			equal(t, missing != nil, c.fails, missing, string(out))
		})
	}
}

// blockBelow returns the first block of code below a heading of docs/install.md.
func blockBelow(t *testing.T, heading string) string {
	t.Helper()
	_, after, _ := strings.Cut(read(t, "../docs/install.md"), "\n## "+heading+"\n")
	_, after, _ = strings.Cut(after, "```text\n")
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatalf("docs/install.md has no block below %s", heading)
	}
	return block
}

func getURL(t *testing.T, url string) []byte {
	t.Helper()
	answer := get(http.Get(url))(t)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return content
}

// checkAPK reads a package as apk does: two archives in gzip, of which the first describes the second by its checksum.
func checkAPK(t *testing.T, name string) {
	t.Helper()
	content := []byte(read(t, name))
	at := bytes.NewReader(content)
	control := members(t, at)
	data := sha256.Sum256(content[len(content)-at.Len():])
	files := members(t, at)
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	contain(t, "\n"+string(control[".PKGINFO"]), "\npkgname = tfdeps\n", "\npkgver = 0.1.0-r1\n", "\narch = "+arch+"\n", "\nlicense = Apache-2.0\n", "\ndatahash = "+hex.EncodeToString(data[:])+"\n")
	have(t, files, "usr/bin/tfdeps", "usr/share/man/man1/tfdeps.1", "usr/share/doc/tfdeps/licences.txt")
}

// members returns the files of an archive in one gzip member, and leaves the reader after it.
func members(t *testing.T, from *bytes.Reader) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	unzipped := get(gzip.NewReader(from))(t)
	unzipped.Multistream(false)
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if succeed(t, err); header.Typeflag == tar.TypeReg {
			all[header.Name] = get(io.ReadAll(archive))(t)
		}
	}
	get(io.Copy(io.Discard, unzipped))(t)
	return all
}

// allSums returns a list of checksums for all platforms: a letter 64 times each, in the order of platforms.
func allSums() (sums string) {
	for i, name := range strings.Split(platforms, ",") {
		system, arch, _ := strings.Cut(name, "_")
		sums += strings.Repeat(string(rune('a'+i)), 64) + "  " + archiveName("v0.1.0", platform{system, arch}) + "\n"
	}
	return sums
}

// Ruby runs the formula with stubs in the place of Homebrew's methods, for each system and processor.
func TestFormula_SaysWhatHomebrewReads(t *testing.T) {
	t.Parallel()
	ruby := need(t, "ruby")
	text := get(filledIn("tfdeps.rb.tmpl", "v0.1.0", "https://example.com/d", allSums()))(t)
	const words = `require "json"
class Formula
  SAID = {}
  %w[desc homepage version license url sha256].each { |word| define_singleton_method(word) { |value| SAID[word] = value } }
  { "macos" => "darwin", "linux" => "linux", "arm" => "arm64", "intel" => "amd64" }.each { |word, ours| define_singleton_method("on_" + word) { |&block| block.call if ARGV.include?(ours) } }
  define_singleton_method(:test) { |&block| SAID["test"] = !block.nil? }
  class Dir_
    def initialize(name) = @name = name
    def install(*what) = (SAID[@name] ||= []).concat(what.flat_map { |w| w.is_a?(Hash) ? w.to_a.flatten : w })
  end
  %w[bin man1 bash_completion zsh_completion fish_completion doc].each { |name| define_method(name) { Dir_.new(name) } }
end
`
	for i, p := range strings.Split("linux_amd64,linux_arm64,darwin_amd64,darwin_arm64", ",") {
		system, arch, _ := strings.Cut(p, "_")
		cmd := exec.Command(ruby, "-", system, arch)
		cmd.Stdin = strings.NewReader(words + string(text) + "\nTfdeps.new.install\nputs JSON.generate(Formula::SAID)\n")
		out, err := cmd.CombinedOutput()
		var said map[string]any
		if err != nil || json.Unmarshal(out, &said) != nil {
			t.Fatalf("%s: %v: %s", p, err, out)
		}
		for word, want := range map[string]string{
			"url": "https://example.com/d/v0.1.0/tfdeps_0.1.0_" + p + ".tar.gz", "sha256": strings.Repeat(string(rune('a'+i)), 64), "version": "0.1.0", "license": "Apache-2.0", "test": "true",
			"bin": "[tfdeps]", "bash_completion": "[completions/tfdeps.bash tfdeps]", "zsh_completion": "[completions/_tfdeps]", "fish_completion": "[completions/tfdeps.fish]",
		} {
			equal(t, fmt.Sprint(said[word]), want, p, word)
		}
		if desc := said["desc"].(string); len(desc) > 80 || strings.HasPrefix(strings.ToLower(desc), "a ") || strings.HasSuffix(desc, ".") { // brew audit
			t.Errorf("the description is %q", desc)
		}
	}
}

// manifests are the rules of winget's schemas for version 1.6.0 of its files: each field, its values, and the required ones.
var manifests = map[string]struct {
	kind             string
	required, others []string
}{
	"winget.version.yaml.tmpl":   {"version", []string{"PackageIdentifier", "PackageVersion", "DefaultLocale", "ManifestType", "ManifestVersion"}, nil},
	"winget.installer.yaml.tmpl": {"installer", []string{"PackageIdentifier", "PackageVersion", "Installers", "ManifestType", "ManifestVersion"}, []string{"InstallerType", "NestedInstallerType"}},
	"winget.locale.yaml.tmpl": {"defaultLocale", []string{"PackageIdentifier", "PackageVersion", "PackageLocale", "Publisher", "PackageName", "License", "ShortDescription", "ManifestType", "ManifestVersion"},
		[]string{"PackageUrl"}},
}

var wingetFields = map[string]string{
	"PackageIdentifier": `^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$`, "PackageVersion": `^[^\\/:*?"<>|]{1,128}$`, "DefaultLocale": `^[a-z]{2}-[A-Z]{2}$`, "PackageLocale": `^[a-z]{2}-[A-Z]{2}$`,
	"Publisher": `^.{2,256}$`, "PackageName": `^.{2,256}$`, "License": `^.{3,512}$`, "ShortDescription": `^.{3,256}$`, "PackageUrl": `^https?://.+$`, "ManifestVersion": `^1\.6\.0$`,
	"InstallerType": `^zip$`, "NestedInstallerType": `^portable$`, "Architecture": `^(x64|arm64)$`, "InstallerUrl": `^https?://.+$`, "InstallerSha256": `^[A-Fa-f0-9]{64}$`,
	"RelativeFilePath": `^[^/]{1,512}$`, "PortableCommandAlias": `^.{1,40}$`,
}

// A single file for winget has one installer only, so there are three files, as in its repository of packages.
func TestWinget_FitsItsSchemas(t *testing.T) {
	t.Parallel()
	for name, rules := range manifests {
		text := get(filledIn(name, "v0.1.0", "https://example.com/d", allSums()))(t)
		var manifest map[string]any
		succeed(t, yaml.Unmarshal(text, &manifest))
		for _, field := range rules.required {
			if manifest[field] == nil {
				t.Errorf("%s lacks %s", name, field)
			}
		}
		equal(t, fmt.Sprint(manifest["ManifestType"]), rules.kind, name)
		for field, value := range manifest {
			switch {
			case !slices.Contains(append(rules.required, rules.others...), field):
				t.Errorf("%s has %s, which isn't a field there", name, field)
			case field == "Installers":
				equal(t, len(value.([]any)), 2, name, value)
				for _, installer := range value.([]any) {
					installer := installer.(map[string]any)
					nested := installer["NestedInstallerFiles"].([]any)[0].(map[string]any)
					delete(installer, "NestedInstallerFiles")
					directory, _, _ := strings.Cut(fmt.Sprint(nested["RelativeFilePath"]), `\`)
					equal(t, directory+".zip", filepath.Base(fmt.Sprint(installer["InstallerUrl"])), name)
					equal(t, len(installer), 3, name, installer)
					checkFields(t, name, installer)
					checkFields(t, name, nested)
				}
			case field != "ManifestType":
				checkFields(t, name, map[string]any{field: value})
			}
		}
	}
}

func checkFields(t *testing.T, name string, fields map[string]any) {
	t.Helper()
	for field, value := range fields {
		if pattern := wingetFields[field]; pattern == "" || !regexp.MustCompile(pattern).MatchString(fmt.Sprint(value)) {
			t.Errorf("%s: %s is %v", name, field, value)
		}
	}
}
