package vendored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Slash-separated paths below the working directory.
const (
	RecordName = "terraform.d/vendor.json"
	PluginsDir = "terraform.d/plugins"
	ModulesDir = ".terraform/modules"
)

// formatVersion is the format that is written. Formats with the same major version are read; a
// higher minor version adds keys.
const formatVersion = "1.0"

// maxRecordBytes is much more than the largest tree's record.
const maxRecordBytes = 16 << 20

// Record says how a directory was vendored. The zero value means that it wasn't.
type Record struct {
	Platforms []getproviders.Platform // sorted, each once
	Unpacked  bool                    // providers are directories instead of archives
	LFS       bool                    // archives are for git LFS

	// Providers are those whose packages vendor has put there, sorted, each once. Packages of other
	// providers are the user's own.
	Providers []getproviders.Provider

	// Modules are the hashes of the packages, by key, as in package modulelock.
	Modules map[string]getproviders.Hash
}

// recordFile is the record in JSON.
type recordFile struct {
	FormatVersion string                       `json:"format_version"`
	Platforms     []string                     `json:"platforms"`
	Unpacked      bool                         `json:"unpacked"`
	LFS           bool                         `json:"lfs"`
	Providers     []string                     `json:"providers"`
	Modules       map[string]getproviders.Hash `json:"modules"`
}

// ReadRecord reads the record of a working directory. It returns the zero Record if the file
// doesn't exist.
func ReadRecord(dir string) (Record, error) {
	path := filepath.Join(dir, filepath.FromSlash(RecordName))
	content, err := wholefile.Read(path, maxRecordBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, err
	}
	r, err := DecodeRecord(content)
	if err != nil {
		return Record{}, fmt.Errorf("the record in %s: %w", path, err)
	}
	return r, nil
}

// DecodeRecord reads the content of the file.
func DecodeRecord(content []byte) (Record, error) {
	var file recordFile
	if err := json.Unmarshal(content, &file); err != nil {
		return Record{}, fmt.Errorf("not a record of what is vendored: %w", err)
	}
	if major, _, _ := bytes.Cut([]byte(file.FormatVersion), []byte(".")); string(major) != "1" {
		return Record{}, fmt.Errorf("its format is %q, and this program knows %s", file.FormatVersion, formatVersion)
	}
	r := Record{Unpacked: file.Unpacked, LFS: file.LFS, Modules: file.Modules}
	for _, text := range file.Platforms {
		plat, err := getproviders.ParsePlatform(text)
		if err != nil {
			return Record{}, err
		}
		r.Platforms = append(r.Platforms, plat)
	}
	for _, text := range file.Providers {
		p, err := getproviders.Terraform("").ParseProvider(text)
		if err != nil {
			return Record{}, err
		}
		r.Providers = append(r.Providers, p)
	}
	for key, hash := range file.Modules {
		if !hash.Supported() {
			return Record{}, fmt.Errorf("%q, for the module %s, is not a hash", hash, key)
		}
	}
	return r, nil
}

// Encode returns the content of the file. Equal records have the same bytes.
func (r Record) Encode() []byte {
	file := recordFile{FormatVersion: formatVersion, Platforms: namesOf(r.Platforms), Unpacked: r.Unpacked, LFS: r.LFS, Providers: namesOf(r.Providers), Modules: r.Modules}
	if file.Modules == nil {
		file.Modules = map[string]getproviders.Hash{}
	}
	text, _ := wholefile.JSON(file) // all its values can be encoded
	return text
}

