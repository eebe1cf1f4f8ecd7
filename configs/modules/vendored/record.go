package vendored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// Where things are, below the working directory, slash-separated.
const (
	RecordName = "terraform.d/vendor.json"
	PluginsDir = "terraform.d/plugins"
	ModulesDir = ".terraform/modules"
)

// formatVersion is the first number of the format that is read; a second one
// that is higher has more keys.
const formatVersion = "1.0"

// maxRecordBytes is much more than the record of the largest tree has.
const maxRecordBytes = 16 << 20

// Record says what a directory has been vendored for. The zero value is that of
// one that hasn't been.
type Record struct {
	Platforms []getproviders.Platform // sorted, each once
	Unpacked  bool                    // providers are directories instead of archives
	LFS       bool                    // archives are for git LFS

	// Providers are those whose packages vendor has put there, sorted, each once.
	// Packages of others are the user's own.
	Providers []getproviders.Provider

	// Modules are the hashes of the packages, by key, as package modulelock
	// computes them.
	Modules map[string]getproviders.Hash
}

// recordFile is how the record is written.
type recordFile struct {
	FormatVersion string                       `json:"format_version"`
	Platforms     []string                     `json:"platforms"`
	Unpacked      bool                         `json:"unpacked"`
	LFS           bool                         `json:"lfs"`
	Providers     []string                     `json:"providers"`
	Modules       map[string]getproviders.Hash `json:"modules"`
}

// ReadRecord reads the record of a working directory. If there is none, the
// Record is zero and there is no error.
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

// Encode returns the content of the file: the same bytes for equal records.
func (r Record) Encode() []byte {
	file := recordFile{FormatVersion: formatVersion, Platforms: namesOf(r.Platforms), Unpacked: r.Unpacked, LFS: r.LFS, Providers: namesOf(r.Providers), Modules: r.Modules}
	if file.Modules == nil {
		file.Modules = map[string]getproviders.Hash{}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if encoder.Encode(file) != nil { // there is nothing in it that can't be encoded
		return nil
	}
	return b.Bytes()
}

// namesOf are the names of some things, sorted, each once.
func namesOf[T fmt.Stringer](all []T) []string {
	names := []string{}
	for _, one := range all {
		names = append(names, one.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Save writes the record of a working directory, unless it is there.
func (r Record) Save(dir string) error {
	path, content := filepath.Join(dir, filepath.FromSlash(RecordName)), r.Encode()
	if wholefile.Has(path, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return wholefile.Write(path, content, 0o644)
}
