package mirrorserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Handler returns a server that answers from the bucket, and asks the Fetcher's Source for the rest. The caller
// closes the server, and then the bucket. The error is about the options. The Fetcher's Choice says which versions
// are listed. Its Policy is asked about every archive before it is downloaded, with getproviders.StateKnown, before
// it is stored, and each time that it is served, with getproviders.StateCached. A Client whose
// dialer refuses private addresses keeps registries from redirecting it to them.
//
// If the Source has a method Fresh() getproviders.Source, that is called once for each
// question, and the result is asked. It is for sources that cache all answers.
func Handler(f *providercache.Fetcher, bucket blob.Bucket, opts Options) (*Server, error) {
	if f == nil || bucket == nil {
		return nil, errors.New("a mirror server needs a Fetcher and a bucket")
	}
	if opts.SigningKey != nil && len(opts.SigningKey) < 16 {
		return nil, errors.New("a key that signs URLs has 16 bytes at least")
	}
	opts.MemoryBytes = cmp.Or(opts.MemoryBytes, 1<<30)
	opts.Temporary = cmp.Or(opts.Temporary, os.TempDir())
	opts.Waiting, opts.Requests = cmp.Or(opts.Waiting, 1000), cmp.Or(opts.Requests, 4096)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	scratch.SweepOwn(opts.Temporary) // archives that were arriving when an earlier server was killed

	s := &Server{fetcher: f.Opened(), bucket: bucket, opts: opts, tasks: par.NewTasks()}
	s.room = par.NewRoom(opts.MemoryBytes/4, patience) // which may be used twice; the rest is for what is kept, and for garbage
	kept := opts.MemoryBytes / 16
	s.versions = newAnswers[versionsRecord](s, versionsMaxAge, kept*3/16)
	s.packages = newAnswers[packagesRecord](s, packagesMaxAge, kept*3/8)
	s.choices = newAnswers[[]getproviders.Version](s, allowedMaxAge, kept*3/16)
	s.choices.memory = true
	s.stored = newAnswers[[]storedArchive](s, versionsMaxAge, kept*3/16)
	s.stored.memory = true
	s.verified = par.NewRecent[string, string](marksKnown)
	s.marked = par.NewRecent[string, int64](marksKnown)
	s.releases = newAnswers[[]string](s, versionsMaxAge, kept/8)
	s.locations = newAnswers[string](s, locationMaxAge, kept/8)
	s.locations.secret, s.locations.maxStale = true, locationMaxStale
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.counts.requests.Add(1)
	defer s.running.Add(-1)
	if s.running.Add(1) > int64(s.opts.Requests) {
		s.fail(w, r, errRequests)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, "a mirror is only read")
		return
	}
	r = withOneRange(r.WithContext(context.WithValue(r.Context(), headerKey{}, w.Header())))
	asked, err := parsePath(r.URL.Path)
	if hidesParts(r.URL) {
		err = fmt.Errorf("%w: a slash, a backslash or a dot of the path is encoded", errNoSuch)
	}
	if err == nil && !s.serves(asked) {
		err = fmt.Errorf("%w: this mirror doesn't have %s", errNoSuch, asked.subject())
	}
	refusal := s.admit(r, asked)
	if refusal != nil { // said before any answer that tells what exists
		s.turnAway(w, r, refusal)
		return
	}
	if err == nil {
		err = s.answer(w, r, asked)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// answer answers a request. If it returns an error, it hasn't answered yet.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, asked request) error {
	if asked.module != (Module{}) && s.opts.Modules == nil {
		return fmt.Errorf("%w: this server has no modules", errNoSuch)
	}
	serve := map[requestKind]func(http.ResponseWriter, *http.Request, request) error{
		indexRequest: s.serveIndex, versionRequest: s.serveVersion, documentRequest: s.serveSigned, archiveRequest: s.serveArchive,
		registryVersionsRequest: s.serveRegistryVersions, registryPackageRequest: s.serveRegistryPackage,
		moduleVersionsRequest: s.serveModuleVersions, moduleLocationRequest: s.serveModuleLocation,
	}[asked.kind]
	return serve(w, r, asked)
}

// serveArchive sends an archive: from the bucket, or while it arrives from the source.
func (s *Server) serveArchive(w http.ResponseWriter, r *http.Request, asked request) error {
	found, err := s.packagesOf(r.Context(), asked.provider, asked.version)
	if err != nil {
		return err
	}
	if _, ok := found.value.Packages[asked.platform]; !ok {
		return fmt.Errorf("%w: version %s of %s has no package for %s", errNoSuch, asked.version, asked.provider, asked.platform)
	}
	if sent, err := s.serveAllowed(w, r, asked, found.value); sent || err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	return s.serveFlight(w, r, asked, found.value)
}

// serveAllowed sends an archive from the bucket, if the policy allows it. sent is false if the archive isn't there.
func (s *Server) serveAllowed(w http.ResponseWriter, r *http.Request, asked request, record packagesRecord) (sent bool, err error) {
	archive, ok := record.Packages[asked.platform].find(s.storedOf(r.Context(), asked.provider, asked.version).value, asked.platform)
	if !ok {
		return false, nil
	}
	if err := s.approve(r.Context(), asked, record, getproviders.StateCached, getproviders.Package{
		Platform: asked.platform, Source: record.Source, SourceURL: record.SourceURL, FromRegistry: record.FromRegistry,
	}, receipt.Provenance{ZH: archive.ZH, H1: archive.H1, Released: archive.Released}); err != nil {
		return false, err
	}
	if sent, err = s.serveStored(w, r, archive); !sent {
		s.stored.forget(archivesDir(asked.provider, asked.version)) // another server has removed it
	}
	return sent, err
}

// serves reports whether the options include a provider or module.
func (s *Server) serves(asked request) bool {
	p := asked.provider
	if m := asked.module; m != (Module{}) { // registries ignore case
		p = getproviders.Provider{Hostname: m.Host, Namespace: strings.ToLower(m.Namespace), Type: strings.ToLower(m.Name)}
	}
	matches := func(pattern getproviders.Pattern) bool { return pattern.Matches(p) }
	included := len(s.opts.Include) == 0 || slices.ContainsFunc(s.opts.Include, matches)
	return included && !slices.ContainsFunc(s.opts.Exclude, matches)
}

// withOneRange returns a request without its Range header if that asks for several parts:
// each part would be a request to the bucket, and a header can list a hundred thousand.
func withOneRange(r *http.Request) *http.Request {
	if !strings.Contains(r.Header.Get("Range"), ",") {
		return r
	}
	whole := *r
	whole.Header = r.Header.Clone()
	whole.Header.Del("Range")
	return &whole
}
