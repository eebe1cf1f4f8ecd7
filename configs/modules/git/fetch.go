package git

import (
	"context"
	"errors"
	"fmt"
)

// fetch brings what is wanted into a store whose lock is held.
type fetch struct {
	*Repositories
	st   *store
	rem  remote
	want want

	beside []Request // what else is wanted soon
}

// everything is what a fetch without a limit brings: into the places that it
// would have in a clone, so that expressions mean what they mean there.
var everything = []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}

// run returns the commit, and leaves a ref in the store that says that it is
// there with all its files.
func (f fetch) run(ctx context.Context) (commit string, err error) {
	if f.want.id != "" && f.st.has(f.want.id) {
		return f.want.id, nil // another process was faster
	}
	if err := f.prepare(ctx); err != nil {
		return "", err
	}
	f.several(ctx)
	if f.want.id != "" && f.st.has(f.want.id) {
		return f.want.id, nil
	}
	var refused error
	if f.want.id != "" {
		if commit, refused = f.one(ctx); ctx.Err() != nil {
			return "", refused
		}
	}
	if commit == "" {
		if commit, err = f.all(ctx, refused); err != nil {
			return "", err
		}
	}
	_, err = f.Repositories.run(ctx, f.st.call("update-ref", commitRefs+commit, commit))
	return commit, err
}

// prepare makes the store if it isn't there.
func (f fetch) prepare(ctx context.Context) error {
	if f.st.exists() {
		return nil
	}
	return f.st.create(func(path string) error {
		args := []string{"init", "--quiet", "--bare", "--template="}
		if f.st.wide {
			args = append(args, "--object-format=sha256")
		}
		_, err := f.Repositories.run(ctx, call{args: append(args, path)})
		return err
	})
}

// one fetches a single commit. A listed one is asked for by its name, which
// every server allows; the ID comes next, as the name may mean something else by
// now. Servers may refuse IDs, and then it is an error.
func (f fetch) one(ctx context.Context) (commit string, err error) {
	complete := f.st.complete() != ""
	if complete {
		if commit, err := f.resolved(ctx, f.st, f.want.id); err != nil || commit != "" {
			return commit, err
		}
	}
	for _, from := range []string{f.want.name, f.want.id} {
		if from == "" {
			continue
		}
		// Less than the whole history would cut that which is there.
		args := []string{"--depth=1"}
		if complete {
			args = nil
		}
		if err := f.fetch(ctx, args, "+"+from+":"+fetchedRefs+f.want.id); err != nil {
			return "", err
		}
		if commit, err := f.resolved(ctx, f.st, f.want.id); err != nil || commit != "" {
			return commit, err
		}
	}
	return "", nil
}

// all fetches all branches and tags, unless they are known to be there, and
// finds the commit among them; refused is why it didn't come alone.
func (f fetch) all(ctx context.Context, refused error) (commit string, err error) {
	l, err := f.list(ctx, f.rem)
	if err != nil {
		return "", err // it isn't that the server refuses single commits
	}
	if len(l.refs) > 0 && f.st.wide != isWide(l.anyID()) {
		return "", fmt.Errorf("%w: its commits have IDs of another length", ErrNotFound)
	}
	if f.st.complete() != l.state() {
		if err := f.fetchAll(ctx, l); err != nil {
			return "", f.st.suspect(unreachable(err), "")
		}
	}
	for _, expression := range f.meanings() {
		if commit, err = f.resolved(ctx, f.st, expression); err != nil || commit != "" {
			return commit, err
		}
	}
	return "", errors.Join(ErrNotFound, refused)
}

// meanings returns what may be meant, in a clone's order.
func (f fetch) meanings() []string {
	if f.want.id != "" {
		return []string{f.want.id}
	}
	return []string{f.want.expression, remotes + "origin/" + f.want.expression}
}

func (f fetch) fetchAll(ctx context.Context, l listing) error {
	refs := everything
	if _, ok := l.refs["HEAD"]; ok {
		refs = append(refs[:len(refs):len(refs)], "+HEAD:refs/remotes/origin/HEAD")
	}
	args := []string{"--prune", "--update-shallow"}
	if f.st.shallow() {
		args = append(args, "--depth=2147483647") // which git takes for the whole history
	}
	if err := f.fetch(ctx, args, refs...); err != nil {
		return err
	}
	return f.st.setComplete(l.state())
}

// fetch runs git fetch.
func (f fetch) fetch(ctx context.Context, args []string, refs ...string) error {
	args = append([]string{"--git-dir=" + f.st.path, "fetch", "--quiet", "--force", "--no-tags", "--no-recurse-submodules"}, args...)
	args = append(append(args, "--", f.rem.id.url), refs...)
	_, err := f.Repositories.run(ctx, f.rem.call(args...))
	return err
}
