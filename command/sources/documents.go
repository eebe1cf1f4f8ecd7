package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// documents caches lists of versions, discovery documents and outlines of configurations from run to run, in a directory of the user's own. No list
// is used before its registry has confirmed that it hasn't changed.
type documents struct {
	dir   string
	now   func() time.Time
	own   func() bool // reports whether this user alone can write to dir; checked once
	swept func() bool // sweeps, once
}

const (
	maxKept = 4 << 20             // maximum bytes of a file
	keptFor = 30 * 24 * time.Hour // since it was last written
	mostOf  = 2000                // maximum number of files
)

// kept is the content of a file.
type kept struct {
	Tag    string      `json:"etag"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
	SHA256 []byte      `json:"sha256"` // of the body
}

// keptDocuments returns the cached documents of a user; ok is false if nothing may be cached.
func keptDocuments(m *cli.Meta) (d documents, ok bool) {
	if m.StateDir == "" || !m.Remembers {
		return d, false
	}
	d = documents{dir: filepath.Join(m.StateDir, "documents"), now: m.Now}
	d.own, d.swept = sync.OnceValue(func() bool { return owner.IsOwnDir(d.dir) }), sync.OnceValue(d.sweep)
	return d, true
}

// keepDocuments wraps a client: documents that an earlier run got are requested with If-None-Match.
func keepDocuments(client *http.Client, m *cli.Meta) *http.Client {
	d, ok := keptDocuments(m)
	if !ok {
		return client
	}
	return hosts.WithDocuments(client, d, func(req *http.Request) bool {
		name := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
		return name == "versions" || name == "index.json" || name == "terraform.json" // other documents may have signed URLs, which are secrets
	})
}

// Recalled returns a network that sends nothing, starts no program and answers with the cached lists of versions of earlier runs. It is for
// explanations when by, such as "-offline", forbids requests.
func Recalled(m *cli.Meta, config *cliconfig.Config, by string) Network {
	remembering, unaided := *m, *config
	remembering.Remembers, unaided.Helper = true, nil
	client := keepDocuments(&http.Client{Transport: unchanged{hosts.NewOfflineClient(by).Transport}}, &remembering)
	made, _ := unaided.Network(cliconfig.NetworkOptions{Client: client, User: user(m)})
	return Network{Hosts: places.Hosts{Network: made, User: user(m)}}
}

// unchanged answers requests for cached documents with 304 Not Modified.
type unchanged struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (u unchanged) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("If-None-Match") != "" {
		return &http.Response{StatusCode: http.StatusNotModified, Body: http.NoBody, Request: req}, nil
	}
	return u.RoundTripper.RoundTrip(req)
}

// Outlines returns the cache for outlines of large configurations, beside the documents, or nil if nothing may be cached.
func Outlines(m *cli.Meta) load.Outlines {
	if d, ok := keptDocuments(m); ok {
		return outlines{d, "outline of " + m.Version + " "}
	}
	return nil
}

type outlines struct {
	kept   documents
	prefix string // of keys
}

// Get implements load.Outlines.
func (o outlines) Get(key string) ([]byte, bool) {
	found, ok := o.kept.Get(o.prefix + key)
	return found.Body, ok && found.Tag == key
}

// Put implements load.Outlines.
func (o outlines) Put(key string, content []byte) {
	o.kept.Put(o.prefix+key, hosts.Remembered{Tag: key, Body: content})
}

func (d documents) path(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(d.dir, hex.EncodeToString(sum[:])+".json")
}

// Get implements hosts.Documents. A damaged file counts as missing.
func (d documents) Get(key string) (found hosts.Remembered, ok bool) {
	if !d.own() {
		return found, false
	}
	content, err := wholefile.Read(d.path(key), maxKept)
	var k kept
	if err != nil || json.Unmarshal(content, &k) != nil {
		return found, false
	}
	sum := sha256.Sum256(k.Body)
	return hosts.Remembered{Tag: k.Tag, Header: k.Header, Body: k.Body}, string(sum[:]) == string(k.SHA256) && k.Tag != ""
}

// Put implements hosts.Documents. A document that can't be written, or isn't complete JSON, is requested again by the next run.
func (d documents) Put(key string, r hosts.Remembered) {
	header := r.Header.Clone()
	header.Del("Set-Cookie")
	sum := sha256.Sum256(r.Body)
	content, err := json.Marshal(kept{r.Tag, header, r.Body, sum[:]})
	if err != nil || len(content) > maxKept || !json.Valid(r.Body) || !d.own() || os.MkdirAll(d.dir, 0o700) != nil {
		return
	}
	_ = wholefile.Write(d.path(key), content, 0o600)
	d.swept()
}

// sweep removes files older than keptFor, and all files if there are more than mostOf.
func (d documents) sweep() bool {
	files, _ := os.ReadDir(d.dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && (len(files) > mostOf || d.now().Sub(info.ModTime()) > keptFor) {
			_ = patient.Remove(filepath.Join(d.dir, f.Name()))
		}
	}
	return true
}
