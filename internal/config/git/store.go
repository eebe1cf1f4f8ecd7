package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/par"
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
	key := storeKey{identity(rem.id.url), isWide(id)}
	return r.stores.Do(ctx, key, func(ctx context.Context) (*store, error) {
		name := digest(key.identity) + ".git"
		if key.wide {
			name = digest(key.identity) + ".sha256.git"
		}
		dir, err := r.dir(ctx)
		if err == nil && !owner.IsOwnDir(filepath.Join(dir, name)) {
			dir, err = r.temporaryDir(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("the store of git repositories: %w", err)
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
	return st.there(filepath.FromSlash(commitRefs) + commit)
}

// there reports whether there is something at a path in the store. Without HEAD there is no store yet; with shallow, history is missing.
func (st *store) there(path string) bool {
	_, err := os.Lstat(filepath.Join(st.path, path))
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

// complete returns the state that all branches and tags were fetched for; "":
// they weren't.
func (st *store) complete() string {
	state, err := os.ReadFile(filepath.Join(st.path, completeName))
	if err != nil || len(state) > 100 {
		return ""
	}
	return string(state)
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
