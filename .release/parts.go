package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// part is a module that the program links, or Go's standard library.
type part struct {
	path, version string
	sum           string // as in go.sum, or ""
	licences      []licence
}

// licence is a file of a module with a licence or a notice.
type licence struct {
	id   string // SPDX identifier
	name string
	text []byte
}

// readParts reads the modules of a program from its build info, and their licences from the module cache.
func readParts(s source, binary string) ([]part, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	if info.Main.Version != s.version {
		return nil, fmt.Errorf("the program was built as version %q", info.Main.Version)
	}
	root, err := run(s.dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std := part{path: "std", version: info.GoVersion}
	if std.licences, err = readLicences(root); err != nil {
		return nil, err
	}
	all := []part{std}
	for _, module := range info.Deps {
		if module.Replace != nil {
			return nil, fmt.Errorf("%s is replaced", module.Path)
		}
		dir, err := run(s.dir, nil, "go", "list", "-m", "-f", "{{.Dir}}", module.Path+"@"+module.Version)
		if err != nil {
			return nil, err
		}
		p := part{path: module.Path, version: module.Version, sum: module.Sum}
		if p.licences, err = readLicences(dir); err != nil {
			return nil, fmt.Errorf("%s: %w", module.Path, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// readLicences reads the files with licences and notices at the top of a module. It is an error if
// there is no licence, or an unknown one.
func readLicences(dir string) ([]licence, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []licence
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "UNLICENSE", "COPYING", "NOTICE"}, func(s string) bool { return strings.HasPrefix(name, s) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		l := licence{name: e.Name(), text: text}
		if !strings.HasPrefix(name, "NOTICE") {
			if l.id = identify(text); l.id == "" {
				return nil, fmt.Errorf("the licence in %s isn't a known one", e.Name())
			}
		}
		all = append(all, l)
	}
	if !slices.ContainsFunc(all, func(l licence) bool { return l.id != "" }) {
		return nil, errors.New("there is no licence")
	}
	return all, nil
}

// identify returns the licences of a text as an SPDX expression, or "" if less than 75 % of the text is a licence.
func identify(text []byte) string {
	cover := licensecheck.Scan(text)
	if cover.Percent < 75 {
		return ""
	}
	var ids []string
	for _, match := range cover.Match {
		if !match.IsURL && !slices.Contains(ids, match.ID) {
			ids = append(ids, match.ID)
		}
	}
	return strings.Join(ids, " AND ")
}

// licences returns the text that has to be distributed with the program: all licences and notices, each below its module.
func licences(parts []part) []byte {
	var b bytes.Buffer
	b.WriteString("tfdeps is made of the following modules, under these licences. The source of each\nis at the path and version given here, as https://proxy.golang.org has it.\n")
	rule := strings.Repeat("=", 100)
	for _, p := range parts {
		for _, l := range p.licences {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%s\n\n%s\n", rule, p.path, p.version, l.name, rule, bytes.TrimSpace(l.text))
		}
	}
	return b.Bytes()
}