// namesOf returns sorted names, each once.
func namesOf[T fmt.Stringer](all []T) []string {
	names := []string{}
	for _, one := range all {
		names = append(names, one.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Save writes the record of a working directory, unless the file has the same content.
func (r Record) Save(dir string) error {
	return wholefile.Save(filepath.Join(dir, filepath.FromSlash(RecordName)), r.Encode(), 0o644)
}

// Unit returns the unit of a vendored file, which is replaced as a whole: a slash-separated path below the
// working directory. Each archive of a provider, signed document, lock file and record is a unit, an
// unpacked package is one, and all modules with modules.json are one. ok is false for files that aren't
// vendored.
func Unit(name string) (unit string, ok bool) {
	switch name {
	case depsfile.FileName, modulelock.FileName, RecordName:
		return name, true
	}
	if strings.HasPrefix(name, ModulesDir+"/") {
		return ModulesDir, true
	}
	p, parts, ok := plugin(name)
	if !ok {
		return "", false
	}
	_, _, packed := p.ParsePackedName(parts[0])
	if _, signed := p.ParseDocumentName(parts[0]); len(parts) == 1 && (packed || signed) {
		return name, true
	}
	if len(parts) < 3 {
		return "", false
	}
	_, wrongVersion := getproviders.ParseVersion(parts[0])
	_, wrongPlatform := getproviders.ParsePlatform(parts[1])
	below := strings.Join(parts[2:], "/")
	return strings.TrimSuffix(name, "/"+below), wrongVersion == nil && wrongPlatform == nil
}

// PackageOf returns the provider and version of a unit that is a package. ok is false for other
// units.
func PackageOf(unit string) (p getproviders.Provider, v getproviders.Version, ok bool) {
	p, parts, ok := plugin(unit)
	if !ok {
		return p, v, false
	}
	if len(parts) == 1 {
		v, _, ok = p.ParsePackedName(parts[0])
		return p, v, ok
	}
	v, err := getproviders.ParseVersion(parts[0])
	return p, v, err == nil
}

// plugin reads the path of a provider's file or directory, and returns the parts after the provider's
// directory.
func plugin(name string) (p getproviders.Provider, parts []string, ok bool) {
	rest, ok := strings.CutPrefix(name, PluginsDir+"/")
	parts = strings.Split(rest, "/")
	if !ok || len(parts) < 4 {
		return p, nil, false
	}
	p, err := getproviders.Terraform("").ParseProvider(strings.Join(parts[:3], "/"))
	return p, parts[3:], err == nil
}

// LockFiles returns the files of a bundle besides those in [Places]. They are written last.
func LockFiles() []string { return []string{RecordName, modulelock.FileName, depsfile.FileName} }

// mayIgnore reports whether a line of a .gitignore may make git ignore a file or a directory above
// it. The name is slash-separated and relative to the directory of the .gitignore. It may
// return true wrongly, but never false: it doesn't apply lines that reverse others, ignores case, and assumes that
// patterns it doesn't understand match.
func mayIgnore(line, name string) bool {
	line = strings.TrimRight(strings.TrimRight(line, "\r\n"), " \t")
	if line == "" || line[0] == '#' || line[0] == '!' {
		return false
	}
	pattern := strings.ToLower(strings.TrimSuffix(line, "/"))
	odd := func(part string) bool { return part != "**" && strings.Contains(part, "**") }
	switch {
	case strings.Contains(pattern, "[:") || strings.Contains(pattern, "{") || slices.ContainsFunc(strings.Split(pattern, "/"), odd):
		return true
	case !strings.Contains(pattern, "/"):
		pattern = "**/" + pattern
	}
	for at := strings.ToLower(name); at != "."; at = path.Dir(at) {
		if matched, err := doublestar.Match(strings.TrimPrefix(pattern, "/"), at); matched || err != nil {
			return true
		}
	}
	return false
}

// harmless are attributes that change neither the repository's content nor a clone's.
var harmless = []string{
	"-text", "binary", "-crlf", "-ident", "!ident", "-filter", "!filter", "!eol",
	"diff", "merge", "whitespace", "export-ignore", "export-subst", "delta", "encoding", "conflict-marker-size",
}

// changesFiles reports whether a line of a .gitattributes may make git change the content of files.
// It never returns false wrongly.
func changesFiles(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 || fields[0][0] == '#' {
		return false
	}
	if fields[0][0] == '"' { // the pattern may have spaces
		return true
	}
	return slices.ContainsFunc(fields[1:], func(attribute string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(attribute, "-!"), "=")
		known := slices.Contains(harmless, attribute) || slices.Contains(harmless, name)
		return !known && !strings.HasPrefix(name, "linguist-") && !strings.HasPrefix(name, "gitlab-")
	})
}
