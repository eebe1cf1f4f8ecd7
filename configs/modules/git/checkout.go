package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// treeName is the directory below a stage that the tree comes into; beside it
// are the index, and the stages of its submodules.
const treeName = "tree"

// checkout is one call of [Repositories.Checkout], with all submodules.
type checkout struct {
	repositories *Repositories
	submodules   par.Mark // how many there are so far
}

// tree is a tree that is to be made.
type tree struct {
	request Request
	stage   string // a private directory
	depth   int    // 0: of the request, 1: of its submodules
}

// make makes a tree with its submodules in its stage. If the store turns out
// to be damaged, that is made anew, once.
func (co *checkout) make(ctx context.Context, t tree) (commit string, err error) {
	commit, err = co.try(ctx, t)
	if err == nil || !co.repositories.mend(ctx, err) {
		return commit, err
	}
	if err := errors.Join(os.RemoveAll(t.stage), os.Mkdir(t.stage, 0o700)); err != nil {
		return "", err
	}
	return co.try(ctx, t)
}

func (co *checkout) try(ctx context.Context, t tree) (commit string, err error) {
	st, commit, err := co.repositories.resolve(ctx, t.request, t.remote())
	if err != nil {
		return "", err
	}
	if err := co.write(ctx, t, st, commit); err != nil {
		return "", st.suspect(err, commit)
	}
	return commit, co.addSubmodules(ctx, t, st, commit)
}

// write has git write the files of a commit, as it does in a clone: with
// filters, and without following links that the tree itself has brought.
func (co *checkout) write(ctx context.Context, t tree, st *store, commit string) error {
	dir, index := filepath.Join(t.stage, treeName), filepath.Join(t.stage, "index")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	c := st.call("--work-tree="+dir, "-c", "remote.origin.url="+t.request.URL, // LFS asks there for its files
		"read-tree", "--reset", "-u", "--no-sparse-checkout", commit)
	c.dir, c.url, c.env = dir, t.request.URL, []string{"GIT_INDEX_FILE=" + index}
	if _, err := co.repositories.run(ctx, c); err != nil {
		return fmt.Errorf("the files of commit %s: %w", commit, err)
	}
	return os.Remove(index)
}
