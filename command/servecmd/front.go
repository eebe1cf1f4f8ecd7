package servecmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// front is all that the server answers.
type front struct {
	mirror *mirrorserver.Server
	log    *slog.Logger
	now    func() time.Time

	version     string
	begun       time.Time
	timings     timings
	held        atomic.Pointer[held]
	allow       func(*http.Request) bool // nil: everyone may see how the server does
	measure     func(*http.Request) bool // the same for the metrics
	apart       bool                     // metrics have an address of their own
	ending      atomic.Int64             // not 0: the server is to end, and clients are to go elsewhere
	opts        options
	certificate *certificateFile                  // nil: none is named
	clients     par.Shared[string, *atomic.Int64] // requests that run, by client
	limited     atomic.Int64                      // requests that were too many for one client

	taking, sending, news time.Duration // others than takingTimeout, headerTimeout and newsEvery in tests
}

func newFront(log *slog.Logger, now func() time.Time) *front {
	return &front{log: log, now: now, taking: takingTimeout, sending: headerTimeout, news: newsEvery}
}

func (f *front) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mirror/", http.StripPrefix("/mirror", f.mirror))
	f.operate(mux, !f.apart)
	mux.HandleFunc("GET /status.json", allowed(f.allow, f.serveStatus))
	mux.HandleFunc("GET /{$}", allowed(f.allow, servePage))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "there is nothing here: the URL of the mirror ends with /mirror/", http.StatusNotFound)
	})
	return f.logged(mux)
}

// operate answers those who run the server.
func (f *front) operate(mux *http.ServeMux, measured bool) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if f.ending.Load() > 0 {
			http.Error(w, "the server is about to end", http.StatusServiceUnavailable)
			return
		}
		if err := f.mirror.Ready(r.Context()); err != nil {
			f.log.Error("not ready", "error", err.Error())
			http.Error(w, "the directory or bucket can't be read", http.StatusServiceUnavailable)
			return
		}
		w.Write([]byte("ok\n"))
	})
	if measured {
		mux.HandleFunc("GET /metrics", allowed(f.measure, f.serveMetrics))
	}
}

