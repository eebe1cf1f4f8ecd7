// Package mirrorserver is a network mirror that fills itself: an [http.Handler] that answers from a bucket, and asks a source for everything else.
//
//	server, err := mirrorserver.Handler(fetcher, blob.NewDirectory("/srv/mirror"), mirrorserver.Options{})
//	defer server.Close()
//	http.Handle("/mirror/", http.StripPrefix("/mirror", server))
//
// It serves two protocols at the same URL. The first is Terraform's provider network mirror protocol: HOST/NAMESPACE/TYPE/index.json
// lists all versions that the source has, VERSION.json lists the archives of one version with the known hashes of every platform. The
// archives are beside these files, and so are the signed lists of checksums, by which tfdeps authenticates packages from mirrors.
//
// The second is the registry protocol, for providers and for modules. A host block of a CLI
// configuration names the URL as the services "providers.v1" and "modules.v1" of a host:
//
//	host "registry.terraform.io" {
//	  services = {
//	    "providers.v1" = "https://mirror.example.com/mirror/registry.terraform.io/"
//	    "modules.v1"   = "https://mirror.example.com/mirror/registry.terraform.io/"
//	  }
//	}
//
// Clients then verify the publisher's signature, as they would with the registry, and make the same lock files.
//
// # What it keeps
//
// Answers of the source are fresh for a while: a list of versions for five minutes, the description of a version for an hour, plus the time for which
// the source itself caches answers. After that the source is asked again, and if it fails in any way, the old answer is used: a version that was
// installed through this server once can be installed again while the source is down. Missing versions and packages are cached for a short time only.
//
// An archive is downloaded once for all clients that wait for it, and each gets its bytes while they arrive. Only an archive that is authentic,
// allowed by the policy and unpackable is put into the bucket, and only then the clients get its last bytes: for any other archive the response is
// aborted. If a file doesn't begin like a zip archive, no byte is sent; a part of an archive is sent only after the whole was authenticated.
//
// Several servers may share a bucket without knowing each other: an archive's key
// has its checksum, and the descriptions are the source's last answers.
package mirrorserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
)

// Options configure a [Server]. The zero value serves every provider of the source to everyone.
type Options struct {
	// Include and Exclude say which providers and modules are served: those that match one of Include, or all if
	// it is empty, but none that matches one of Exclude. A module's name is matched like a provider's type.
	Include, Exclude []getproviders.Pattern

	// Modules answers for registries of modules; nil: no module is served.
	Modules ModuleSource

	// Allow returns nil if a request may be answered; a nil Allow allows every request. The status is 403 if the error is
	// a [Forbidden], and its text is shown; else 401. A request for an archive may also be answered if its URL is signed
	// with SigningKey. Allow is called from many goroutines.
	Allow func(r *http.Request) error
	// SigningKey signs the URLs of archives in documents, because clients send no credentials for
	// archives; nil: URLs aren't signed. Servers with the same clients need the same key.
	SigningKey []byte
	// Sender returns the name of a request's sender, which is in the URLs that are signed for it, so that Admitted learns
	// who downloads an archive; nil or "": the URLs have no name. It is asked about requests that Allow has accepted.
	Sender func(r *http.Request) string
	// Admitted is told of each request that a signed URL with a name allows, before it is answered; nil: no one is told.
	// Sender and Admitted are called from many goroutines.
	Admitted func(r *http.Request, sender string)

	// Waiting bounds how many archives wait for one of the Downloads of the Fetcher's
	// Limits; 0: 1000. Requests for further archives get the status 503.
	Waiting int
	// Requests bounds how many requests are answered at once; 0: 4096. Further ones get the status 503.
	Requests int

	// DiskBytes bounds the size of the archives that are arriving in Temporary, if their servers announce
	// the sizes; 0: no limit. A request for an archive that doesn't fit gets the status 503.
	DiskBytes int64

	// MarkUses writes a mark to the bucket when archives are used, once an hour for each, so
	// that Collect knows which are unused. Either all servers of a bucket set it, or none.
	MarkUses bool

	// MemoryBytes bounds the memory for documents: for reading and decoding the source's answers, for making documents of
	// them, and for keeping both; 0: 1 GiB. A request that finds no memory waits for half a minute at most, and then gets
	// the status 503. Only sources that send requests by package hosts, as those of getproviders do, are counted.
	MemoryBytes int64
	// Temporary is a directory for arriving archives, on a disk that has room for them; "": that of the system.
	Temporary string

	Log *slog.Logger // gets failures that clients aren't told of; nil: dropped. It gets no secrets
}

