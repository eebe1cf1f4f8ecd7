package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// writeBesides writes the files beside the archives. SHA256SUMS lists the files that exist before it: it is written first, and
// doesn't list the files that are made from it, or those for an image.
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
		return nil // the files for package managers need all archives
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

// recipes maps templates of files for package managers to the files' names.
var recipes = map[string]string{
	"tfdeps.rb.tmpl": "tfdeps.rb", "scoop.json.tmpl": "tfdeps.json",
	"winget.version.yaml.tmpl": "tfdeps.tfdeps.yaml", "winget.installer.yaml.tmpl": "tfdeps.tfdeps.installer.yaml", "winget.locale.yaml.tmpl": "tfdeps.tfdeps.locale.en-US.yaml",
}

// installScript returns a script with the version, the URL and the key of the release in the three lines for them. If the script has
// a key already, it has to be that of the release.
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

// assignment returns the line of a script that assigns a variable.
func assignment(script, variable, value string) string {
	if strings.HasSuffix(script, ".ps1") {
		return "\n$" + variable + " = '" + value + "'\n"
	}
	return "\n" + variable + "=" + value + "\n"
}

// filledIn executes the template of a recipe.
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
