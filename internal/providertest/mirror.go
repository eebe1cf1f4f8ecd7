package providertest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// mirrorPath is the path of a mirror's documents and archives.
const mirrorPath = "/providers/"

// Mirror is a running network mirror. Many goroutines may use it.
type Mirror struct {
	*Server
	opts MirrorOptions
	catalogue
}

// MirrorOptions configures NewMirror; the zero value works.
type MirrorOptions struct {
	CA    *CA  // nil means a new one
	Plain bool // use http
	// ArchiveURL is the URL of another mirror, to which the documents' URLs of archives lead; ""
	// means relative URLs.
	ArchiveURL string
	NoHashes   bool // documents have no hashes, whatever the packages say
}

// NewMirror starts a mirror on a free port of 127.0.0.1. Close stops it. Its requests are of the
// kinds "index", "version" and "archive"; it has no files for the kinds "sums" and "signature".
func NewMirror(opts MirrorOptions) (*Mirror, error) {
	server, err := newServer(ServerOptions{CA: opts.CA, Plain: opts.Plain})
	if err != nil {
		return nil, err
	}
	m := &Mirror{Server: server, opts: opts}
	m.start(m.handler())
	return m, nil
}

// Add publishes a package of a provider with the given host, and replaces one with the same
// address, version and platform. It panics if ArchivePath can't be read.
func (m *Mirror) Add(host string, p PackageSpec) { m.add(host, p) }

// URL returns the mirror's base URL, with a trailing slash.
func (m *Mirror) URL() string { return m.BaseURL() + mirrorPath }

func (m *Mirror) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(mirrorPath+"{host}/{namespace}/{type}/{file}", func(w http.ResponseWriter, req *http.Request) {
		kind, find := m.route(req.PathValue("file"))
		m.answer(w, req, kind, find)
	})
	m.handle(mux, "other", "/", nothing)
	return mux
}

// route returns the kind of a file, and the function that finds it.
func (m *Mirror) route(file string) (kind string, find func(*http.Request) answer) {
	version, isDocument := strings.CutSuffix(file, ".json")
	switch {
	case file == "index.json":
		return "index", m.index
	case isDocument:
		return "version", func(req *http.Request) answer { return m.describe(req, version) }
	default:
		return fileKind(file), m.archive
	}
}

func (m *Mirror) index(req *http.Request) answer {
	packages := m.asked(req)
	if len(packages) == 0 {
		return answer{}
	}
	return document(typeJSON, mirrorIndex(packages))
}

func (m *Mirror) describe(req *http.Request, version string) answer {
	packages := m.version(req.PathValue("host"), req.PathValue("namespace"), req.PathValue("type"), version)
	if len(packages) == 0 {
		return answer{}
	}
	return document(typeJSON, m.versionDocument(packages))
}

func (m *Mirror) archive(req *http.Request) answer {
	for _, p := range m.asked(req) {
		if p.archiveName() == req.PathValue("file") {
			return archiveAnswer(p)
		}
	}
	return answer{}
}

// asked returns the packages of a request's provider.
func (m *Mirror) asked(req *http.Request) []servedPackage {
	return m.provider(req.PathValue("host"), req.PathValue("namespace"), req.PathValue("type"))
}

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
	if h1, err := zipHash(content); err == nil { // tests may have archives that aren't zip files
		hashes = append([]string{h1}, hashes...)
	}
	return hashes
}

// zipHash returns the h1 of an archive, directories included. It doesn't use the package under
// test, so that the two check each other.
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
