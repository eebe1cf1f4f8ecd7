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

// Repositories checks out trees of repositories, and keeps what it has
// fetched. It is safe for many goroutines; it must not be copied after its first use.
// What it has learned of refs it doesn't ask again: make a new one to find out
// whether a branch has moved.
//
// It differs from Terraform on purpose: only the commit that is
// needed is fetched, and there is no .git directory; depth may be used with
// commits; refs such as refs/pull/1/head, and branches other than the default
// one by their full names, are accepted; transports other than http, https, ssh, git and files
// are refused; a submodule on the file system is used if its parent
// is there, too, and refused in all other cases; a directory that has a commit
// but no URL among the submodules stays empty.
type Repositories struct {
	// Dir holds the bare repositories, one for each URL. It is made if it isn't there, for
	// the user alone. "", or one that other users than this one and root can write to: a temporary
	// directory, which Close removes.
	Dir string
	// Environ is the environment of git, like that of os.Environ. Variables that
	// would lead git to another repository are left out of it.
	Environ []string
	// Program is git: a path, or a name that is on the PATH of Environ; "": "git".
	Program string
	// Offline makes everything an error that isn't in the store.
	Offline bool

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
// Errors are a [getproviders.Fault] whose Source is the repository, and match one of [ErrAddress], [ErrNotFound],
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
	return commit, patient.Rename(filepath.Join(staging.Path, treeName), dst)
}

// Close removes the temporary directory, if there is one, after it has waited for
// runs of git that are being stopped. The Repositories must not be used any more.
func (r *Repositories) Close() {
	r.fetches.Settle()
	r.listings.Settle()
	r.stores.Settle()
	r.temporary.Settle()
	if dir, ok := r.temporary.Known(struct{}{}); ok {
		dir.Remove()
	}
}

// dir returns the directory of the bare repositories, which is there.
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
