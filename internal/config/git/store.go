package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

const (
	// commitRefs are refs named like complete commits. Git writes a ref after all objects that it
	// needs.
	commitRefs  = "refs/commits/"
	fetchedRefs = "refs/fetched/" // what was requested, which may be a tag

	// completeName is a file with the state of the listing whose branches and tags were all
	// fetched.
	completeName = "tfdeps-complete"
)

// store is a bare repository of this package. Reading needs no lock, because nothing is ever removed
// from it; writers hold its lock.
type store struct {
	path     string
	wide     bool       // IDs are SHA-256
	turn     *par.Limit // one writer in this process
	discards par.Mark
	refusals par.Mark // of fetches with several wants
}

// storeKey identifies a store: the URL without a login, and the kind of IDs.
type storeKey struct {
	identity string
	wide     bool
}

// store returns the store for a URL, which may not exist yet; id is any ID of the repository.
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

// isWide reports whether an ID is a SHA-256.
func isWide(id string) bool { return len(id) == 64 }

// call returns a run of git in the store.
func (st *store) call(args ...string) call {
	return call{args: append([]string{"--git-dir=" + st.path}, args...)}
}

// has reports whether the store has a complete commit.
func (st *store) has(commit string) bool {
	return st.there(filepath.FromSlash(commitRefs) + commit)
}

// there reports whether a path in the store exists. Without HEAD the store doesn't exist; with shallow, history is incomplete.
func (st *store) there(path string) bool {
	_, err := os.Lstat(filepath.Join(st.path, path))
	return err == nil
}

// create creates the store with initialise, and publishes it by a rename.
func (st *store) create(initialise func(path string) error) error {
	unfinished := st.path + ".new"
	err := errors.Join(patient.RemoveAll(unfinished), patient.RemoveAll(st.path), os.Mkdir(unfinished, 0o700))
	if err == nil {
		err = initialise(unfinished)
	}
	if err == nil {
		err = patient.Rename(unfinished, st.path)
	}
	if err != nil {
		patient.RemoveAll(unfinished)
	}
	return err
}

// complete returns the state of the listing whose branches and tags were all fetched, or "".
func (st *store) complete() string {
	state, _ := wholefile.Read(filepath.Join(st.path, completeName), 100)
	return string(state)
}

// lockPoll is how often a waiting process tries to lock the store.
var lockPoll = filelock.Poll{First: 20 * time.Millisecond, Last: 20 * time.Millisecond, Limit: time.Hour}

// lock makes the caller the only writer of the store, and removes what a killed git has left there.
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
	if file == nil { // another process may be writing
		return done, nil
	}
	st.sweep()
	return func() { file.Close(); done() }, nil
}

// sweep removes git's own lock files, which would make every later fetch fail, and unfinished
// packs.
func (st *store) sweep() {
	left, _ := filepath.Glob(filepath.Join(st.path, "*.lock"))
	packs, _ := filepath.Glob(filepath.Join(st.path, "objects", "pack", "tmp_*"))
	for _, path := range append(left, packs...) {
		patient.Remove(path)
	}
	_ = filepath.WalkDir(filepath.Join(st.path, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			patient.Remove(path)
		}
		return nil
	})
}

// suspicion is an error that a damaged store may have caused: git couldn't read what the store
// should have.
type suspicion struct {
	error
	st         *store
	generation int64
	commit     string // that should have been in the store; "" if none
}

func (s *suspicion) Unwrap() error { return s.error }

// suspect marks an error of git as a suspicion.
func (st *store) suspect(err error, commit string) error {
	var exit *exitError
	if !errors.As(err, &exit) {
		return err
	}
	return &suspicion{err, st, st.generation(), commit}
}

// generation returns how often the store was created again.
func (st *store) generation() int64 {
	n, _ := st.discards.At()
	return n
}

// mend checks the store of a suspicion, and removes it if it is damaged. It reports whether another
// attempt makes sense.
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
	if s.st.clean() != nil || !r.damaged(ctx, s.st) {
		return false
	}
	// A rename takes the name away at once: concurrent readers see all of the store or nothing.
	aside := s.st.path + ".damaged"
	if patient.RemoveAll(aside) != nil || patient.Rename(s.st.path, aside) != nil {
		return false
	}
	s.st.discards.Advance(1)
	_ = patient.RemoveAll(aside)
	return true
}

// damaged makes git check every object. Malformed content of an object isn't damage: it was fetched
// like that.
func (r *Repositories) damaged(ctx context.Context, st *store) bool {
	const missing, badPack, fatal = 2, 4, 128
	err := r.run(ctx, st.call("fsck", "--full", "--no-dangling", "--no-progress"))
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode()&(missing|badPack|fatal) != 0
}

// obeyed are the files, besides config, from which git reads settings, commands or objects in a repository. A store
// has none of them: whoever restores a cache may have put them there. For the same reason this package writes the
// config: settings such as filters name programs.
var obeyed = []string{"branches", "commondir", "config.worktree", "hooks", "info", "modules", "remotes", "worktrees", filepath.Join("objects", "info")}

// probed are the properties of the file system that git init detects.
var probed = []string{"\tfilemode = false\n", "\tsymlinks = false\n", "\tignorecase = true\n", "\tprecomposeunicode = true\n"}

const (
	configName     = "config"
	maxConfigBytes = 64 << 10
)

// guard makes sure that git reads only this package's settings in the store. It is called before each use, and locks the
// store only if something must change.
func (st *store) guard(ctx context.Context) error {
	if foreign, settings := st.foreign(); len(foreign) == 0 && settings == "" {
		return nil
	}
	release, err := st.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.clean()
}

// clean is guard for a caller that holds the store's lock.
func (st *store) clean() error {
	foreign, settings := st.foreign()
	for _, path := range foreign {
		if err := patient.RemoveAll(path); err != nil {
			return err
		}
	}
	if settings == "" {
		return nil
	}
	return wholefile.Write(filepath.Join(st.path, configName), []byte(settings), 0o600)
}

// foreign returns the paths to remove, including all symlinks, and the new content of config, or "" if it is right.
func (st *store) foreign() (paths []string, settings string) {
	for _, name := range obeyed {
		if _, err := os.Lstat(filepath.Join(st.path, name)); !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, filepath.Join(st.path, name))
		}
	}
	entries, err := os.ReadDir(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	for _, entry := range entries {
		if !entry.IsDir() && !entry.Type().IsRegular() {
			paths = append(paths, filepath.Join(st.path, entry.Name()))
		}
	}
	var found string
	if !slices.Contains(paths, filepath.Join(st.path, configName)) {
		content, _ := wholefile.Read(filepath.Join(st.path, configName), maxConfigBytes)
		found = string(content)
	}
	settings = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
	for _, line := range probed {
		if strings.Contains(found, line) {
			settings += line
		}
	}
	if st.wide {
		settings += "[extensions]\n\tobjectformat = sha256\n"
	}
	if settings == found {
		settings = ""
	}
	return paths, settings
}