// allowed answers only those who may see how the server does; nil: everyone. A browser sends a token as a password.
func allowed(allow func(*http.Request) bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if allow != nil && !allow(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="a token of tfdeps serve is the password"`)
			http.Error(w, "the request needs a token, as a bearer token or as the password", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// logged writes a line for each request, when it has been answered. The query may be a signature, and headers may be
// tokens: neither is in it.
func (f *front) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := new(asker)
		r = r.WithContext(context.WithValue(r.Context(), askerKey{}, who))
		client := f.opts.client(r)
		begun, counted := f.now(), &countedResponse{ResponseWriter: w, status: http.StatusOK, control: http.NewResponseController(w), front: f}
		defer func() {
			f.timings.answered(r.URL.Path, f.now().Sub(begun))
			f.log.Info("request", "method", r.Method, "path", r.URL.Path, "status", counted.status, "bytes", counted.bytes,
				"seconds", float64(f.now().Sub(begun).Milliseconds())/1000, "by", answeredBy(w.Header()), "from", client, "who", who.token, "agent", r.UserAgent())
		}()
		defer counted.extend() // for what is still in a buffer
		if r.ContentLength != 0 {
			// Without an end of its own, the server would wait for a body that never comes.
			_ = counted.control.SetReadDeadline(begun.Add(f.sending))
		}
		if f.ending.Load() > 0 {
			w.Header().Set("Connection", "close")
		}
		running, _ := f.clients.Join(client, func() *atomic.Int64 { return new(atomic.Int64) })
		defer f.clients.Leave(client, running)
		defer running.Value.Add(-1)
		if now := running.Value.Add(1); f.opts.perClient > 0 && now > int64(f.opts.perClient) && strings.HasPrefix(r.URL.Path, "/mirror/") { // and not those of balancers that ask how it does
			f.limited.Add(1)
			w.Header().Set("Retry-After", "5")
			http.Error(counted, "too many requests of this client run: -max-per-client says how many may", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(counted, r)
	})
}

// answeredBy is what an answer came from: "store", "upstream", or "", if neither was asked.
func answeredBy(header http.Header) string {
	switch status := header.Get("Cache-Status"); {
	case strings.HasSuffix(status, "hit"):
		return "store"
	case status != "":
		return "upstream"
	}
	return ""
}

// countedResponse remembers what was answered.
type countedResponse struct {
	http.ResponseWriter
	status int
	bytes  int64

	control *http.ResponseController
	front   *front
}

// takingTimeout is how long a client may take for a piece of an answer, which has 32 kB at most.
const takingTimeout = time.Minute

// extend gives the client that long from now on. The whole may take any time, as archives are large, but a client that
// takes nothing would have a connection and a reader of the bucket for ever. There is no deadline between two pieces:
// HTTP/2 resets a stream whose deadline has passed although nothing is being written.
func (c *countedResponse) extend() {
	_ = c.control.SetWriteDeadline(c.front.now().Add(c.front.taking))
}

func (c *countedResponse) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *countedResponse) Write(p []byte) (int, error) {
	c.extend()
	n, err := c.ResponseWriter.Write(p)
	_ = c.control.SetWriteDeadline(time.Time{})
	c.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *countedResponse) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// withFiles reads the certificate and the tokens that options name, and has only those answered that have a token.
func (f *front) withFiles(ctx context.Context, o options, to *mirrorserver.Options, bucket blob.Bucket) (err error) {
	open := func(option, path string) (func(*http.Request) bool, error) {
		if path == "" {
			return nil, nil
		}
		tokens := &tokenFile{path: path, log: to.Log}
		if _, err := tokens.read(); err != nil {
			return nil, fmt.Errorf("the tokens of %s can't be read: %w", option, withoutOp(err))
		}
		return tokens.allow, nil
	}
	if o.cert != "" {
		f.certificate = &certificateFile{cert: o.cert, key: o.key, log: to.Log}
		if _, err := f.certificate.read(); err != nil {
			return err
		}
	}
	if to.Allow, err = open("-tokens", o.tokens); err != nil {
		return err
	}
	f.apart, f.allow, f.measure = o.metricsListen != "", to.Allow, to.Allow
	if f.apart || o.metricsTokens != "" {
		if f.measure, err = open("-metrics-token", o.metricsTokens); err != nil {
			return err
		}
	}
	if to.Allow != nil {
		if to.SigningKey, err = signingKey(ctx, bucket); err != nil {
			return fmt.Errorf("the key for signed URLs, which -tokens needs, can't be kept: %w", err)
		}
	}
	return nil
}

// tokenFile knows the tokens in a file.
type tokenFile struct {
	path  string
	log   *slog.Logger
	known atomic.Pointer[tokens]
}

// tokens are the SHA-256 of each, with its name: the time that a lookup takes reveals nothing of the valid ones. A token without a
// name has the beginning of its SHA-256.
type tokens struct {
	names map[[sha256.Size]byte]string
	from  [sha256.Size]byte // the SHA-256 of the file
}

// tokenBytes is how large the file may be.
const tokenBytes = 1 << 20

// read returns the tokens that are in the file now. What the file system says of its time isn't enough: two changes within a tick
// of its clock look like one.
func (t *tokenFile) read() (*tokens, error) {
	content, err := wholefile.Read(t.path, tokenBytes)
	if err != nil {
		return nil, err
	}
	from := sha256.Sum256(content)
	if known := t.known.Load(); known != nil && known.from == from {
		return known, nil
	}
	found := &tokens{names: map[[sha256.Size]byte]string{}, from: from}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			token, name, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			sum := sha256.Sum256([]byte(token))
			found.names[sum] = cmp.Or(strings.TrimSpace(name), hex.EncodeToString(sum[:4]))
		}
	}
	if len(found.names) == 0 {
		return nil, errors.New(t.path + " has no token")
	}
	t.known.Store(found)
	return found, nil
}

// allow reports whether a request has one of the tokens. While the file can't be read, or has none, no request has one: tokens
// that were there may have been taken away.
func (t *tokenFile) allow(r *http.Request) bool {
	now, err := t.read()
	if err != nil {
		t.log.Error("no request is allowed, because tokens can't be read", "error", err.Error())
		return false
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if _, password, ok := r.BasicAuth(); ok {
		scheme, token = "bearer", password
	}
	name := now.names[sha256.Sum256([]byte(strings.TrimSpace(token)))]
	if !strings.EqualFold(scheme, "bearer") || name == "" {
		return false
	}
	if who, ok := r.Context().Value(askerKey{}).(*asker); ok {
		who.token = name
	}
	return true
}

// keyName is where the servers of a bucket find the key by which they sign URLs.
const keyName = "serve/urls.key"

// signingKey returns the key in the bucket, which the first server makes.
func signingKey(ctx context.Context, bucket blob.Bucket) ([]byte, error) {
	made := make([]byte, 32)
	rand.Read(made) // never fails
	_, err := bucket.Put(ctx, keyName, blob.Bytes(made), blob.PutOptions{IfAbsent: true, Private: true})
	if err != nil && !errors.Is(err, blob.ErrExists) {
		return nil, err
	}
	key, _, err := blob.ReadAll(ctx, bucket, keyName, 1<<10)
	return key, err
}

// fresh is a source that is made again for each question: one that remembers answers would fill the memory with what
// others asked for, and the server itself knows how long answers are good.
type fresh struct {
	getproviders.Source // the first one
	make                func() (getproviders.Source, error)
}

func newFresh(make func() (getproviders.Source, error)) (fresh, error) {
	source, err := make()
	return fresh{source, make}, err
}

// Fresh returns the source for one question. If none can be made any more, it is the first one.
func (f fresh) Fresh() getproviders.Source {
	if made, err := f.make(); err == nil {
		return made
	}
	return f.Source
}

// Versions implements getproviders.Source.
func (f fresh) Versions(ctx context.Context, p getproviders.Provider) (getproviders.Available, error) {
	return f.Fresh().Versions(ctx, p)
}

// Package implements getproviders.Source.
func (f fresh) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	return f.Fresh().Package(ctx, p, v, plat)
}

// asker is who sends a request, as far as that is found out while it is answered.
type asker struct{ token string } // the name of its token; "": it has none, or the signature of a URL

// askerKey is the key of an asker in the context of a request, where tokenFile finds it.
type askerKey struct{}

// client is the address of the client. Behind proxies that are trusted it is what they say: the last address in X-Forwarded-For, or
// else in Forwarded, that isn't one of theirs. A client can write what it likes in front of that.
func (o options) client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if said[0] == "" {
		said = forwardedFor(r.Header.Values("Forwarded"))
	}
	for _, text := range slices.Backward(said) {
		if at, err := netip.ParseAddr(host); err != nil || !slices.ContainsFunc(o.proxies, func(p netip.Prefix) bool { return p.Contains(at.Unmap()) }) {
			break
		}
		text = strings.Trim(strings.TrimSpace(text), `"`)
		if at, err := netip.ParseAddrPort(text); err == nil {
			text = at.Addr().String()
		}
		at, err := netip.ParseAddr(strings.Trim(text, "[]"))
		if err != nil {
			break
		}
		host = at.WithZone("").String()
	}
	return host
}

// forwardedFor returns what stands behind "for=" in each element of the header.
func forwardedFor(values []string) (all []string) {
	for _, element := range strings.Split(strings.Join(values, ","), ",") {
		found := ""
		for _, pair := range strings.Split(element, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				found = value
			}
		}
		all = append(all, found)
	}
	return all
}
