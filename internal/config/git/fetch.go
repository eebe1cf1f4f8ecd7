package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	err = f.Repositories.run(ctx, f.st.call("update-ref", commitRefs+commit, commit))
	return commit, err
}

// prepare makes the store if it isn't there.
func (f fetch) prepare(ctx context.Context) error {
	if !f.st.there("HEAD") {
		err := f.st.create(func(path string) error {
			args := []string{"init", "--quiet", "--bare", "--template="}
			if f.st.wide {
				args = append(args, "--object-format=sha256")
			}
			return f.Repositories.run(ctx, call{args: append(args, path)})
		})
		if err != nil {
			return err
		}
	}
	return f.st.clean()
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
	if f.st.there("shallow") {
		args = append(args, "--depth=2147483647") // which git takes for the whole history
	}
	if err := f.fetch(ctx, args, refs...); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.st.path, completeName), []byte(l.state()), 0o600)
}

// fetch runs git fetch.
func (f fetch) fetch(ctx context.Context, args []string, refs ...string) error {
	args = append([]string{"--git-dir=" + f.st.path, "fetch", "--quiet", "--force", "--no-tags", "--no-recurse-submodules"}, args...)
	args = append(append(args, "--", f.rem.id.url), refs...)
	return f.Repositories.run(ctx, f.rem.call(args...))
}

// maxAtOnce bounds what one fetch asks for: each want has its place on a
// command line, which on some systems can hold 32 KiB.
const maxAtOnce = 100

// several fetches what is wanted with all that is wanted beside it: one round of
// questions and one pack. It is an attempt: what doesn't come that way is fetched
// alone, and then is an error if it has to be. A server that refuses one
// commit refuses all, so that it isn't asked like this again.
func (f fetch) several(ctx context.Context) {
	if n, _ := f.st.refusals.At(); n > 0 || f.want.id == "" || f.st.complete() != "" {
		return
	}
	for wants := range slices.Chunk(f.wants(ctx), maxAtOnce) {
		if len(wants) < 2 {
			return
		}
		var refs []string
		for _, w := range wants {
			refs = append(refs, "+"+cmp.Or(w.name, w.id)+":"+fetchedRefs+w.id)
		}
		err := f.fetch(ctx, []string{"--depth=1"}, refs...)
		if err == nil {
			err = f.keep(ctx, wants)
		}
		if err != nil {
			f.st.refusals.Advance(1)
			return
		}
	}
}

// wants are the commits that have to be fetched for this request and for those
// beside it, each once, this one first.
func (f fetch) wants(ctx context.Context) []want {
	all := []want{f.want}
	seen := map[string]bool{f.want.id: true}
	for _, req := range f.beside {
		rem := tree{request: req}.remote()
		known := fullID(req.Commit)
		if rem.id != f.rem.id || req.check() != nil || known != "" && f.st.has(known) {
			continue
		}
		w, _, err := f.meaning(ctx, req, rem)
		if err != nil || w.id == "" || isWide(w.id) != f.st.wide || seen[w.id] || f.st.has(w.id) {
			continue
		}
		seen[w.id] = true
		all = append(all, w)
	}
	return all
}

// keep leaves refs that say of commits that they are there with all their files. A name may
// mean something else by now, and needn't mean a commit.
func (f fetch) keep(ctx context.Context, wants []want) error {
	args := []string{"for-each-ref", "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(refname)"}
	for _, w := range wants {
		args = append(args, fetchedRefs+w.id)
	}
	out, err := f.Repositories.ask(ctx, f.st.call(args...))
	if err != nil {
		return err
	}
	var refs strings.Builder
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(fields) != 5 {
			continue
		}
		id := strings.TrimPrefix(fields[4], fetchedRefs)
		if fields[0] == "commit" && fields[1] == id || fields[2] == "commit" && fields[3] == id {
			fmt.Fprintf(&refs, "update %s%s %s\n", commitRefs, id, id)
		}
	}
	if refs.Len() == 0 {
		return nil
	}
	c := f.st.call("update-ref", "--stdin")
	c.in = refs.String()
	return f.Repositories.run(ctx, c)
}
