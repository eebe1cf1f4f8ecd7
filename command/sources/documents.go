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

// documents keeps lists of versions, what hosts offer and outlines of configurations from run to run, in a directory of the user's own. No list
// is used before its registry has said that it still holds.
type documents struct {
	dir   string
	now   func() time.Time
	own   func() bool // reports whether this user alone can write to dir, and looks once
	swept func() bool // sweeps, once
}

const (
	maxKept = 4 << 20             // bytes of a file
	keptFor = 30 * 24 * time.Hour // since it was last written
	mostOf  = 2000                // files
)

// kept is the content of such a file.
type kept struct {
	Tag    string      `json:"etag"`
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
	SHA256 []byte      `json:"sha256"` // of the body
}

// keptDocuments are those of a user; ok is false if nothing may be kept.
func keptDocuments(m *cli.Meta) (d documents, ok bool) {
	if m.StateDir == "" || !m.Remembers {
		return d, false
	}
	d = documents{dir: filepath.Join(m.StateDir, "documents"), now: m.Now}
	d.own, d.swept = sync.OnceValue(func() bool { return owner.IsOwnDir(d.dir) }), sync.OnceValue(d.sweep)
	return d, true
}

// keepDocuments returns a client that does what the given one does, and asks for documents that an earlier run got on the condition that they have changed.
func keepDocuments(client *http.Client, m *cli.Meta) *http.Client {
	d, ok := keptDocuments(m)
	if !ok {
		return client
	}
	return hosts.WithDocuments(client, d, func(req *http.Request) bool {
		name := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
		return name == "versions" || name == "index.json" || name == "terraform.json" // others may hold URLs that are secrets
	})
}

// Recalled is a network that sends nothing, starts no program and answers with the lists of versions that earlier runs got: for explanations
// of what by, such as "-offline", leaves unasked.
func Recalled(m *cli.Meta, config *cliconfig.Config, by string) Network {
	remembering, unaided := *m, *config
	remembering.Remembers, unaided.Helper = true, nil
	client := keepDocuments(&http.Client{Transport: unchanged{hosts.NewOfflineClient(by).Transport}}, &remembering)
	made, _ := unaided.Network(cliconfig.NetworkOptions{Client: client, User: user(m)})
	return Network{Hosts: places.Hosts{Network: made, User: user(m)}}
}

// unchanged says of each document that is known that it hasn't changed.
type unchanged struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (u unchanged) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("If-None-Match") != "" {
		return &http.Response{StatusCode: http.StatusNotModified, Body: http.NoBody, Request: req}, nil
	}
	return u.RoundTripper.RoundTrip(req)
}

// Outlines keeps what large configurations say, beside those documents; nil: nothing may be kept.
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

// Get implements hosts.Documents. A file that is damaged isn't there.
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

// Put implements hosts.Documents. What can't be written, or was cut or changed on the way, is asked for again.
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

// sweep removes what wasn't asked for lately, and everything if there is too much.
func (d documents) sweep() bool {
	files, _ := os.ReadDir(d.dir)
	for _, f := range files {
		if info, err := f.Info(); err == nil && (len(files) > mostOf || d.now().Sub(info.ModTime()) > keptFor) {
			_ = patient.Remove(filepath.Join(d.dir, f.Name()))
		}
	}
	return true
}
