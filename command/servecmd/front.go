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

// front answers all requests to the server.
type front struct {
	mirror *mirrorserver.Server
	log    *slog.Logger
	now    func() time.Time

	version     string
	begun       time.Time
	timings     timings
	held        atomic.Pointer[held]
	allow       func(*http.Request) bool // nil means that everyone may see the status page
	measure     func(*http.Request) bool // the same for the metrics
	apart       bool                     // metrics have their own address
	ending      atomic.Int64             // not 0 once the server shuts down, so that balancers send clients elsewhere
	opts        options
	certificate *certificateFile                  // nil without -tls-cert
	clients     par.Shared[string, *atomic.Int64] // number of running requests, by client
	limited     atomic.Int64                      // requests refused because of -max-per-client

	taking, sending, news time.Duration // takingTimeout, headerTimeout and newsEvery, but shorter in tests
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

// operate adds the endpoints for operators.
func (f *front) operate(mux *http.ServeMux, measured bool) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if f.ending.Load() > 0 {
			http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
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

// allowed answers only requests that allow accepts; a nil allow accepts all. A browser sends a token as a password.
func allowed(allow func(*http.Request) bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if allow != nil && !allow(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="a token of tfdeps serve is the password"`)
			text := "a token is missing: send it as a bearer token, or as the password"
			if r.Header.Get("Authorization") != "" {
				text = "this token isn't valid here"
			}
			http.Error(w, text, http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

// logged writes a log line for each answered request, without the query and the headers, because these may have
// signatures and tokens.
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
		defer counted.extend() // for bytes that are still in a buffer
		if r.ContentLength != 0 {
			// Without a deadline, the server would wait for a body that never comes.
			_ = counted.control.SetReadDeadline(begun.Add(f.sending))
		}
		if f.ending.Load() > 0 {
			w.Header().Set("Connection", "close")
		}
		running, _ := f.clients.Join(client, func() *atomic.Int64 { return new(atomic.Int64) })
		defer f.clients.Leave(client, running)
		defer running.Value.Add(-1)
		if now := running.Value.Add(1); f.opts.perClient > 0 && now > int64(f.opts.perClient) && strings.HasPrefix(r.URL.Path, "/mirror/") { // not the health checks of balancers
			f.limited.Add(1)
			w.Header().Set("Retry-After", "5")
			http.Error(counted, "this client has more requests running than -max-per-client allows", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(counted, r)
	})
}

// answeredBy returns where an answer came from: "store", "upstream", or "" if neither was asked.
func answeredBy(header http.Header) string {
	switch status := header.Get("Cache-Status"); {
	case strings.HasSuffix(status, "hit"):
		return "store"
	case status != "":
		return "upstream"
	}
	return ""
}

// countedResponse records the status and the bytes of a response.
type countedResponse struct {
	http.ResponseWriter
	status int
	bytes  int64

	control *http.ResponseController
	front   *front
}

// takingTimeout is how long a client may take to receive a piece of a response, which has 32 kB at most.
const takingTimeout = time.Minute

// extend sets the write deadline to takingTimeout from now. The whole response may take any time, because archives are large, but a client
// that reads nothing would hold a connection and a reader of the bucket for ever. Between two pieces no deadline is set, because
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

// withFiles reads the certificate and the tokens that options name, and makes the server demand the tokens.
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
	f.allow, err = open("-tokens", o.tokens)
	if err != nil {
		return err
	}
	f.apart = o.metricsListen != ""
	f.measure = f.allow
	if f.apart || o.metricsTokens != "" {
		if f.measure, err = open("-metrics-token", o.metricsTokens); err != nil {
			return err
		}
	}
	if f.allow != nil {
		to.Allow = func(r *http.Request) error {
			if f.allow(r) {
				return nil
			}
			return errNoToken
		}
		if to.SigningKey, err = signingKey(ctx, bucket); err != nil {
			return fmt.Errorf("the key for signed URLs, which -tokens needs, can't be stored: %w", err)
		}
		to.Sender, to.Admitted = senderOf, admitted
	}
	return nil
}

// errNoToken says that a request has no valid token.
var errNoToken = errors.New("no valid token")

// tokenFile has the tokens of a file, which is read again for each request.
type tokenFile struct {
	path  string
	log   *slog.Logger
	known atomic.Pointer[tokens]
}

// tokens maps the SHA-256 of each token to its name, so that the time of a lookup reveals nothing about valid tokens. A token without a
// name is named by the beginning of its SHA-256.
type tokens struct {
	names map[[sha256.Size]byte]string
	from  [sha256.Size]byte // the SHA-256 of the file
}

// tokenBytes is the maximum size of the file.
const tokenBytes = 1 << 20

// read returns the current tokens of the file. It compares the content and not the mtime, because two changes within a tick
// of the file system's clock have the same mtime.
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

// allow reports whether a request has one of the tokens. While the file can't be read, or is empty, it allows no request, because
// the earlier tokens may have been revoked.
func (t *tokenFile) allow(r *http.Request) bool {
	now, err := t.read()
	if err != nil {
		t.log.Error("all requests are refused, because the tokens can't be read", "error", err.Error())
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
	admitted(r, name)
	return true
}

// keyName is the object with the key by which the servers of a bucket sign URLs.
const keyName = "serve/urls.key"

// signingKey returns the key in the bucket, and creates it if it doesn't exist.
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

// fresh is a source that is made again for each query: a source that caches answers would fill the memory with what
// clients asked for, and the server itself caches answers for as long as they are valid.
type fresh struct {
	getproviders.Source // the first one
	make                func() (getproviders.Source, error)
}

// Fresh returns a source for one query, or the first source if making one fails.
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

// asker is the sender of a request, as far as authentication finds out.
type asker struct{ token string } // the name of its token, or of the one for which a URL was signed; "" without a token

// askerKey is the key of the asker in the context of a request.
type askerKey struct{}

// admitted records the name of the token by which a request is allowed, for the log.
func admitted(r *http.Request, token string) {
	who, ok := r.Context().Value(askerKey{}).(*asker)
	if ok {
		who.token = token
	}
}

// senderOf returns the name that admitted has recorded, or "".
func senderOf(r *http.Request) string {
	who, ok := r.Context().Value(askerKey{}).(*asker)
	if !ok {
		return ""
	}
	return who.token
}

// client returns the address of the client. Behind trusted proxies it is the last address in X-Forwarded-For, or
// else in Forwarded, that isn't a trusted proxy's. Addresses before that aren't used, because clients can write them.
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

// forwardedFor returns the value of "for=" in each element of the Forwarded header.
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
