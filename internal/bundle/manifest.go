package bundle

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ManifestName is the name of the first entry.
const ManifestName = "tfdeps-bundle.json"

const (
	formatVersion    = "1.0"
	maxManifestBytes = 64 << 20
	maxEntries       = 1_000_000
	maxBytes         = 64 << 30 // of all files
)

// Manifest lists the entries of an archive.
type Manifest struct {
	FormatVersion string  `json:"format_version"`
	Files         []Entry `json:"files"` // sorted by path
}

// Entry is a file, or a symlink if Link isn't "".
type Entry struct {
	Path       string `json:"path"` // slash-separated, below the directory
	Size       int64  `json:"size"` // in bytes
	SHA256     string `json:"sha256,omitempty"`
	Executable bool   `json:"executable,omitempty"`
	Link       string `json:"link,omitempty"` // slash-separated, relative to the symlink's directory
}

// DecodeManifest parses a manifest, and checks all that [Unpack] can check without the other
// entries.
func DecodeManifest(content []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s can't be read: %w", ManifestName, err)
	}
	if major, _, _ := strings.Cut(m.FormatVersion, "."); major != "1" {
		return Manifest{}, fmt.Errorf("the format of the archive is %q, and this program knows %s", m.FormatVersion, formatVersion)
	}
	if err := m.check(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// check reports the first violation of the format's rules in a manifest.
func (m Manifest) check() error {
	if len(m.Files) > maxEntries {
		return fmt.Errorf("there are %d entries, and %d are allowed", len(m.Files), maxEntries)
	}
	names, dirs := map[string]bool{}, map[string]bool{".": true}
	var bytes int64
	for i, e := range m.Files {
		if err := e.check(); err != nil {
			return err
		}
		folded := strings.ToLower(e.Path)
		if i > 0 && m.Files[i-1].Path >= e.Path || names[folded] {
			return fmt.Errorf("%q is there twice, or out of order", e.Path)
		}
		names[folded] = true
		for dir := path.Dir(folded); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
		if bytes += e.Size; bytes > maxBytes || bytes < 0 {
			return fmt.Errorf("the files have more than the %d bytes that are allowed", int64(maxBytes))
		}
	}
	for _, e := range m.Files {
		folded := strings.ToLower(e.Path)
		if dirs[folded] {
			return fmt.Errorf("%q is a file, and others are below it", e.Path)
		}
		to := strings.ToLower(path.Join(path.Dir(e.Path), e.Link))
		if e.Link != "" && (to == "." || !names[to] && !dirs[to]) {
			return fmt.Errorf("the link %q leads to %q, which is not in the archive", e.Path, e.Link)
		}
	}
	return nil
}

var errName = errors.New("it is not the path of a file that can be unpacked")

// check checks one entry by itself.
func (e Entry) check() error {
	sum, err := hex.DecodeString(e.SHA256)
	switch {
	case !validName(e.Path) || e.Path == ManifestName:
		return fmt.Errorf("%q: %w", e.Path, errName)
	case e.Size < 0:
		return fmt.Errorf("%q has a size below zero", e.Path)
	case e.Link == "":
		if err != nil || len(sum) != 32 || strings.ToLower(e.SHA256) != e.SHA256 {
			return fmt.Errorf("%q has no SHA-256", e.Path)
		}
	case e.Size != 0 || e.SHA256 != "" || e.Executable || !validLink(e.Link):
		return fmt.Errorf("%q is a link that can't be unpacked", e.Path)
	}
	return nil
}

// validName reports whether a path can be unpacked and means the same file on every system.
func validName(name string) bool {
	if !fs.ValidPath(name) || name == "." || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if strings.EqualFold(part, ".git") {
			return false
		}
		if strings.Contains(part, ":") && (runtime.GOOS == "windows" || !isHostWithPort(part)) {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}

// isHostWithPort reports whether part is HOST:PORT, which is the name of a directory of a
// registry's packages. Windows can't have it: a colon separates drives and streams there, and
// Terraform can't make its own directories of such hosts either.
func isHostWithPort(part string) bool {
	host, port, _ := strings.Cut(part, ":")
	_, err := strconv.ParseUint(port, 10, 16)
	return len(host) > 1 && err == nil
}

// validLink reports whether a target goes up first and then down: so its text alone says where it
// leads, whatever other symlinks exist.
func validLink(target string) bool {
	down := target
	for strings.HasPrefix(down, "../") {
		down = down[len("../"):]
	}
	if down == ".." || down == "." || down == "" {
		return path.Clean(target) == target && target != ""
	}
	return path.Clean(target) == target && validName(down)
}
