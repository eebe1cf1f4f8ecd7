package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// A user who allows the transport ext has an address rewritten to it.
func TestStrict_RewrittenAddressesStartNoCommand(t *testing.T) {
	t.Parallel()
	needShell(t)
	b := newBench(t)
	ran := filepath.Join(b.work, "ran")
	b.configure("[protocol \"ext\"]\n\tallow = always\n[url \"ext::touch " + peertest.ScriptPath(ran) + " \"]\n\tinsteadOf = https://example.com/\n")
	for _, ref := range []string{"", strings.Repeat("a", 40)} {
		must.Contain(t, b.refused(Request{URL: "https://example.com/x", Ref: ref}), "transport 'ext' not allowed", "ref", ref)
	}
	must.Refuse(os.Lstat(ran))(t, "it ran")
}

// A chain of commits, each of which has the one before as a submodule.
func TestSubmodules_DepthHasALimit(t *testing.T) {
	o, b := emptyBench(t)
	commit := o.commit("f", "x")
	var chain []string
	for range maxSubmoduleDepth + 1 {
		o.addSubmodule("sub", o.url(), commit)
		commit = o.git("rev-parse", "HEAD")
		chain = append(chain, commit)
	}
	_, files := b.files(o.at(chain[maxSubmoduleDepth-1]))
	must.Equal(t, files[strings.Repeat("sub/", maxSubmoduleDepth)+"f"], "x", files)
	must.Contain(t, b.refused(o.at(chain[maxSubmoduleDepth])), "levels deep", "of one more")
}

// All submodules of one checkout together may be as many as those of one .gitmodules.
func TestSubmodules_NumberHasALimit(t *testing.T) {
	t.Parallel()
	inner, o := newOrigin(t), newOrigin(t)
	commit := inner.commit("i", "x")
	o.addSubmodule("a", inner.url(), commit)
	o.addSubmodule("b", inner.url(), commit)
	b := newBench(t)
	for before, want := range map[int64]string{maxSubmodules - 2: "", maxSubmodules - 1: "more than"} {
		co := checkout{repositories: b.Repositories}
		co.submodules.Advance(before)
		stage := t.TempDir()
		_, err := co.make(t.Context(), tree{request: o.at(""), stage: stage})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after %d others: %v", before, err)
		}
	}
}

// A .gitmodules can't include a file of this machine.
func TestSubmodules_NothingIsIncluded(t *testing.T) {
	t.Parallel()
	inner, o := newOrigin(t), newOrigin(t)
	commit := inner.commit("i", "x")
	o.addSubmodule("a", inner.url(), commit)
	path := filepath.Join(t.TempDir(), "included")
	gitmodules := filepath.Join(o.dir, ".gitmodules")
	content, err := os.ReadFile(gitmodules)
	must.Succeed(t, errors.Join(err, os.WriteFile(path, content, 0o600), os.WriteFile(gitmodules, []byte("[include]\n\tpath = "+filepath.ToSlash(path)+"\n"), 0o600)))
	o.git("add", ".gitmodules")
	o.git("commit", "--quiet", "--message=include")
	_, files := newBench(t).files(o.at(""))
	must.Equal(t, files["a"], "/", "there", files)
}
