package git

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/par"
)

const (
	heads   = "refs/heads/"
	tags    = "refs/tags/"
	remotes = "refs/remotes/"
)

// listing is the result of git ls-remote.
type listing struct {
	head string            // the name of the default branch, "refs/heads/main"; "" if the server doesn't send it
	refs map[string]string // the object's ID by full name or "HEAD"; for an annotated tag the tagged object's
}

// list requests a repository's refs, once.
func (r *Repositories) list(ctx context.Context, rem remote) (listing, error) {
	if r.Offline {
		return listing{}, ErrOffline
	}
	return r.listings.Do(ctx, rem.id, func(ctx context.Context) (listing, error) {
		out, err := r.ask(ctx, rem.call("--git-dir="+os.DevNull, "ls-remote", "--quiet", "--symref", "--", rem.id.url))
		if err != nil {
			return listing{}, unreachable(err)
		}
		return parseListing(out), nil
	})
}

// Tags lists the tags of the repository of a request, sorted. Errors are those of Checkout.
func (r *Repositories) Tags(ctx context.Context, req Request) (all []string, err error) {
	defer func() { err = failure(ctx, req, err) }()
	if err := req.check(); err != nil {
		return nil, err
	}
	listed, err := r.list(ctx, tree{request: req}.remote())
	for name := range listed.refs {
		if tag, ok := strings.CutPrefix(name, tags); ok {
			all = append(all, tag)
		}
	}
	slices.Sort(all)
	return all, err
}

// unreachable marks an error of git as one of the repository.
func unreachable(err error) error {
	var exit *exitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// parseListing reads the lines "ID<tab>name", after "ref: NAME<tab>HEAD". A second line
// "ID<tab>name^{}" has the object of an annotated tag. Other lines are skipped.
func parseListing(out string) listing {
	l := listing{refs: map[string]string{}}
	for line := range strings.Lines(out) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if target, symbolic := strings.CutPrefix(id, "ref: "); symbolic && name == "HEAD" {
			l.head = target
			continue
		}
		peeled := strings.TrimSuffix(name, "^{}")
		if !ok || peeled == "" || !isFullID(id) || checkText(peeled) != nil {
			continue
		}
		if _, known := l.refs[name]; !known || peeled != name {
			l.refs[peeled] = id
		}
	}
	return l
}

// find returns the full name and the ID of a ref, if it is listed.
func (l listing) find(ref string, branchFirst bool) (name, id string, ok bool) {
	for _, name := range l.candidates(ref, branchFirst) {
		if id, ok := l.refs[name]; ok {
			return name, id, true
		}
	}
	return "", "", false
}

// candidates returns the repository's full names for a ref, in the order in which git searches a
// clone. There the branches are refs/remotes/origin/NAME, and only the default branch is
// refs/heads/NAME.
func (l listing) candidates(ref string, branchFirst bool) []string {
	switch {
	case ref == "" || ref == "HEAD" || ref == "@":
		return []string{"HEAD"}
	case branchFirst: // git clone --branch
		return []string{heads + ref, tags + ref, ref}
	}
	var names []string
	if strings.HasPrefix(ref, "refs/") {
		names = append(names, ofClone(ref), ref)
	}
	if strings.HasPrefix(ref, "heads/") || strings.HasPrefix(ref, "tags/") || strings.HasPrefix(ref, "remotes/") {
		names = append(names, ofClone("refs/"+ref))
	}
	names = append(names, tags+ref)
	if l.head == heads+ref {
		names = append(names, heads+ref)
	}
	return append(names, ofClone(remotes+ref), heads+ref)
}

// ofClone converts a ref's full name in a clone to its name in the repository.
func ofClone(name string) string {
	rest, remote := strings.CutPrefix(name, remotes)
	branch, ok := strings.CutPrefix(rest, "origin/")
	switch {
	case !remote:
		return name
	case rest == "origin" || branch == "HEAD":
		return "HEAD"
	case ok:
		return heads + branch
	}
	return "" // a clone has no other remote
}

// state returns a digest of the branches and tags: while it is unchanged, a fetch would bring
// nothing new.
func (l listing) state() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.refs)) {
		fmt.Fprintf(&b, "%s %s\n", l.refs[name], name)
	}
	return digest(b.String())
}

// expression matches what git rev-parse accepts besides refs: an abbreviated commit, v1.2.0~2,
// v1.2.0^, main@{yesterday}, v1.2.0-3-g0a1b2c3.
var expression = par.OnceRegexp(`^[0-9a-fA-F]{4,63}$|[~^]|@\{|-g[0-9a-fA-F]{4,}$`)

func isExpression(ref string) bool { return expression().MatchString(ref) }

// isFullID reports whether text is the ID of an object, SHA-1 or SHA-256, in lower case as git
// prints it.
func isFullID(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 40 || len(text) == 64) && strings.ToLower(text) == text
}

// fullID returns text in lower case if it is a full ID, or "".
func fullID(text string) string {
	lower := strings.ToLower(cmp.Or(text, "-"))
	if isFullID(lower) {
		return lower
	}
	return ""
}

// want is what a store must have: either a commit's ID, with the name under which it is listed, if
// any; or an expression, which needs a full fetch.
type want struct {
	name, id   string
	expression string
}

// fetchKey identifies a shared fetch. A store that was created again has another generation.
type fetchKey struct {
	remote     remoteKey
	want       want
	generation int64
}

// resolve returns the commit of a request, and fetches it if the store doesn't have it.
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
	return r.fetchCommit(ctx, rem, like, w, req.Beside)
}

// meaning returns what a store must have for a request; like is any ID of the repository.
func (r *Repositories) meaning(ctx context.Context, req Request, rem remote) (w want, like string, err error) {
	if id := fullID(req.Ref); id != "" {
		return want{id: id}, id, nil
	}
	l, err := r.list(ctx, rem)
	if err != nil {
		return w, "", err
	}
	if len(l.refs) == 0 {
		return w, "", fmt.Errorf("%w: it is empty", ErrNotFound)
	}

	name, id, ok := l.find(req.Ref, req.Depth > 0)
	mayBeCommit := isExpression(req.Ref) && (!ok || req.Depth == 0 && l.isRemoteBranch(req.Ref, name))
	switch {
	case mayBeCommit:
		return want{expression: req.Ref}, l.anyID(), nil
	case ok:
		return want{name: name, id: id}, id, nil
	default:
		return w, "", ErrNotFound
	}
}

// isRemoteBranch reports whether a clone has no ref that the text names, but only the branch of a remote, whose full name in
// the repository is name. In a clone, an abbreviated commit takes precedence over such a branch: else whoever may push
// branches could choose what is installed.
func (l listing) isRemoteBranch(ref, name string) bool { return name == heads+ref && name != l.head }

// fetchCommit returns the store that has the commit, and its ID.
func (r *Repositories) fetchCommit(ctx context.Context, rem remote, like string, w want, beside []Request) (*store, string, error) {
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

// anyID returns an ID of the repository, which shows their kind.
func (l listing) anyID() string {
	for _, id := range l.refs {
		return id
	}
	return ""
}

// resolved returns the commit of an expression in a store, or "".
func (r *Repositories) resolved(ctx context.Context, st *store, expression string) (string, error) {
	out, err := r.ask(ctx, st.call("rev-parse", "--verify", "--quiet", expression+"^{commit}"))
	var exit *exitError
	if errors.As(err, &exit) {
		return "", nil
	}
	id, _, _ := strings.Cut(out, "\n")
	return fullID(id), err
}
