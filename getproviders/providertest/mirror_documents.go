package providertest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
)

type archiveEntry struct {
	URL    string   `json:"url"`
	Hashes []string `json:"hashes,omitempty"`
}

func mirrorIndex(packages []servedPackage) []byte {
	versions := make(map[string]struct{})
	for _, p := range packages {
		versions[p.Version] = struct{}{}
	}
	return toJSON(map[string]any{"versions": versions})
}

// versionDocument describes the packages of one version.
func (m *Mirror) versionDocument(packages []servedPackage) []byte {
	archives := make(map[string]archiveEntry)
	for _, p := range packages {
		entry := archiveEntry{URL: p.archiveName()}
		if m.opts.ArchiveURL != "" {
			entry.URL = m.opts.ArchiveURL + strings.Join([]string{p.host, p.Namespace, p.Type, entry.URL}, "/")
		}
		if !m.opts.NoHashes {
			entry.Hashes = p.listedHashes()
		}
		archives[p.Platform.OS+"_"+p.Platform.Arch] = entry
	}
	return toJSON(map[string]any{"archives": archives})
}

func (p servedPackage) listedHashes() []string {
	if p.Hashes != nil {
		return p.Hashes
	}
	hashes := []string{fmt.Sprintf("zh:%x", p.sha256)}
	archive, done, err := p.open()
	if err != nil {
		return hashes
	}
	defer done()
	content, err := io.ReadAll(archive)
	if err != nil {
		return hashes
	}
	if h1, err := zipHash(content); err == nil { // else it is no zip: then tests are about that
		hashes = append([]string{h1}, hashes...)
	}
	return hashes
}

// zipHash is the h1 of an archive, directories included. It is written out
// here, rather than asked of the package under test, so that the two check each
// other.
func zipHash(content []byte) (string, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", err
	}
	slices.SortFunc(archive.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	all := sha256.New()
	for _, file := range archive.File {
		r, err := file.Open()
		if err != nil {
			return "", err
		}
		one := sha256.New()
		if _, err := io.Copy(one, r); err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%x  %s\n", one.Sum(nil), file.Name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(all.Sum(nil)), nil
}
