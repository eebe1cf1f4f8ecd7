package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders/filelock"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
)

const (
	// commitRefs are refs named like the commits that are there with all their
	// files. Git makes a ref when everything that it needs has come.
	commitRefs  = "refs/commits/"
	fetchedRefs = "refs/fetched/" // what was asked for, which may be a tag

	// completeName is a file that holds the state of the listing that all
	// branches and tags were fetched for.
	completeName = "tfdeps-complete"
)

// store is a bare repository that belongs to this package. Reading from it needs no lock, as nothing
// is ever taken out of it; those who write hold its lock.
type store struct {
	path     string
	wide     bool       // IDs are SHA-256
	turn     *par.Limit // one writer in this process
	discards par.Mark
	refusals par.Mark // of fetches for several wants at once
}

// storeKey says which store: by the URL without a login, and the kind of IDs.
type storeKey struct {
	identity string
	wide     bool
}

// store returns the store for a URL, which may not be there yet; id is any of
// the repository.
func (r *Repositories) store(ctx context.Context, rem remote, id string) (*store, error) {
	dir, err := r.dir(ctx)
	if err != nil {
		return nil, fmt.Errorf("the store of git repositories: %w", err)
	}
	key := storeKey{identity(rem.id.url), isWide(id)}
	return r.stores.Do(ctx, key, func(context.Context) (*store, error) {
		name := digest(key.identity) + ".git"
		if key.wide {
			name = digest(key.identity) + ".sha256.git"
		}
		return &store{path: filepath.Join(dir, name), wide: key.wide, turn: par.NewLimit(1)}, nil
	})
}

// isWide tells the two kinds of IDs apart.
func isWide(id string) bool { return len(id) == 64 }

// call is a run of git that asks the store.
func (st *store) call(args ...string) call {
	return call{args: append([]string{"--git-dir=" + st.path}, args...)}
}

// has reports whether a commit is there, with all its files.
func (st *store) has(commit string) bool {
	_, err := os.Lstat(filepath.Join(st.path, filepath.FromSlash(commitRefs), commit))
	return err == nil
}

func (st *store) exists() bool {
	_, err := os.Lstat(filepath.Join(st.path, "HEAD"))
	return err == nil
}

// create makes the store with a function that makes a repository: it appears
// when it is complete.
func (st *store) create(initialise func(path string) error) error {
	unfinished := st.path + ".new"
	err := errors.Join(os.RemoveAll(unfinished), os.RemoveAll(st.path), os.Mkdir(unfinished, 0o700))
	if err == nil {
		err = initialise(unfinished)
	}
	if err == nil {
		err = os.Rename(unfinished, st.path)
	}
	if err != nil {
		os.RemoveAll(unfinished)
	}
	return err
}

// shallow reports whether history is missing.
func (st *store) shallow() bool {
	_, err := os.Lstat(filepath.Join(st.path, "shallow"))
	return err == nil
}

// complete returns the state that all branches and tags were fetched for; "":
// they weren't.
func (st *store) complete() string {
	state, err := os.ReadFile(filepath.Join(st.path, completeName))
	if err != nil || len(state) > 100 {
		return ""
	}
	return string(state)
}

func (st *store) setComplete(state string) error {
	return os.WriteFile(filepath.Join(st.path, completeName), []byte(state), 0o600)
}

// lockPoll says how often it is asked whether another process still has the store.
var lockPoll = filelock.Poll{First: 20 * time.Millisecond, Last: 20 * time.Millisecond, Limit: time.Hour}

// lock makes the caller the only one who writes into the store, and sweeps what
// a killed git has left there.
func (st *store) lock(ctx context.Context) (release func(), err error) {
	done, err := st.turn.Acquire(ctx, 0)
	if err != nil {
		return nil, err
	}
	file, err := filelock.Wait(ctx, st.path+".lock", lockPoll)
	if err != nil {
		done()
		return nil, err
	}
	if file == nil { // what lies there may be in use
		return done, nil
	}
	st.sweep()
	return func() { file.Close(); done() }, nil
}

// sweep removes git's own lock files, which would stop every later fetch, and
// packs that were never finished.
func (st *store) sweep() {
	left, _ := filepath.Glob(filepath.Join(st.path, "*.lock"))
	packs, _ := filepath.Glob(filepath.Join(st.path, "objects", "pack", "tmp_*"))
	for _, path := range append(left, packs...) {
		os.Remove(path)
	}
	_ = filepath.WalkDir(filepath.Join(st.path, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			os.Remove(path)
		}
		return nil
	})
}

// firstLine returns the first line of an answer.
func firstLine(answer string) string {
	line, _, _ := strings.Cut(answer, "\n")
	return line
}

// Repositories checks out trees of repositories, and keeps what it has
// fetched. It is safe for many goroutines; it must not be copied after its first use.
// What it has learned of refs it doesn't ask again: make a new one to find out
// whether a branch has moved.
type Repositories struct {
	// Dir holds the bare repositories, one for each URL and not to be touched by
	// others. It is made if it isn't there, for the user alone. "": a temporary
	// directory, which Close removes.
	Dir string
	// Environ is the environment of git, like that of os.Environ. Variables that
	// would lead git to another repository are left out of it.
	Environ []string
	// Program is git: a path, or a name that is on the PATH of Environ; "": "git".
	Program string
	// Offline makes everything an error that isn't in the store.
	Offline bool

	programs  par.Memo[string, string]
	temporary par.Memo[struct{}, *scratch.Dir]
	stores    par.Memo[storeKey, *store]
	listings  par.Memo[remoteKey, listing]
	fetches   par.Memo[fetchKey, string]
}