// Server is the mirror. Make one with [Handler]. It is safe for concurrent use.
type Server struct {
	bucket  blob.Bucket
	opts    Options
	fetcher *fetch.Fetcher
	tasks   *par.Tasks
	room    *par.Room    // memory for decoding
	running atomic.Int64 // requests that are being answered
	ready   par.Aged[string, error]
	counts  counters

	versions *answers[versionsRecord]
	packages *answers[packagesRecord]
	choices  *answers[[]getproviders.Version]
	stored   *answers[[]storedArchive]

	releases  *answers[[]string] // of modules
	locations *answers[string]   // of releases

	flights  par.Shared[string, *flight]  // arriving archives, by the path of their URL
	serving  par.Shared[string, struct{}] // archives of the bucket that are being sent, by key
	verified *par.Recent[string, string]  // tags of archives of the bucket whose content was verified
	marked   *par.Recent[string, int64]   // the last hour for which an archive has a mark in the bucket
}

var (
	errClosed    = errors.New("the server is closed")
	errRequests  = errors.New("the server has too much to do: ask again later. Too many requests run")
	errDisk      = errors.New("the server has too much to do: ask again later. The archives that arrive take as much of the disk as they may")
	errDownloads = errors.New("the server has too much to do: ask again later. Too many archives wait for their download")
)

const (
	versionsMaxAge = 5 * time.Minute
	packagesMaxAge = time.Hour
	allowedMaxAge  = 24 * time.Hour   // of one list of versions
	retryAfter     = 10 * time.Second // before the source is asked again after a failure or a missing version
)

// patience is how long a request waits for memory.
const patience = 30 * time.Second

// Close ends running downloads and waits for them. It waits at most ten seconds until complete archives and marks of uses are in
// the bucket. Requests that wait for a download fail, and so do later requests for archives that aren't in the bucket.
func (s *Server) Close() { s.tasks.Close(errClosed) }

const (
	readyKey   = "serve/ready" // an object that exists if the bucket is usable
	readyEvery = 10 * time.Second
	readyLimit = 5 * time.Second
)

// Ready returns an error if the bucket doesn't exist or can't be read. It checks at
// most every ten seconds. A full bucket is no error: its archives can be served.
func (s *Server) Ready(ctx context.Context) error {
	said, err := s.ready.Do(ctx, "", s.fetcher.Now, readyEvery, func(ctx context.Context) (error, error) {
		ctx, cancel := context.WithTimeout(ctx, readyLimit)
		defer cancel()
		_, _, err := blob.ReadAll(ctx, s.bucket, readyKey, 1<<10)
		if errors.Is(err, blob.ErrNotFound) { // a directory says the same for a missing bucket
			err = buckets.PutOnce(ctx, s.bucket, readyKey, blob.Bytes([]byte("ready\n")), blob.PutOptions{})
		}
		if disk.IsFull(err) {
			err = nil
		}
		return err, nil
	})
	return cmp.Or(err, said)
}

// headerKey is the context key of the response's header.
type headerKey struct{}

// tellCache sets the Cache-Status header (RFC 9211): the server has the answer ("hit"), or asked the source.
func tellCache(ctx context.Context, status string) {
	if header, ok := ctx.Value(headerKey{}).(http.Header); ok {
		header.Set("Cache-Status", "tfdeps; "+status)
	}
}

// notStored counts and logs that something couldn't be written to the bucket. The server goes on.
func (s *Server) notStored(what, key string, err error) {
	s.counts.storeFailures.Add(1)
	s.opts.Log.Error("the bucket can't be written", what, key, "error", err.Error())
}

// fresh returns the source for one request, without cached answers if it supports that.
func (s *Server) fresh() getproviders.Source {
	if f, ok := s.fetcher.Source.(interface{ Fresh() getproviders.Source }); ok {
		return f.Fresh()
	}
	return s.fetcher.Source
}

// Module is the address of a module of a registry.
type Module struct {
	Host                    hosts.Hostname
	Namespace, Name, System string
}

// String returns the address as users write it.
func (m Module) String() string { return m.Host.String() + "/" + m.path() }

