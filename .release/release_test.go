package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/goccy/go-yaml"
)

// smallRepository is a repository with one commit, of a program that takes little time to build and has all that a
// release is made of.
func smallRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":                     "module github.com/tfdeps/tfdeps\n\ngo 1.26.0\n",
		"main.go":                    "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"complete \" + os.Args[2]) }\n",
		"testdata/manpages/main.go":  "package main\n\nimport \"os\"\n\nfunc main() { os.Mkdir(os.Args[1], 0o755); os.WriteFile(os.Args[1]+\"/tfdeps.1\", []byte(\".TH\"), 0o644) }\n",
		"LICENSE":                    "L",
		"README.md":                  "R",
		"CHANGELOG.md":               "C",
		".release/install.sh":        read(t, "install.sh"),
		".release/install.ps1":       read(t, "install.ps1"),
		".release/Dockerfile":        read(t, "Dockerfile"),
		".release/action/action.yml": read(t, "action/action.yml"),
	}
	for name := range recipes {
		files[".release/"+name] = read(t, name)
	}
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
		succeed(t, os.WriteFile(name, []byte(content), 0o644))
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", "--all")
	commit(t, dir, "one")
	return dir
}

func commit(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "-m", message)
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	get(run(dir, nil, "git", args...))(t)
}

func read(t *testing.T, name string) string {
	t.Helper()
	content := get(os.ReadFile(filepath.FromSlash(name)))(t)
	return string(content)
}

var here = platform{runtime.GOOS, runtime.GOARCH}

