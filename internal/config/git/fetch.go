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

// fetch fetches a wanted commit into a store whose lock is held.
type fetch struct {
	*Repositories
	st   *store
	rem  remote
	want want

	beside []Request // other requests that are about to be made
}

// everything are the refspecs of a full fetch: they give refs the same names as in a clone, so that
// expressions have the same meaning.
var everything = []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}

// run returns the commit, and writes a ref into the store which says that the commit is complete.
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

// prepare creates the store if it doesn't exist.
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

// one fetches a single commit. It requests a listed commit by its name, which every server allows,
// and then by its ID, because the name may have moved. Servers that refuse IDs are an error.
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
		// A depth would truncate the complete history.
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

// all fetches all branches and tags, unless the store has them, and finds the commit among them.
// refused is why the commit couldn't be fetched alone.
func (f fetch) all(ctx context.Context, refused error) (commit string, err error) {
	l, err := f.list(ctx, f.rem)
	if err != nil {
		return "", err // not a refusal of single commits
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

// meanings returns possible names of the ref, in the order of a clone.
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
		args = append(args, "--depth=2147483647") // git's value for the complete history
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

// maxAtOnce bounds the wants of one fetch: each is an argument on the command line, which on some
// systems can hold 32 KiB.
const maxAtOnce = 100

// several fetches the want together with those of the requests beside it, in one round trip and one
// pack. It ignores errors: a commit that is still missing is fetched alone. A server that refuses
// one commit refuses all, so after a refusal it isn't tried again.
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

// wants returns the missing commits of this request and those beside it, each once, this one first.
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

// keep writes refs which say that commits are complete. A name may have moved, or may not be a
// commit.
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
