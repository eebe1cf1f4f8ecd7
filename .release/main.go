// Command release makes all files of a release from the last commit of the repository. It needs no network but for Go
// modules:
//
//	go run -C .release . VERSION
//
// For each platform it makes an archive with the program, completions for shells, the manual, the
// licences of all linked modules, and a bill of materials (SBOM), and for Linux also packages in three formats. Beside them are
// SHA256SUMS with its signature and a statement of provenance, the install scripts, the files for Homebrew, Scoop and winget
// of this version, and the files for an image. Builds are reproducible: the same commit, the same Go and the same key make the same bytes on any
// machine, and all times are that of the commit.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
	"golang.org/x/mod/semver"
)

// platforms are the platforms of a release.
const platforms = "linux_amd64,linux_arm64,darwin_amd64,darwin_arm64,windows_amd64,windows_arm64"

// downloads is the URL of the files of all releases, with a directory for each version.
const downloads = "https://github.com/tfdeps/tfdeps/releases/download"

// options are the parsed arguments.
type options struct {
	version    string // with a v, as in the tag
	platforms  []platform
	out        string
	downloads  string
	repository string
	key        *minisign.PrivateKey // signs SHA256SUMS; nil means no signature
}

// platform is an operating system and an architecture, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

// program is the name of the program's file.
func (p platform) program() string {
	if p.os == "windows" {
		return "tfdeps.exe"
	}
	return "tfdeps"
}

func main() {
	o, err := parseArguments(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = release(o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// parseArguments parses the arguments. For -help it writes the help to the writer, and returns flag.ErrHelp.
func parseArguments(args []string, help io.Writer) (options, error) {
	o := options{repository: ".."}
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.SetOutput(help)
	set.Usage = func() {
		fmt.Fprintln(help, "Usage: go run -C .release . [options] VERSION\n\nMakes all files of a release from the last commit. VERSION is the tag, such as v0.1.0.")
		set.PrintDefaults()
	}
	set.StringVar(&o.out, "out", filepath.Join("..", "dist"), "the `directory` to make, which mustn't be there yet")
	set.StringVar(&o.downloads, "downloads", downloads, "the `URL` below which each version's files will be, for install.sh and the formula")
	key := set.String("key", "", "the `file` with the secret key of minisign, without a password, that signs; by default nothing is signed")
	names := set.String("platforms", platforms, "the platforms, separated by commas")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() != 1 {
		return o, errors.New("one version is needed, and nothing after it: go run -C .release . v0.1.0")
	}
	o.version = set.Arg(0)
	if *key != "" {
		var err error
		if o.key, err = readKey(*key); err != nil {
			return o, err
		}
	}
	for name := range strings.SplitSeq(*names, ",") {
		system, arch, ok := strings.Cut(name, "_")
		if !ok || !strings.Contains(","+platforms+",", ","+name+",") {
			return o, fmt.Errorf("there are no releases for %q, only for %s", name, platforms)
		}
		o.platforms = append(o.platforms, platform{system, arch})
	}
	return o, checkVersion(o.version)
}

// checkVersion refuses versions that "go install ...@VERSION" wouldn't install: the module's path is that of
// major versions 0 and 1.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("%q isn't a version such as v0.1.0 or v0.1.0-rc.1", version)
	}
	if major := semver.Major(version); major != "v0" && major != "v1" {
		return fmt.Errorf("%s isn't possible: the path in go.mod would have to end in /%s", version, major)
	}
	return nil
}

// release makes everything in a staging directory, which it renames at the end, so that a release is complete or absent.
func release(o options, told io.Writer) (err error) {
	if o.out, err = filepath.Abs(o.out); err != nil {
		return err
	}
	if _, err := os.Lstat(o.out); err == nil {
		return fmt.Errorf("%s is there already: remove it, or choose another directory with -out", o.out)
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(filepath.Dir(o.out), filepath.Base(o.out)+".partial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()

	source, err := checkOut(o.repository, o.version, filepath.Join(stage, "source"))
	if err != nil {
		return err
	}
	if source.dirty {
		fmt.Fprintln(told, "what isn't committed is left out")
	}
	dist := filepath.Join(stage, "dist")
	if err := os.Mkdir(dist, 0o755); err != nil {
		return err
	}
	shared, err := source.sharedFiles(stage)
	if err != nil {
		return err
	}
	for _, p := range o.platforms {
		fmt.Fprintf(told, "building %s\n", p)
		if err := source.writePlatform(p, stage, dist, shared); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if o.key == nil {
		fmt.Fprintln(told, "nothing is signed, so that the install scripts install nothing: -key names a key")
	}
	if err := writeBesides(source, o, dist); err != nil {
		return err
	}
	if err := os.Chmod(dist, 0o755); err != nil {
		return err
	}
	if err := os.Rename(dist, o.out); err != nil {
		return err
	}
	fmt.Fprintf(told, "%s of commit %s is in %s\n", o.version, source.commit, o.out)
	return nil
}

// writePlatform builds the program for a platform, and writes its archive and its bill of materials.
func (s source) writePlatform(p platform, stage, dist string, shared []file) error {
	binary := filepath.Join(stage, p.String(), p.program())
	if err := s.build(p, binary); err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	parts, err := readParts(s, binary)
	if err != nil {
		return err
	}
	bom, err := billOfMaterials(s, p, content, parts)
	if err != nil {
		return err
	}
	files := append([]file{
		{name: p.program(), content: content, executable: true},
		{name: "licences.txt", content: licences(parts)},
		{name: "tfdeps.cdx.json", content: bom},
	}, shared...)
	name := archiveName(s.version, p)
	if err := s.writePackages(p, stage, dist, files); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dist, baseName(s.version, p)+".cdx.json"), bom); err != nil {
		return err
	}
	return writeArchive(filepath.Join(dist, name), baseName(s.version, p), files, s.time)
}
