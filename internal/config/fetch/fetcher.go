package fetch

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"strings"

	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Fetcher gets packages. The zero value works, and keeps nothing. It is safe for
// many goroutines; set the fields before the first call, and don't copy it. What
// it has fetched it doesn't fetch again: make a new one to see what has changed.
//
// It differs from Terraform on purpose: each call of a package gets all
// of it, where files that begin with a dot are missing in Terraform from the
// second one on; there are no .git and .hg directories; archives are asked for by
// one GET, without HEAD; objects of gcs are asked for without credentials where there
// are none; servers may answer with relative addresses and with those that people
// write, such as github.com/owner/repository, but not with files of this machine;
// repositories and lists of checksums are not read from URLs with other schemes.
type Fetcher struct {
	// Client is for http and https; nil: hosts.DefaultClient. Logins are its
	// business, see hosts.WithNetrc; those of a URL are sent anyway.
	Client *http.Client
	// Store is a directory, in the user's cache, where archives and repositories
	// stay for later runs and other directories. It is made for the user alone.
	// "", or one that can't be written: nothing stays.
	Store string
	// Environ is the environment of git and hg, like that of os.Environ, and has
	// AWS_METADATA_URL, GOOGLE_OAUTH_ACCESS_TOKEN, GOOGLE_CLOUD_QUOTA_PROJECT and
	// STORAGE_EMULATOR_HOST. The libraries that find other credentials for s3 and gcs look
	// for them in the process's own, and in the files that it names.
	Environ []string
	// OCI finds the package at an address such as oci://HOST/REPOSITORY, which OpenTofu knows and Terraform doesn't;
	// nil: there is none.
	OCI func(ctx context.Context, at OCIPackage) (OCIArchive, error)
	// Credentials have the tokens for packages that a registry serves itself; nil: none.
	Credentials hosts.Credentials
	// Offline makes everything an error that isn't on this machine.
	Offline bool
	// Report is told how far packages are, by many goroutines: pkg is the address without secrets, total is -1 if it
	// isn't known, and ended says that a package is there, or won't be. nil: it isn't told.
	Report func(pkg string, done, total int64, ended bool)

	bounds   bounds // zero fields: no package exceeds the defaults
	prepared par.Memo[struct{}, *session]
}

var _ modules.Fetcher = (*Fetcher)(nil)

// Fetch implements [modules.Fetcher]. Whatever the number of calls, a package is
// fetched once, and each call gets a copy, which is the caller's own. A
// directory of this machine is not copied: dst becomes a symlink to it.
//
// Errors are a [getproviders.Fault], or the cause for which ctx ended. If there is one,
// dst isn't there.
func (f *Fetcher) Fetch(ctx context.Context, req modules.FetchRequest, dst string) (fetched modules.Fetched, err error) {
	given, beside := req.Package, req.Beside
	defer func() { err = named(ctx, given, err) }()
	s, err := f.prepared.Do(ctx, struct{}{}, f.prepare)
	if err != nil {
		return fetched, failed(stepPrepare, err)
	}
	req.Beside = nil
	// What makes no difference is no reason to ask twice.
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
	if err := s.copyTo(ctx, made, at.subdir, dst); err != nil {
		return fetched, err
	}
	_, _ = s.pinned.Do(ctx, req, func(context.Context) (struct{}, error) {
		s.store.keepPin(req, at, made.sha256, made.commit)
		return struct{}{}, nil
	})
	return modules.Fetched{Commit: made.commit}, nil
}

// Tags lists the tags of the git repository that a package is in, and returns the ref that its address asks for. Both are zero where the package
// isn't in one, or where it takes a request to know. Errors are those of Fetch.
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

// atOnce is how many packages are fetched at the same time.
const atOnce = 8

// prepare makes what the calls share, and decides what isn't set.
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

// Close removes what was temporary. After an interrupt it waits for what is being
// stopped, which takes git half a second at most: no program outlives it. It is
// called after the last Fetch has returned; the Fetcher must not be used any more.
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
	s.dir.Remove()
	return nil
}