// Request says which tree is wanted.
type Request struct {
	// URL of the repository, as git takes it: http, https, ssh, git or file, a
	// scp-like user@host:path, or an absolute path.
	URL string
	// Ref is what git checkout takes after a clone: a tag, a branch, a commit; "":
	// the default branch. Of a tag and a branch with one name the tag is
	// meant, but the branch with a Depth: so it is in Terraform.
	Ref string
	// Depth is how many commits of history a source asks for; 0: all.
	Depth int
	// SSHKey is a private key to log in with, as in its file; nil: those
	// that ssh finds. It is on disk only while git runs.
	SSHKey []byte
	// Commit is the full ID of what the request was found to mean earlier. If the
	// store has it, that is the answer and nothing is asked for; else it
	// doesn't matter. "": unknown.
	Commit string
	// Beside are requests that are made at the same time, this one among them or
	// not. What has to be fetched for those that ask the same URL with the same key is
	// fetched with what this one needs. Each still has to be made.
	Beside []Request
}

// Checkout makes the directory dst, which doesn't exist and whose parent does,
// with the tree that a request means, and returns the full ID of its commit.
//
// Errors are of type *Error, and match one of [ErrAddress], [ErrNotFound],
// [ErrUnreachable], [ErrOffline] and [ErrNoProgram] if one of these is the
// reason. When ctx ends the error is its cause.
func (r *Repositories) Checkout(ctx context.Context, req Request, dst string) (commit string, err error) {
	defer func() { err = failure(ctx, req, err) }()
	if err := req.check(); err != nil {
		return "", err
	}
	if _, err := os.Lstat(dst); err == nil {
		return "", fmt.Errorf("%s: %w", dst, fs.ErrExist)
	}
	staging, err := scratch.Make(filepath.Dir(dst))
	if err != nil {
		return "", err
	}
	defer staging.Remove()
	co := checkout{repositories: r}
	commit, err = co.make(ctx, tree{request: req, stage: staging.Path})
	if err != nil {
		return "", err
	}
	return commit, os.Rename(filepath.Join(staging.Path, treeName), dst)
}

// Close removes the temporary directory, if there is one, after it has waited for
// runs of git that are being stopped. The Repositories must not be used any more.
func (r *Repositories) Close() error {
	r.fetches.Settle()
	r.listings.Settle()
	r.stores.Settle()
	errNone := errors.New("none was made")
	dir, err := r.temporary.Do(context.Background(), struct{}{}, func(context.Context) (*scratch.Dir, error) { return nil, errNone })
	if err == nil {
		dir.Remove()
	}
	return nil
}

// dir returns the directory of the bare repositories, which is there.
func (r *Repositories) dir(ctx context.Context) (string, error) {
	if r.Dir != "" {
		dir, err := filepath.Abs(r.Dir)
		if err != nil {
			return "", err
		}
		return dir, os.MkdirAll(dir, 0o700)
	}
	temporary, err := r.temporary.Do(ctx, struct{}{}, func(context.Context) (*scratch.Dir, error) { return scratch.Temporary() })
	if err != nil {
		return "", err
	}
	return temporary.Path, nil
}

// remote is a repository as it is asked.
type remote struct {
	id  remoteKey
	key []byte
	// distrusted is set if the URL comes from a repository: then git refuses the
	// transports that only users may ask for.
	distrusted bool
}

// remoteKey tells requests apart that a server may answer differently.
type remoteKey struct {
	url string
	key string // a digest of the key
}

func (t tree) remote() remote {
	req := t.request
	return remote{remoteKey{req.URL, digest(string(req.SSHKey))}, req.SSHKey, t.depth > 0 && !isLocal(req.URL)}
}

// call is a run of git that asks the repository.
func (rem remote) call(args ...string) call {
	return call{args: args, url: rem.id.url, key: rem.key, distrusted: rem.distrusted}
}

// digest shortens what may be long, or not fit for a file name.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}

// suspicion is an error that a damaged store may be the reason of: git could
// not use what the store says that it has.
type suspicion struct {
	error
	st         *store
	generation int64
	commit     string // that should have been there; "": none
}

func (s *suspicion) Unwrap() error { return s.error }

// suspect marks an error of git as one that the store may be the reason of.
func (st *store) suspect(err error, commit string) error {
	var exit *exitError
	if !errors.As(err, &exit) {
		return err
	}
	return &suspicion{err, st, st.generation(), commit}
}

// generation counts how often the store had to be made again.
func (st *store) generation() int64 {
	n, _ := st.discards.At()
	return n
}

// mend looks at the store that an error came from, and removes it if it is
// damaged. It reports whether trying again makes sense.
func (r *Repositories) mend(ctx context.Context, err error) bool {
	var s *suspicion
	if r.Offline || !errors.As(err, &s) || ctx.Err() != nil {
		return false
	}
	release, err := s.st.lock(ctx)
	if err != nil {
		return false
	}
	defer release()
	if s.st.generation() != s.generation || s.commit != "" && !s.st.has(s.commit) {
		return true // another process did it
	}
	if !r.damaged(ctx, s.st) {
		return false
	}
	// The name is free in one moment: who reads at the same time sees all or nothing.
	aside := s.st.path + ".damaged"
	if os.RemoveAll(aside) != nil || os.Rename(s.st.path, aside) != nil {
		return false
	}
	s.st.discards.Advance(1)
	_ = os.RemoveAll(aside)
	return true
}

// damaged has git look at every object. What it has to say against the content
// of an object is no damage: that is how it came.
func (r *Repositories) damaged(ctx context.Context, st *store) bool {
	const missing, badPack, fatal = 2, 4, 128
	err := r.run(ctx, st.call("fsck", "--full", "--no-dangling", "--no-progress"))
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode()&(missing|badPack|fatal) != 0
}
