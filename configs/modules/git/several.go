package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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
			refs = append(refs, "+"+w.source()+":"+fetchedRefs+w.id)
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

// source is what a want is asked for by: see [fetch.one].
func (w want) source() string {
	if w.name != "" {
		return w.name
	}
	return w.id
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
	out, err := f.Repositories.run(ctx, f.st.call(args...))
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
	_, err = f.Repositories.run(ctx, c)
	return err
}
