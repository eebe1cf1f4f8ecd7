package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Repositories checks out trees of repositories, and caches what it fetches. Many goroutines may
// use it; don't copy it after its first use. It requests a repository's refs once: make a new one
// to see whether a branch has moved.
//
// Intended differences from Terraform: only the needed commit is fetched, and no .git directory is
// written; depth works with commits; refs such as refs/pull/1/head, and branches other than the
// default one by their full names, are accepted; transports other than http, https, ssh, git and
// files are refused; a submodule in the file system is used only if its parent is in the file
// system, too; a directory with a commit but no URL among the submodules stays empty.
type Repositories struct {
	// Dir has the bare repositories, one for each URL. It is created if necessary, readable for the
	// user only. If it is "", or users other than this one and root can write to it, a temporary
	// directory is used, which Close removes.
	Dir string
	// Environ is the environment of git, in the form of os.Environ. Variables that would make git
	// use another repository are removed.
	Environ []string
	// Program is the path of git, or its name on the PATH of Environ; "" means "git".
	Program string
	// Offline allows only what is in the store.
	Offline bool

	temporary par.Memo[struct{}, *scratch.Dir]
	stores    par.Memo[storeKey, *store]
	listings  par.Memo[remoteKey, listing]
	fetches   par.Memo[fetchKey, string]
}

// Request is the tree to check out.
type Request struct {
	// URL of the repository, as git accepts it: http, https, ssh, git or file, a scp-like
	// user@host:path, or an absolute path.
	URL string
	// Ref is what git checkout accepts after a clone: a tag, a branch, a commit; "" means the
	// default branch. A tag outranks a branch of the same name, but not with a Depth, as in
	// Terraform.
	Ref string
	// Depth is the number of commits of history that a source names; 0 means all.
	Depth int
	// SSHKey is a private key for the login, in the format of its file; nil means the keys that ssh
	// finds. It is on disk only while git runs.
	SSHKey []byte
	// Commit is the full ID of the request's earlier result; "" if unknown. If the store has it, it
	// is the result, and no request is made; otherwise it is ignored.
	Commit string
	// Beside has concurrent requests, with or without this one. Those with the same URL and key are
	// fetched together with this one. Each must still be made.
	Beside []Request
}

// Checkout creates the directory dst, whose parent exists, with the tree of a request, and returns the full ID of
// its commit.
//
// Errors are a [getproviders.Fault] whose Source is the repository, and match [ErrAddress], [ErrNotFound],
// [ErrUnreachable], [ErrOffline] or [ErrNoProgram] if one of these is the reason. When ctx ends, the error is its
// cause.
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
	stage := filepath.Join(staging.Path, "stage") // which can be made again without the lock in staging
	if err := os.Mkdir(stage, 0o700); err != nil {
		return "", err
	}
	co := checkout{repositories: r}
	commit, err = co.make(ctx, tree{request: req, stage: stage})
	if err != nil {
		return "", err
	}
	return commit, patient.Rename(filepath.Join(stage, treeName), dst)
}

// Close waits for runs of git that are being stopped, and removes the temporary directory. Don't
// use the Repositories afterwards.
func (r *Repositories) Close() {
	r.fetches.Settle()
	r.listings.Settle()
	r.stores.Settle()
	r.temporary.Settle()
	if dir, ok := r.temporary.Known(struct{}{}); ok {
		dir.Remove()
	}
}

// dir returns the directory of the bare repositories, and creates it.
func (r *Repositories) dir(ctx context.Context) (string, error) {
	if dir, err := filepath.Abs(r.Dir); err == nil && r.Dir != "" && owner.IsOwnDir(dir) {
		return dir, os.MkdirAll(dir, 0o700)
	}
	return r.temporaryDir(ctx)
}

func (r *Repositories) temporaryDir(ctx context.Context) (string, error) {
	temporary, err := r.temporary.Do(ctx, struct{}{}, func(context.Context) (*scratch.Dir, error) { return scratch.Temporary() })
	if err != nil {
		return "", err
	}
	return temporary.Path, nil
}

// remote is a repository with its login.
type remote struct {
	id  remoteKey
	key []byte
	// distrusted says that the URL comes from a repository: git then refuses the transports that
	// only users may choose.
	distrusted bool
}

// remoteKey identifies a repository and login: a server may answer another login differently.
type remoteKey struct {
	url string
	key string // a digest of the key
}

func (t tree) remote() remote {
	req := t.request
	return remote{remoteKey{req.URL, digest(string(req.SSHKey))}, req.SSHKey, t.depth > 0 && !isLocal(req.URL)}
}

// call returns a run of git that contacts the repository.
func (rem remote) call(args ...string) call {
	return call{args: args, url: rem.id.url, key: rem.key, distrusted: rem.distrusted}
}

// digest shortens text that may be too long or invalid as a file name.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}
