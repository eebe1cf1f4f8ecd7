package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// writeBesides writes what is beside the archives. SHA256SUMS is of all files that people fetch: it comes first, and
// what reads it, or is for those who make an image, isn't in it.
func writeBesides(s source, o options, dist string) error {
	sums, err := checksums(dist)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dist, "SHA256SUMS"), []byte(sums)); err != nil {
		return err
	}
	script, err := installScript(filepath.Join(s.dir, ".release", "install.sh"), o)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dist, "install.sh"), script); err != nil {
		return err
	}
	if err := writeImage(s, filepath.Join(dist, "image")); err != nil {
		return err
	}
	if len(o.platforms) < len(strings.Split(platforms, ",")) {
		return nil // the formula names four archives
	}
	text, err := formula(filepath.Join(s.dir, ".release", "tfdeps.rb.tmpl"), o.version, o.downloads, sums)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dist, "tfdeps.rb"), text)
}

// installScript is the script, with the version and the place of the release in the two lines that are there for it.
func installScript(name string, o options) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line, filled := range map[string]string{
		"version=\n":                    "version=" + o.version + "\n",
		"downloads=" + downloads + "\n": "downloads=" + o.downloads + "\n",
	} {
		if bytes.Count(text, []byte("\n"+line)) != 1 {
			return nil, fmt.Errorf("%s doesn't have the line %q once", name, strings.TrimSpace(line))
		}
		text = bytes.Replace(text, []byte("\n"+line), []byte("\n"+filled), 1)
	}
	return text, nil
}

// formula fills the template of the Homebrew formula in.
func formula(name, version, downloads, sums string) ([]byte, error) {
	text, err := template.New(filepath.Base(name)).ParseFiles(name)
	if err != nil {
		return nil, err
	}
	text = text.Option("missingkey=error")
	values := map[string]string{"version": strings.TrimPrefix(version, "v"), "url": downloads + "/" + version}
	for line := range strings.Lines(sums) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, p := range []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}} {
			if file == archiveName(version, p) {
				values[p.String()] = sum
			}
		}
	}
	var b bytes.Buffer
	if err := text.Execute(&b, values); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
