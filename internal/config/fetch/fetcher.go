package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
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
	// Rewrite returns the address that is to be used instead of the package's,
	// such as that of a mirror; also for those to which servers point. Nil: none.
	Rewrite func(pkg string) string
	// Offline makes everything an error that isn't on this machine.
	Offline bool
	// Limit is how many packages are fetched at once; 0: 8.
	Limit int
	// Report is told how far packages are, by many goroutines: pkg is the address without secrets, total is -1 if it
	// isn't known, and ended says that a package is there, or won't be. nil: it isn't told.
	Report func(pkg string, done, total int64, ended bool)

	bounds   bounds
	prepared par.Memo[struct{}, *session]
	located  par.Memo[modules.FetchRequest, location]
	contents par.Memo[packageSource, content]
	pinned   par.Memo[modules.FetchRequest, struct{}]
	clones   par.Memo[*modules.Requests, []git.Request]
}

var _ modules.Fetcher = (*Fetcher)(nil)

// session is what the calls of one Fetcher share.
type session struct {
	dir          string // temporary, for contents
	temporary    *scratch.Dir
	gate         *par.Limit // what is fetched at once
	copies       *par.Limit // what is copied at once: more than there are cores get in each other's way
	store        store
	repositories *git.Repositories
	buckets      *bucket.Services
}

// Fetch implements [modules.Fetcher]. Whatever the number of calls, a package is
// fetched once, and each call gets a copy, which is the caller's own. A
// directory of this machine is not copied: dst becomes a symlink to it.
//
// Errors are of type [*Error], or the cause for which ctx ended. If there is one,
// dst isn't there.
func (f *Fetcher) Fetch(ctx context.Context, req modules.FetchRequest, dst string) (modules.Fetched, error) {
	w, err := f.prepared.Do(ctx, struct{}{}, f.prepare)
	if err != nil {
		return modules.Fetched{}, named(ctx, req.Package, failed(stepPrepare, err))
	}
	if !f.Offline {
		req.Commit = "" // it is no reason to ask twice
	}
	beside := req.Beside
	req.Beside = nil
	given := req.Package
	req.Package = f.rewritten(given)
	req.Own = req.Own && strings.HasPrefix(req.Package, "s3::") // else it makes no difference, and is no reason to ask twice
	at, err := f.located.Do(ctx, req, func(ctx context.Context) (location, error) { return f.locate(ctx, w, req) })
	if err != nil {
		return modules.Fetched{}, named(ctx, given, err)
	}
	made, err := f.contents.Do(ctx, at.packageSource, func(ctx context.Context) (content, error) {
		ctx, end := f.reporting(ctx, modules.Redact(given))
		defer end()
		return f.makeContent(ctx, w, at.packageSource, beside)
	})
	if err != nil {
		return modules.Fetched{}, named(ctx, given, err)
	}
	if err := w.put(ctx, made, at.subdir, dst); err != nil {
		return modules.Fetched{}, named(ctx, given, err)
	}
	_, _ = f.pinned.Do(ctx, req, func(context.Context) (struct{}, error) {
		w.store.keepPin(req, at, made)
		return struct{}{}, nil
	})
	return modules.Fetched{Commit: made.commit}, nil
}

// prepare makes what the calls share.
func (f *Fetcher) prepare(context.Context) (*session, error) {
	dir, err := scratch.Temporary()
	if err != nil {
		return nil, err
	}
	limit := f.Limit
	if limit < 1 {
		limit = 8
	}
	kept := openStore(f.Store)
	return &session{
		dir:          dir.Path,
		temporary:    dir,
		gate:         par.NewLimit(limit),
		copies:       par.NewLimit(min(limit, runtime.GOMAXPROCS(0))),
		store:        kept,
		repositories: &git.Repositories{Dir: kept.at("git"), Environ: f.Environ, Offline: f.Offline},
		buckets:      &bucket.Services{Client: f.Client, Environ: f.Environ},
	}, nil
}