func (m Module) path() string { return m.Namespace + "/" + m.Name + "/" + m.System }

// ModuleSource answers for registries of modules. Its methods are called from many goroutines. An
// error that matches getproviders.ErrNotFound means that the module or version doesn't exist.
type ModuleSource interface {
	// ModuleVersions lists the versions of a module.
	ModuleVersions(ctx context.Context, m Module) ([]string, error)
	// ModuleLocation returns where the package of a version is: an address that doesn't depend on the request's URL.
	ModuleLocation(ctx context.Context, m Module, version string) (string, error)
}

// counters are the atomic counters behind Stats.
type counters struct {
	requests, documents, coalesced, notFound, failed, broken atomic.Int64

	stored, fetched sentArchives // from the bucket, and while they arrived

	downloads, downloading, downloadedSize                                 atomic.Int64
	refusedArchives, refusedByPolicy, stale, sourceFailures, storeFailures atomic.Int64
	removed, removedSize, diskFull, damaged                                atomic.Int64
	tooMuchDisk, arriving                                                  atomic.Int64
	tooManyRequests, tooManyDownloads, tooMuchMemory                       atomic.Int64
}

// Stat is a counter since the server was made, or a current value.
type Stat struct {
	Name  string // in Prometheus' text format, with labels: archives_total{from="store"}. Counters end with _total.
	Help  string
	Value int64
}

// Stats returns the server's counters and current values. Those with the same name are adjacent.
func (s *Server) Stats() (all []Stat) {
	c := &s.counts
	for _, row := range []struct {
		name, help string
		value      *atomic.Int64
	}{
		{"requests_total", "Requests.", &c.requests},
		{"requests_running", "Requests that are being answered.", &s.running},
		{"documents_total", "Answers with a document, including those with status 304.", &c.documents},
		{`archives_total{from="store"}`, "Archives that were sent, from the store or while they were downloaded.", &c.stored.archives},
		{`archives_total{from="upstream"}`, "", &c.fetched.archives},
		{`archive_bytes_total{from="store"}`, "Bytes of archives that were sent.", &c.stored.bytes},
		{`archive_bytes_total{from="upstream"}`, "", &c.fetched.bytes},
		{"coalesced_total", "Requests that shared another request's download.", &c.coalesced},
		{"downloads_total", "Downloads of archives.", &c.downloads},
		{"downloads_running", "Downloads that run or wait.", &c.downloading},
		{"downloaded_bytes_total", "Bytes of completely downloaded archives.", &c.downloadedSize},
		{"verify_failures_total", "Answers with an archive that wasn't authentic.", &c.refusedArchives},
		{"damaged_total", "Archives that were damaged in the store, and were removed to be downloaded again.", &c.damaged},
		{"policy_refusals_total", "Answers that the policy refused.", &c.refusedByPolicy},
		{`failures_total{kind="not_found"}`, "Answers that were errors, by kind.", &c.notFound},
		{`failures_total{kind="failed"}`, "", &c.failed},
		{`failures_total{kind="broken_off"}`, "", &c.broken},
		{"stale_total", "Older answers of upstreams that were used because they failed.", &c.stale},
		{"source_failures_total", "Failures of upstreams without an older answer.", &c.sourceFailures},
		{"store_failures_total", "Failures to write the store.", &c.storeFailures},
		{`limited_total{limit="requests"}`, "Requests that were refused because of a limit.", &c.tooManyRequests},
		{`limited_total{limit="downloads"}`, "", &c.tooManyDownloads},
		{`limited_total{limit="memory"}`, "", &c.tooMuchMemory},
		{`limited_total{limit="disk"}`, "", &c.tooMuchDisk},
		{"arriving_bytes", "Disk space for archives that are being downloaded.", &c.arriving},
		{"disk_full_total", "Archives that found no room, in the temporary directory or the store.", &c.diskFull},
		{"removed_total", "Archives that were removed.", &c.removed},
		{"removed_bytes_total", "Bytes of removed archives.", &c.removedSize},
	} {
		all = append(all, Stat{row.name, row.help, row.value.Load()})
	}
	if free, known := disk.Room(s.opts.Temporary); known {
		all = append(all, Stat{"disk_free_bytes", "Room for archives while they arrive.", free})
	}
	return all
}
