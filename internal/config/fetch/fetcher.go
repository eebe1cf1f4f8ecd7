package fetch

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Fetcher fetches packages. The zero value works, without a store. Many goroutines may use it; set
// the fields before the first call, and don't copy it. It fetches each package once: make a new one
// to see changes.
//
// Intended differences from Terraform: each call of a package gets all of it, where Terraform
// leaves out files that begin with a dot from the second call on; .git and .hg directories are
// removed; archives are requested by one GET, without HEAD; requests to gcs are anonymous if no
// credentials are found; servers may answer with relative addresses and with short forms such as
// github.com/owner/repository, but not with files of this machine; repositories and lists of
// checksums can't have URLs with other schemes.
type Fetcher struct {
	// Client is for http and https; nil means hosts.DefaultClient. It adds logins, see
	// hosts.WithNetrc; the login of a URL is always sent.
	Client *http.Client
	// Store is a directory in the user's cache that keeps archives and repositories for later runs.
	// It is created readable for the user only. If it is "" or can't be written, nothing is kept.
	Store string
	// Environ is the environment of git and hg, in the form of os.Environ, and has
	// AWS_METADATA_URL, GOOGLE_OAUTH_ACCESS_TOKEN, GOOGLE_CLOUD_QUOTA_PROJECT and
	// STORAGE_EMULATOR_HOST. The libraries for s3 and gcs read other variables from the process's
	// environment, and the files that those name.
	Environ []string
	// OCI finds the package at an address such as oci://HOST/REPOSITORY, which OpenTofu supports and Terraform
	// doesn't; nil makes such addresses errors.
	OCI func(ctx context.Context, at OCIPackage) (OCIArchive, error)
	// Credentials have the tokens for packages that a registry serves itself; nil means none.
	Credentials hosts.Credentials
	// Offline allows only packages on this machine.
	Offline bool
	// Report gets the progress of packages, from many goroutines: pkg is the address without secrets, total is -1 if
	// unknown, and ended says that the fetch has ended, with or without success. nil means no reports.
	Report func(pkg string, done, total int64, ended bool)

	bounds      bounds // zero fields mean the defaults
	prepared    par.Memo[struct{}, *session]
	interrupted atomic.Bool // a call was
}

var _ modules.Fetcher = (*Fetcher)(nil)

// Fetch implements [modules.Fetcher]. A package is fetched once, however many calls ask for it, and
// each call gets its own copy. A directory of this machine isn't copied: dst becomes a symlink to
// it.
//
// Errors are a [getproviders.Fault], or the cause of ctx. After an error, dst doesn't exist.
func (f *Fetcher) Fetch(ctx context.Context, req modules.FetchRequest, dst string) (fetched modules.Fetched, err error) {
	given, beside := req.Package, req.Beside
	defer func() {
		err = named(ctx, given, err)
		if ctx.Err() != nil {
			f.interrupted.Store(true)
		}
	}()
	s, err := f.prepared.Do(ctx, struct{}{}, f.prepare)
	if err != nil {
		return fetched, failed(stepPrepare, err)
	}
	inPlace := req.InPlace
	req.Beside, req.InPlace = nil, false
	// Fields that don't change the result must not cause another request.
	if !f.Offline {
		req.Commit = ""
	}
	req.Own = req.Own && strings.HasPrefix(req.Package, "s3::")
	at, err := s.located.Do(ctx, req, func(ctx context.Context) (location, error) { return s.locate(ctx, req) })
	if err != nil {
		return fetched, err
	}
	made, err := s.contents.Do(ctx, at.packageSource, func(ctx context.Context) (content, error) {
		ctx, end := reporting(ctx, f.Report, modules.Redact(given))
		defer end()
		return s.fetch(ctx, at.packageSource, beside)
	})
	if err != nil {
		return fetched, err
	}
	fetched.Commit = made.commit
	if inPlace {
		fetched.Dir, err = find(made, at.subdir)
	} else {
		err = s.copyTo(ctx, made, at.subdir, dst)
	}
	if err != nil {
		return modules.Fetched{}, err
	}
	_, _ = s.pinned.Do(ctx, req, func(context.Context) (struct{}, error) {
		s.store.keepPin(req, at, made.sha256, made.commit)
		return struct{}{}, nil
	})
	return fetched, nil
}

// Tags lists the tags of a package's git repository, and returns the ref of its address. Both are zero if the package isn't in a git repository,
// or only a request could tell. Errors are those of Fetch.
func (f *Fetcher) Tags(ctx context.Context, pkg string) (tags []string, ref string, err error) {
	defer func() { err = named(ctx, pkg, err) }()
	s, err := f.prepared.Do(ctx, struct{}{}, f.prepare)
	if err != nil {
		return nil, "", failed(stepPrepare, err)
	}
	from, err := parseSource(pkg, false)
	if err != nil || from.kind != "git" || from.archive != "" || from.ref == "" {
		return nil, "", nil
	}
	tags, err = s.repositories.Tags(ctx, gitRequest(from))
	return tags, from.ref, err
}

// atOnce is how many packages are fetched concurrently.
const atOnce = 8

// prepare makes the state that all calls share, with defaults for unset fields.
func (f *Fetcher) prepare(context.Context) (*session, error) {
	dir, err := scratch.Temporary()
	if err != nil {
		return nil, err
	}
	kept := openStore(f.Store)
	return &session{
		dir:          dir,
		gate:         par.NewLimit(atOnce),
		copies:       par.NewLimit(min(atOnce, runtime.GOMAXPROCS(0))),
		store:        kept,
		web:          web{f.Client, f.Credentials, f.Offline},
		oci:          f.OCI,
		repositories: &git.Repositories{Dir: kept.at("git"), Environ: f.Environ, Offline: f.Offline},
		buckets:      &bucket.Services{Client: f.Client, Environ: f.Environ},
		bounds: bounds{
			download: cmp.Or(f.bounds.download, 4<<30),
			unpacked: cmp.Or(f.bounds.unpacked, 8<<30),
			files:    cmp.Or(f.bounds.files, 100_000),
		},
		environ: f.Environ,
	}, nil
}

// patience is how long an interrupted run removes temporary files, which may be many.
const patience = 200 * time.Millisecond

// Close removes temporary files. After an interrupt it waits for programs that are being stopped,
// which takes git at most half a second: no program outlives it. Many files are left to a sweep then. Call it after the last Fetch has
// returned; don't use the Fetcher afterwards.
func (f *Fetcher) Close() error {
	f.prepared.Settle()
	s, ok := f.prepared.Known(struct{}{})
	if !ok {
		return nil
	}
	s.located.Settle()
	s.contents.Settle()
	s.pinned.Settle()
	s.clones.Settle()
	s.buckets.Close()
	s.repositories.Close()
	if f.interrupted.Load() {
		s.dir.RemoveWithin(patience)
	} else {
		s.dir.Remove()
	}
	return nil
}
