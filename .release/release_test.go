package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
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

// smallRepository makes a repository with one commit, of a program that is built quickly and has all files that a
// release needs.
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
		write(t, filepath.Join(dir, name), content)
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
	return string(get(os.ReadFile(filepath.FromSlash(name)))(t))
}

// write makes a file, and the directories that it is in.
func write[Content ~string | ~[]byte](t *testing.T, name string, content Content) {
	t.Helper()
	succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
	succeed(t, os.WriteFile(name, []byte(content), 0o644))
}

// have fails the test for each file that isn't there or is empty.
func have(t *testing.T, files map[string][]byte, names ...string) {
	t.Helper()
	for _, name := range names {
		if len(files[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
}

// contain fails the test for each part that a text lacks.
func contain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q isn't in\n%s", part, text)
		}
	}
}

// equal fails the test unless got is want.
func equal[T comparable](t *testing.T, got, want T, about ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %v, want %v", about, got, want)
	}
}

// refused fails the test unless an error has the text want; "" means no error.
func refused(t *testing.T, err error, want string, about ...any) {
	t.Helper()
	if equal(t, err != nil, want != "", append(about, err)...); err != nil {
		contain(t, err.Error(), want)
	}
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
		equal(t, strings.Contains(told.String(), "left out"), false, told.String())
		equal(t, len(get(os.ReadDir(filepath.Dir(out)))(t)), 1, "files beside the release")
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
	equal(t, strings.Count(sums, "\n"), listed, sums)
	checkSignatures(t, dists[0], key, sums)
	checkPackages(t, dists[0])
	for _, name := range names[:listed] {
		contain(t, sums, get(checksum(filepath.Join(dists[0], name)))(t)+"  "+name+"\n")
	}
	refused(t, release(options{version: "v0.1.0", platforms: []platform{here}, out: dists[0], repository: repository}, io.Discard), dists[0])

	inside := contents(t, filepath.Join(dists[0], names[0]))
	checkRecipes(t, dists[0], inside)
	t.Run("image", func(t *testing.T) {
		contain(t, fmt.Sprintf("%q", buildImage(t, dists[0])), `"/usr/bin/tfdeps"`, `"/usr/share/doc/tfdeps/LICENSE"`, `"/usr/share/doc/tfdeps/licences.txt"`, `"/etc/ssl/certs/ca-certificates.crt"`)
	})
	top := baseName("v0.1.0", here) + "/"
	have(t, inside, top+here.program(), top+"LICENSE", top+"README.md", top+"CHANGELOG.md", top+"licences.txt", top+"tfdeps.cdx.json", top+"completions/_tfdeps",
		top+"completions/tfdeps.bash", top+"completions/tfdeps.fish", top+"man/man1/tfdeps.1")
	equal(t, len(inside), 10, "files of the archive")
	var bom cyclonedx.BOM
	succeed(t, cyclonedx.NewBOMDecoder(strings.NewReader(read(t, filepath.Join(dists[0], names[1]))), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	parts := *bom.Components
	equal(t, len(parts), 1, "parts of the bill of materials")
	equal(t, parts[0].Name+" "+parts[0].Version, "std "+runtime.Version())
	equal(t, bom.Metadata.Component.Version, "v0.1.0")
}

// contents returns the files of an archive.
func contents(t *testing.T, name string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	if strings.HasSuffix(name, ".zip") {
		archive := get(zip.OpenReader(name))(t)
		defer archive.Close()
		for _, f := range archive.File {
			all[f.Name] = get(io.ReadAll(get(f.Open())(t)))(t)
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
		equal(t, read(t, one), read(t, two), "the order of the files")
		equal(t, fmt.Sprintf("%s", contents(t, one)), "map[x/a:1 x/b/c:2]", name)
	}
}

func TestCheckOut_LeavesTheRepositoryAsItIs(t *testing.T) {
	t.Parallel()
	repository := smallRepository(t)
	write(t, filepath.Join(repository, "LICENSE"), "changed")
	dir := filepath.Join(t.TempDir(), "source")
	s := get(checkOut(repository, "v0.1.0", dir))(t)
	equal(t, s.dirty && !s.time.IsZero(), true, s)
	equal(t, read(t, filepath.Join(dir, "LICENSE")), "L")
	equal(t, get(run(repository, nil, "git", "tag"))(t), "", "tags of the repository")
	git(t, repository, "-c", "tag.gpgSign=false", "tag", "v0.1.0")
	get(checkOut(repository, "v0.1.0", filepath.Join(t.TempDir(), "source")))(t)
	commit(t, repository, "two")
	_, err := checkOut(repository, "v0.1.0", filepath.Join(t.TempDir(), "source"))
	refused(t, err, "the tag v0.1.0 is on commit")
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
		refused(t, err, want, line)
		equal(t, err == nil && len(o.platforms) == 0, false, line)
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
	contain(t, string(licences([]part{{path: "example.com/a", version: "v1.0.0", licences: []licence{{name: "LICENSE", text: []byte(mit)}, {name: "NOTICE", text: []byte("N of A")}}}})),
		"example.com/a v1.0.0: LICENSE\n", mit, "example.com/a v1.0.0: NOTICE\n", "N of A")
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
			write(t, filepath.Join(dir, file), text)
		}
		all, err := readLicences(dir)
		refused(t, err, c.want, name)
		if err == nil {
			equal(t, len(all), 2, all)
			equal(t, all[0].id, "Apache-2.0")
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
	equal(t, modes["tmp/"], 0o1777)
	equal(t, modes["etc/ssl/certs/ca-certificates.crt"], 0o644)
	equal(t, modes["work/"], 0o755)
}

func succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get returns the result of a call, or fails the test after an error.
func get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		succeed(t, err)
		return value
	}
}
