package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

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
	if s.st.clean() != nil || !r.damaged(ctx, s.st) {
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