// TestRelease_IsTheSameEachTime makes a release of one platform twice, in two places.
func TestRelease_IsTheSameEachTime(t *testing.T) {
	t.Parallel()
	repository, key := smallRepository(t), throwAwayKey()
	var dists []string
	for _, out := range []string{filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "another", "place")} {
		var told strings.Builder
		succeed(t, release(options{version: "v0.1.0", platforms: []platform{here}, out: out, downloads: downloads, repository: repository, key: key}, &told))
		if strings.Contains(told.String(), "left out") {
			t.Errorf("it says %q", told.String())
		}
		if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
			t.Errorf("%v: beside the release there are %v", err, entries)
		}
		dists = append(dists, out)
	}
	names := []string{archiveName("v0.1.0", here), baseName("v0.1.0", here) + ".cdx.json", "SHA256SUMS", "SHA256SUMS.minisig", "tfdeps_0.1.0.intoto.jsonl", "install.sh", "install.ps1", "image/Dockerfile", "image/base.tar"}
	for _, format := range systemPackages {
		if here.os == "linux" {
			names = slices.Insert(names, 2, baseName("v0.1.0", here)+"."+format)
		}
	}
	for _, name := range names {
		if one, two := read(t, filepath.Join(dists[0], name)), read(t, filepath.Join(dists[1], name)); one != two || one == "" {
			t.Errorf("%s has other bytes the second time, or none", name)
		}
	}
	sums := read(t, filepath.Join(dists[0], "SHA256SUMS"))
	listed := slices.Index(names, "SHA256SUMS")
	if strings.Count(sums, "\n") != listed {
		t.Errorf("SHA256SUMS is %q", sums)
	}
	checkSignatures(t, dists[0], key, sums)
	checkPackages(t, dists[0])
	for _, name := range names[:listed] {
		if sum, err := checksum(filepath.Join(dists[0], name)); err != nil || !strings.Contains(sums, sum+"  "+name+"\n") {
			t.Errorf("%v: SHA256SUMS lacks %s %s", err, sum, name)
		}
	}
	if err := release(options{version: "v0.1.0", platforms: []platform{here}, out: dists[0], repository: repository}, io.Discard); err == nil {
		t.Error("a directory that is there is overwritten")
	}

	inside := contents(t, filepath.Join(dists[0], names[0]))
	checkRecipes(t, dists[0], inside)
	if image := buildImage(t, dists[0]); image != nil {
		for _, name := range []string{"/usr/bin/tfdeps", "/usr/share/doc/tfdeps/LICENSE", "/usr/share/doc/tfdeps/licences.txt", "/etc/ssl/certs/ca-certificates.crt"} {
			if !slices.Contains(image, name) {
				t.Errorf("the image lacks %s: it has %q", name, image)
			}
		}
	}
	top := baseName("v0.1.0", here) + "/"
	for _, name := range []string{here.program(), "LICENSE", "README.md", "CHANGELOG.md", "licences.txt", "tfdeps.cdx.json", "completions/_tfdeps",
		"completions/tfdeps.bash", "completions/tfdeps.fish", "man/man1/tfdeps.1"} {
		if len(inside[top+name]) == 0 {
			t.Errorf("the archive lacks %s", name)
		}
		delete(inside, top+name)
	}
	if len(inside) > 0 {
		t.Errorf("the archive has %d more files", len(inside))
	}
	var bom cyclonedx.BOM
	succeed(t, cyclonedx.NewBOMDecoder(strings.NewReader(read(t, filepath.Join(dists[0], names[1]))), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	if c := *bom.Components; len(c) != 1 || c[0].Name != "std" || c[0].Version != runtime.Version() || bom.Metadata.Component.Version != "v0.1.0" {
		t.Errorf("the bill of materials lists %v", c)
	}
}

// contents are the files of an archive.
func contents(t *testing.T, name string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	if strings.HasSuffix(name, ".zip") {
		archive := get(zip.OpenReader(name))(t)
		defer archive.Close()
		for _, f := range archive.File {
			r := get(f.Open())(t)
			all[f.Name] = get(io.ReadAll(r))(t)
		}
		return all
	}
	return members(t, bytes.NewReader([]byte(read(t, name))))
}

func TestWriteArchive_SaysNothingOfTheMachine(t *testing.T) {
	t.Parallel()
	files := []file{{name: "b/c", content: []byte("2")}, {name: "a", content: []byte("1"), executable: true}}
	for _, name := range []string{"x.tar.gz", "x.zip"} {
		one, two := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		turned := slices.Clone(files)
		slices.Reverse(turned)
		succeed(t, errors.Join(writeArchive(one, "x", files, time.Unix(1e9, 0)), writeArchive(two, "x", turned, time.Unix(1e9, 0))))
		if read(t, one) != read(t, two) {
			t.Errorf("%s depends on the order of the files", name)
		}
		if got := contents(t, one); string(got["x/a"]) != "1" || string(got["x/b/c"]) != "2" || len(got) != 2 {
			t.Errorf("%s has %q", name, got)
		}
	}
}

func TestCheckOut_LeavesTheRepositoryAsItIs(t *testing.T) {
	t.Parallel()
	repository := smallRepository(t)
	succeed(t, os.WriteFile(filepath.Join(repository, "LICENSE"), []byte("changed"), 0o644))
	dir := filepath.Join(t.TempDir(), "source")
	s, err := checkOut(repository, "v0.1.0", dir)
	if err != nil || !s.dirty || s.time.IsZero() || read(t, filepath.Join(dir, "LICENSE")) != "L" {
		t.Errorf("%v: it is %+v", err, s)
	}
	if tags, err := run(repository, nil, "git", "tag"); err != nil || tags != "" {
		t.Errorf("%v: the repository has the tags %q", err, tags)
	}
	git(t, repository, "-c", "tag.gpgSign=false", "tag", "v0.1.0")
	if _, err := checkOut(repository, "v0.1.0", filepath.Join(t.TempDir(), "source")); err != nil {
		t.Errorf("the tag of the commit itself: %v", err)
	}
	commit(t, repository, "two")
	if _, err := checkOut(repository, "v0.1.0", filepath.Join(t.TempDir(), "source")); err == nil || !strings.Contains(err.Error(), "the tag v0.1.0 is on commit") {
		t.Errorf("the tag of another commit: %v", err)
	}
}

func TestParseArguments_RefusesWhatIsNoVersionOrPlatform(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"v0.1.0": "", "v1.2.3-rc.1": "", "-platforms=linux_arm64,windows_amd64 v0.1.0": "",
		"": "one version is needed", "v0.1.0 v0.2.0": "one version is needed", "0.1.0": "isn't a version", "v0.1": "isn't a version",
		"v0.1.0+x": "isn't a version", "v2.0.0": "v2.0.0 isn't possible", "-platforms=linux_386 v0.1.0": "there are no releases",
		"-platforms=linux v0.1.0": "there are no releases", "-platforms= v0.1.0": "there are no releases",
	} {
		o, err := parseArguments(strings.Fields(line), io.Discard)
		if want == "" && (err != nil || len(o.platforms) == 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", line, err)
		}
	}
	var help strings.Builder
	if _, err := parseArguments([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-platforms") {
		t.Errorf("%v: the help is %q", err, help.String())
	}
}

func TestRecipes_NameArchives(t *testing.T) {
	t.Parallel()
	for name, systems := range map[string][]string{"tfdeps.rb.tmpl": {"linux", "darwin"}, "scoop.json.tmpl": {"windows"}, "winget.installer.yaml.tmpl": {"windows"}} {
		text := string(get(filledIn(name, "v0.1.0", "https://example.com/d", allSums()))(t))
		for line := range strings.Lines(allSums()) {
			sum, archive, _ := strings.Cut(strings.TrimSpace(line), "  ")
			_, after, named := strings.Cut(text, "https://example.com/d/v0.1.0/"+archive)
			if wanted := slices.Contains(systems, strings.Split(archive, "_")[2]); named != wanted || wanted && !strings.Contains(after[:min(len(after), 200)], sum) {
				t.Errorf("%s names %s: %t\n%s", name, archive, named, text)
			}
		}
		if err := yaml.Unmarshal([]byte(text), &map[string]any{}); err != nil && systems[0] == "windows" { // JSON is YAML
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range recipes {
		if _, err := filledIn(name, "v0.1.1", "", allSums()); err == nil && strings.Contains(read(t, name), "{{.url}}") {
			t.Errorf("archives of another version make %s", name)
		}
	}
}

func TestLicences_AreWhole(t *testing.T) {
	t.Parallel()
	mit := "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"
	text := string(licences([]part{{path: "example.com/a", version: "v1.0.0", licences: []licence{{name: "LICENSE", text: []byte(mit)}, {name: "NOTICE", text: []byte("N of A")}}}}))
	for _, want := range []string{"example.com/a v1.0.0: LICENSE\n", mit, "example.com/a v1.0.0: NOTICE\n", "N of A"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q isn't in\n%s", want, text)
		}
	}
}

func TestReadLicences_RefusesUnknownOnes(t *testing.T) {
	t.Parallel()
	ours := read(t, "../LICENSE")
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"known":         {map[string]string{"LICENSE": ours, "NOTICE": "N"}, ""},
		"none":          {map[string]string{"README": "x"}, "there is no licence"},
		"a notice only": {map[string]string{"NOTICE": "N"}, "there is no licence"},
		"unknown":       {map[string]string{"LICENSE": ours, "COPYING.txt": "All rights reserved."}, "the licence in COPYING.txt isn't a known one"},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			succeed(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
		all, err := readLicences(dir)
		if c.want == "" && (err != nil || len(all) != 2 || all[0].id != "Apache-2.0") || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}

func TestBaseSystem_HasCertificatesAndAPlaceForTemporaryFiles(t *testing.T) {
	t.Parallel()
	content := get(baseSystem(time.Unix(1e9, 0)))(t)
	modes := map[string]int64{}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		succeed(t, err)
		modes[header.Name] = header.Mode
		if header.Typeflag == tar.TypeReg && header.Size < 100_000 {
			t.Errorf("%s has %d bytes", header.Name, header.Size)
		}
	}
	if modes["tmp/"] != 0o1777 || modes["etc/ssl/certs/ca-certificates.crt"] != 0o644 || modes["work/"] != 0o755 {
		t.Errorf("there are %v", modes)
	}
}

func succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get is what a call returned, which ends the test with an error if there is one.
func get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		succeed(t, err)
		return value
	}
}
