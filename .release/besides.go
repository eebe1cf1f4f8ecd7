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
	if err := signList(o, dist, sums); err != nil {
		return err
	}
	if err := writeProvenance(s, o, dist, sums); err != nil {
		return err
	}
	for _, name := range []string{"install.sh", "install.ps1"} {
		script, err := installScript(filepath.Join(s.dir, ".release", name), o)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dist, name), script); err != nil {
			return err
		}
	}
	if err := writeImage(s, filepath.Join(dist, "image")); err != nil {
		return err
	}
	if len(o.platforms) < len(strings.Split(platforms, ",")) {
		return nil // what package managers read names several archives
	}
	for name, to := range recipes {
		text, err := filledIn(filepath.Join(s.dir, ".release", name), o.version, o.downloads, sums)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dist, to), text); err != nil {
			return err
		}
	}
	return nil
}

// recipes are the templates of what package managers read, and the files that are made of them.
var recipes = map[string]string{
	"tfdeps.rb.tmpl": "tfdeps.rb", "scoop.json.tmpl": "tfdeps.json",
	"winget.version.yaml.tmpl": "tfdeps.tfdeps.yaml", "winget.installer.yaml.tmpl": "tfdeps.tfdeps.installer.yaml", "winget.locale.yaml.tmpl": "tfdeps.tfdeps.locale.en-US.yaml",
}

// installScript is a script, with the version, the place and the key of the release in the three lines that are there for it. A key
// that stands there already has to be that of the release.
func installScript(name string, o options) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key := ""
	if o.key != nil {
		key = publicText(o.key)
	}
	for _, line := range [][3]string{{"version", "", o.version}, {"downloads", downloads, o.downloads}, {"key", "", key}} {
		before, after := assignment(name, line[0], line[1]), assignment(name, line[0], line[2])
		if line[0] == "key" && bytes.Contains(text, []byte(after)) {
			continue
		}
		if bytes.Count(text, []byte(before)) != 1 {
			return nil, fmt.Errorf("%s doesn't have the line %q once, or another key", name, strings.TrimSpace(before))
		}
		text = bytes.Replace(text, []byte(before), []byte(after), 1)
	}
	return text, nil
}

// assignment is the line of a script that gives a variable its value.
func assignment(script, variable, value string) string {
	if strings.HasSuffix(script, ".ps1") {
		return "\n$" + variable + " = '" + value + "'\n"
	}
	return "\n" + variable + "=" + value + "\n"
}

// filledIn fills the template of a recipe in.
func filledIn(name, version, downloads, sums string) ([]byte, error) {
	text, err := template.New(filepath.Base(name)).ParseFiles(name)
	if err != nil {
		return nil, err
	}
	text = text.Option("missingkey=error")
	values := map[string]string{"version": strings.TrimPrefix(version, "v"), "url": downloads + "/" + version}
	for line := range strings.Lines(sums) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for name := range strings.SplitSeq(platforms, ",") {
			system, arch, _ := strings.Cut(name, "_")
			if p := (platform{system, arch}); file == archiveName(version, p) {
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