// errNotPrepared is that there is nothing to close.
var errNotPrepared = errors.New("no package was fetched")

// Close removes what was temporary. After an interrupt it waits for what is being
// stopped, which takes git half a second at most: no program outlives it. It is
// called after the last Fetch has returned; the Fetcher must not be used any more.
func (f *Fetcher) Close() error {
	f.located.Settle()
	f.contents.Settle()
	f.pinned.Settle()
	f.clones.Settle()
	w, err := f.prepared.Do(context.Background(), struct{}{}, func(context.Context) (*session, error) { return nil, errNotPrepared })
	if err != nil {
		return nil
	}
	w.buckets.Close()
	err = w.repositories.Close()
	w.temporary.Remove()
	return err
}

// pinned is what is remembered of a package that never changes.
type pinned struct {
	SHA256   string `json:"sha256,omitempty"` // of the archive
	Commit   string `json:"commit,omitempty"`
	Location string `json:"location,omitempty"` // the address to which servers pointed; "": no server had to be asked
	Subdir   string `json:"subdir,omitempty"`   // of their answers
}

func pinKey(req modules.FetchRequest) string { return req.Pin + "\n" + req.Package }

// recall returns where a package is that was fetched for the same pin earlier, if
// that is still known and its archive is in the store.
func (s store) recall(ctx context.Context, req modules.FetchRequest) (location, bool) {
	var record pinned
	if req.Pin == "" || !s.load(pinsDir, pinKey(req), &record) {
		return location{}, false
	}
	at, hopped := req.Package, false
	if record.Location != "" {
		at, hopped = record.Location, true
	}
	from, err := parseSource(at, hopped)
	if err != nil || from.isPage() {
		return location{}, false
	}
	switch {
	case from.kind == "git" && from.archive == "":
		from.known = record.Commit
	case from.kind == "http":
		if _, ok := s.archive(ctx, record.SHA256); !ok {
			return location{}, false
		}
		from.known = record.SHA256
	}
	return location{packageSource: from, address: at, subdir: record.Subdir, hopped: hopped}, from.known != ""
}

// keepPin remembers where a package was and what it had.
func (s store) keepPin(req modules.FetchRequest, at location, made content) {
	record := pinned{SHA256: made.sha256, Commit: made.commit, Subdir: at.subdir}
	found := made.sha256 + made.commit // one of them
	if req.Pin == "" || found == "" || found == at.known {
		return
	}
	if at.hopped {
		if !mayBeKept(at.address) {
			return
		}
		record.Location = at.address
	}
	s.save(pinsDir, pinKey(req), record)
}

// mayBeKept reports whether an address holds no secret, so that it may be written
// to disk.
func mayBeKept(pkg string) bool {
	_, text := modules.SplitForced(pkg)
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme != "ssh" && u.User != nil {
		return false
	}
	for name := range u.Query() {
		if !slices.Contains(harmless, name) {
			return false
		}
	}
	return true
}

// query is a URL's query, in its parts. What isn't taken out stays exactly as it
// was written: servers may have signed it.
type query struct{ parts []string }

func splitQuery(raw string) *query {
	if raw == "" {
		return &query{}
	}
	return &query{strings.Split(raw, "&")}
}

// take removes a parameter, and returns the first value that it had.
func (q *query) take(name string) (value string, found bool) {
	q.parts = slices.DeleteFunc(q.parts, func(part string) bool {
		key, text, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(key); err != nil || decoded != name {
			return false
		}
		if decoded, err := url.QueryUnescape(text); err == nil && !found {
			value, found = decoded, true
		}
		return true
	})
	return value, found
}

// String joins what is left.
func (q *query) String() string { return strings.Join(q.parts, "&") }

// login is what stands before the host of a URL, wherever in a text.
var login = par.OnceRegexp(`//[^/\s]*@`)

// harmless are the parameters whose values are no secrets.
var harmless = []string{"archive", "depth", "digest", "ref", "rev", "tag"}
