package git

import (
	"context"
	"errors"
	"fmt"
)

// want is what a store has to have. Either the ID is known, and the name
// under which it was listed if it was; or there is only an expression, which
// everything has to be fetched for.
type want struct {
	name, id   string
	expression string
}

// fetchKey is what a fetch is shared by. A store that had to be made anew is
// another one.
type fetchKey struct {
	remote     remoteKey
	want       want
	generation int64
}

// resolve finds out which commit a request means, and has it fetched if the
// store hasn't got it.
func (r *Repositories) resolve(ctx context.Context, req Request, rem remote) (*store, string, error) {
	if id := fullID(req.Commit); id != "" {
		if st, err := r.store(ctx, rem, id); err != nil || st.has(id) {
			return st, id, err
		}
	}
	w, like, err := r.meaning(ctx, req, rem)
	if err != nil {
		return nil, "", err
	}
	return r.obtain(ctx, rem, like, w, req.Beside)
}

// meaning finds out what a store has to have for a request; like is any ID of
// the repository.
func (r *Repositories) meaning(ctx context.Context, req Request, rem remote) (w want, like string, err error) {
	if id := fullID(req.Ref); id != "" {
		return want{id: id}, id, nil
	}
	l, err := r.list(ctx, rem)
	if err != nil {
		return want{}, "", err
	}
	if len(l.refs) == 0 {
		return want{}, "", fmt.Errorf("%w: it is empty", ErrNotFound)
	}
	if name, id, ok := l.find(req.Ref, req.Depth > 0); ok {
		return want{name: name, id: id}, id, nil
	}
	if !isExpression(req.Ref) {
		return want{}, "", ErrNotFound
	}
	return want{expression: req.Ref}, l.anyID(), nil
}

// obtain returns the store that has the commit, and its ID.
func (r *Repositories) obtain(ctx context.Context, rem remote, like string, w want, beside []Request) (*store, string, error) {
	st, err := r.store(ctx, rem, like)
	if err != nil {
		return nil, "", err
	}
	if w.id != "" && st.has(w.id) {
		return st, w.id, nil
	}
	if r.Offline {
		return nil, "", ErrOffline
	}
	key := fetchKey{rem.id, w, st.generation()}
	commit, err := r.fetches.Do(ctx, key, func(ctx context.Context) (string, error) {
		release, err := st.lock(ctx)
		if err != nil {
			return "", err
		}
		defer release()
		return fetch{r, st, rem, w, beside}.run(ctx)
	})
	return st, commit, err
}

// anyID is the ID of some object of the repository, which shows of what kind
// they are.
func (l listing) anyID() string {
	for _, id := range l.refs {
		return id
	}
	return ""
}

// resolved returns the commit that an expression means in a store; "": none.
func (r *Repositories) resolved(ctx context.Context, st *store, expression string) (string, error) {
	out, err := r.run(ctx, st.call("rev-parse", "--verify", "--quiet", expression+"^{commit}"))
	var exit *exitError
	if errors.As(err, &exit) {
		return "", nil
	}
	return fullID(firstLine(out)), err
}
