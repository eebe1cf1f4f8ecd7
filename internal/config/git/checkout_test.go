package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// history is a repository with refs that are easily confused. The content of the file f identifies
// the commit.
func history(tb testing.TB, args ...string) (o *origin, ids map[string]string) {
	tb.Helper()
	made := copyOf(tb, "history "+strings.Join(args, " "), func(o *origin) map[string]string {
		o.init(args...)
		return o.hardToTellApart()
	})
	return made.origin, made.ids
}

// parallelBench is for a test that runs beside others.
func parallelBench(t *testing.T, args ...string) (o *origin, ids map[string]string, b *bench) {
	t.Parallel()
	o, ids = history(t, args...)
	return o, ids, newBench(t)
}

// emptyBench is parallelBench with an origin that has no commit.
func emptyBench(t *testing.T) (*origin, *bench) {
	t.Parallel()
	return newOrigin(t), newBench(t)
}

// hardToTellApart makes the commits and refs of history.
func (o *origin) hardToTellApart() map[string]string {
	ids := map[string]string{}
	commit := func(name string) { ids[name] = o.commit("f", name) }
	commit("main1")
	o.git("tag", "main") // as the default branch
	commit("main2")
	o.git("tag", "-a", "-m", "x", "v1.0.0")
	o.git("checkout", "--quiet", "-b", "dev")
	commit("dev1")
	o.git("tag", "dev") // as another branch
	commit("dev2")
	o.git("checkout", "--quiet", "-b", "only/branch")
	commit("branch1")
	commit("branch2")
	o.git("update-ref", "refs/pull/7/head", "HEAD~1")
	o.git("checkout", "--quiet", "main")
	commit("main3")
	o.git("tag", "mod/a@1.0.0", "HEAD~1")
	return ids
}

// TestCheckout_CommitsComeBeforeBranchesOfTheirName has branches and tags that are called like abbreviated commits. Whoever
// may push a branch doesn't decide what a commit is.
func TestCheckout_CommitsComeBeforeBranchesOfTheirName(t *testing.T) {
	o, ids, b := parallelBench(t)
	short := func(name string) string { return ids[name][:7] }
	describing := "v1.0.0-5-g" + ids["branch1"][:8]
	for branch, at := range map[string]string{
		short("main1"):                    "dev1",
		ids["main1"][:12]:                 "dev1",
		strings.ToUpper(ids["main2"][:9]): "dev1",
		describing:                        "dev1",
		"deadbeef":                        "dev1",
		"feature-gdeadbeef":               "dev1",
		ids["dev2"][:3]:                   "dev1",
		short("dev1") + "x":               "main2",
		"releases/" + short("main1"):      "dev1",
	} {
		o.git("branch", branch, ids[at])
	}
	o.git("tag", short("branch2"), ids["main2"])
	o.git("branch", short("branch2"), ids["dev1"])

	cases := map[string]string{
		short("main1"):                    "main1",
		ids["main1"][:12]:                 "main1",
		strings.ToUpper(ids["main2"][:9]): "main2",
		describing:                        "branch1",
		"deadbeef":                        "dev1", // there is no such commit
		"feature-gdeadbeef":               "dev1",
		ids["dev2"][:3]:                   "dev1", // too short for a commit
		short("dev1") + "x":               "main2",
		"releases/" + short("main1"):      "dev1",
		"origin/" + short("main1"):        "dev1",
		short("branch2"):                  "main2", // a tag comes first
	}
	clone := o.clone()
	for ref, want := range cases {
		must.Equal(t, clone.commitOf(ref), ids[want], "in a clone", ref)
	}
	b.finds(o.at(""), ids, cases)

	shallow := o.at(short("main1"))
	shallow.Depth = 1 // git clone --branch
	commit, _ := b.files(shallow)
	must.Equal(t, commit, ids["dev1"], "a shallow clone takes the branch")
}

// TestCheckout_TheDefaultBranchMayBeCalledLikeACommit has a clone with a branch of its own by that name.
func TestCheckout_TheDefaultBranchMayBeCalledLikeACommit(t *testing.T) {
	o, ids, b := parallelBench(t)
	name := ids["dev1"][:7]
	o.git("branch", name, ids["main2"])
	o.git("symbolic-ref", "HEAD", "refs/heads/"+name)

	must.Equal(t, o.clone().commitOf(name), ids["main2"], "in a clone")
	b.finds(o.at(""), ids, map[string]string{name: "main2"})
}

func TestCheckout_RefsMeanWhatTheyMeanInAClone(t *testing.T) {
	o, ids, b := parallelBench(t)
	cases := map[string]string{
		"": "main3", "HEAD": "main3", "@": "main3", "HEAD~1": "main2",
		"main": "main1", "refs/heads/main": "main3", "heads/main": "main3", "origin/main": "main3", "origin": "main3",
		"dev": "dev1", "tags/dev": "dev1", "refs/tags/dev": "dev1", "origin/dev": "dev2", "refs/remotes/origin/dev": "dev2", "remotes/origin/dev": "dev2",
		"refs/heads/dev": "dev2", // a clone has no such ref
		"only/branch":    "branch2", "only/branch~1": "branch1", "refs/pull/7/head": "branch1",
		"v1.0.0": "main2", "v1.0.0~1": "main1", "v1.0.0^": "main1", "v1.0.0^0": "main2", "mod/a@1.0.0": "main2",
		"v1.0.0-5-g" + ids["branch1"][:8]: "branch1",
		ids["main1"]:                      "main1", strings.ToUpper(ids["dev1"]): "dev1", ids["branch1"][:7]: "branch1", strings.ToUpper(ids["branch2"][:9]): "branch2",
		o.git("rev-parse", "v1.0.0"): "main2", // the tag's own ID
	}
	clone := o.clone()
	for ref, want := range cases {
		// Terraform resolves the ref in a clone, and then the branch of that name.
		if ref != "" && ref != "refs/heads/dev" && ref != "refs/pull/7/head" && clone.commitOf(ref) != ids[want] {
			t.Errorf("in a clone ref %q is %q, want %s", ref, clone.commitOf(ref), want)
		}
		benches := []*bench{b}
		if peertest.All() { // the fetches of other cases make no difference
			benches = append(benches, newBench(t))
		}
		for _, b := range benches {
			b.finds(o.at(""), ids, map[string]string{ref: want})
		}
	}
}

func TestCheckout_DepthPrefersTheBranch(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.finds(Request{URL: o.url(), Depth: 1}, ids, map[string]string{"main": "main3", "dev": "dev2", "v1.0.0": "main2", "": "main3", ids["main1"]: "main1"})
}

// finds checks out refs; the wanted commits have names in the test.
func (b *bench) finds(req Request, ids, refs map[string]string) {
	b.tb.Helper()
	for ref, want := range refs {
		req.Ref = ref
		commit, files := b.files(req)
		must.Equal(b.tb, files["f"], want, "ref", ref)
		must.Equal(b.tb, commit, ids[want], "ref", ref)
		must.Len(b.tb, files, 1, "ref", ref)
	}
}

func TestCheckout_RefsThatAreNotThere(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.count()
	cheap := []string{"nothing", "v9", "FETCH_HEAD", "refs/heads/v1.0.0", "mod/a@9", "$(touch x)", "a;b", "a b", "origin/", "refs/remotes/upstream/main"}
	for i, ref := range append(cheap, "abcdef0", "v9~1", "^main", "main..dev", "v1.0.0^{tree}", "main~99", strings.Repeat("ab", 20), strings.Repeat("ab", 32), ids["main1"]+"~1") {
		must.Fail(t, b.refused(o.at(ref)), ErrNotFound, "ref", ref)
		if runs := b.runs(); i < len(cheap) && runs["fetch"] > 0 {
			t.Errorf("ref %q: %v", ref, runs)
		}
	}
}

func TestCheckout_EmptyRepositoryHasNoTree(t *testing.T) {
	o, b := emptyBench(t)
	for _, ref := range []string{"", "main", "main~1", strings.Repeat("a", 40)} {
		must.Fail(t, b.refused(o.at(ref)), ErrNotFound, "ref", ref)
	}
}

func TestCheckout_WideIDs(t *testing.T) {
	o, ids, b := parallelBench(t, "--object-format=sha256")
	must.Len(t, ids["dev1"], 64)
	b.finds(o.at(""), ids, map[string]string{"": "main3", "v1.0.0": "main2", ids["dev1"]: "dev1", ids["dev2"][:10]: "dev2", "v1.0.0~1": "main1"})
	must.Fail(t, b.refused(o.at(strings.Repeat("ab", 20))), ErrNotFound, "a short ID")
}

// The files are those of the commit: bytes, modes and links, whatever line endings the user's git
// configuration sets.
func TestCheckout_TreeIsWhatWasCommitted(t *testing.T) {
	o, b := emptyBench(t)
	want := map[string]string{"a.tf": "a\r\nb\n", "auto.txt": "1\n2\n", "crlf.txt": "1\r\n2\r\n", ".hidden/x": "", "deep/er/y": "y", ".gitattributes": "auto.txt text=auto\ncrlf.txt eol=crlf\n"}
	for name, content := range want {
		o.commit(name, content)
	}
	if runtime.GOOS != "windows" {
		want["run.sh"], want["link"] = "x #!", "-> deep/er"
		must.Succeed(t, errors.Join(os.WriteFile(filepath.Join(o.dir, "run.sh"), []byte("#!"), 0o755), os.Symlink("deep/er", filepath.Join(o.dir, "link"))))
	}
	o.commit()
	config := "[core]\n\tautocrlf = true\n\teol = crlf\n\tsplitIndex = true\n\tsparseCheckout = true\n[fetch]\n\tprune = true\n[submodule]\n\trecurse = true\n"
	b.configure(config)
	_, files := b.files(o.at(""))
	if !maps.Equal(files, want) {
		t.Errorf("got %q, want %q", files, want)
	}
	if dst, want := filepath.Join(b.work, "mode"), os.FileMode(0o755); runtime.GOOS != "windows" {
		must.Get(b.Checkout(t.Context(), Request{URL: o.dir}, dst))(t)
		plain := filepath.Join(b.work, "plain")
		must.Succeed(t, os.Mkdir(plain, 0o777))
		wantInfo, _ := os.Stat(plain)
		info, _ := os.Stat(dst)
		must.Equal(t, info.Mode(), wantInfo.Mode(), want)
	}
}

// A user's hooks and file system monitor for their own repositories don't run for those of modules.
func TestCheckout_RunsNoHooksAndNoMonitor(t *testing.T) {
	needShell(t)
	o, b := emptyBench(t)
	o.commit("main.tf", "")
	hooks, ran := filepath.Join(b.work, "hooks"), filepath.Join(b.work, "ran")
	must.Succeed(t, os.Mkdir(hooks, 0o755))
	for _, name := range []string{"monitor", "post-checkout", "post-index-change", "reference-transaction", "post-merge", "pre-auto-gc"} {
		script(t, filepath.Join(hooks, name), "echo "+name+" >>"+shellQuote(peertest.ScriptPath(ran)))
	}
	at := peertest.ScriptPath(hooks)
	b.configure("[core]\n\thooksPath = " + at + "\n\tfsmonitor = " + at + "/monitor\n[init]\n\ttemplateDir = " + peertest.ScriptPath(filepath.Dir(hooks)) + "\n")
	b.files(o.at(""))
	must.Refuse(os.ReadFile(ran))(t)
}

func TestCheckout_FiltersOfTheUserAreApplied(t *testing.T) {
	needShell(t)
	o, b := emptyBench(t)
	o.commit(".gitattributes", "*.up filter=up\n", "x.up", "loud\n")
	b.configure("[filter \"up\"]\n\tsmudge = tr a-z A-Z\n\trequired = true\n")
	_, files := b.files(o.at(""))
	must.Equal(t, files["x.up"], "LOUD\n", files)
}

func TestCheckout_DestinationThatExistsIsLeftAlone(t *testing.T) {
	o, b := emptyBench(t)
	o.commit("f", "x")
	must.Fail(t, must.ErrorOf(b.Checkout(t.Context(), o.at(""), b.work)), fs.ErrExist)
	must.Fail(t, must.ErrorOf(b.Checkout(t.Context(), o.at(""), filepath.Join(b.work, "no/parent"))), fs.ErrNotExist, "without a parent")
	must.Refuse(b.Checkout(t.Context(), o.at(""), filepath.Join(b.work, strings.Repeat("x", 300))))(t, "a name that no directory can have")
}

func TestCheckout_TemporaryStoreIsRemoved(t *testing.T) {
	o, b := emptyBench(t)
	o.commit("f", "x")
	b.Dir = ""
	b.Close()
	b.files(o.at(""))
	dir := must.Get(b.dir(t.Context()))(t)
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	b.Close()
	must.Fail(t, must.ErrorOf(os.Stat(dir)), fs.ErrNotExist, dir)
}

// Three refs, requested many times concurrently: one list, three fetches.
func TestCheckout_BudgetOfManyCallers(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.count()
	refs := []string{"v1.0.0", "only/branch", "refs/heads/main"}
	wants := []string{"main2", "branch2", "main3"}
	callers := peertest.Rounds(12, 100)
	items := make([]int, callers)
	for i := range items {
		items[i] = i
	}
	ask := func(b *bench) {
		_, errs := par.Map(t.Context(), callers, items, func(ctx context.Context, i int) (string, error) {
			dst := filepath.Join(b.work, fmt.Sprintf("%p-%d", b, i))
			commit, err := b.Checkout(ctx, o.at(refs[i%3]), dst)
			if want := wants[i%3]; err == nil && commit != ids[want] {
				err = fmt.Errorf("%s is commit %s, want %s", refs[i%3], commit, ids[want])
			}
			return commit, err
		})
		must.Succeed(t, errors.Join(errs...))
	}
	ask(b)
	if runs := b.runs(); runs["ls-remote"] != 1 || runs["fetch"] != 3 || runs["init"] != 1 || runs["read-tree"] != callers {
		t.Errorf("cold: %v", runs)
	}
	warm := b.again()
	ask(warm)

	// A list of files is read again if the machine was too busy to read the end of it in time.
	runs := b.runs()
	lists := runs["ls-tree"]
	if runs["ls-remote"] != 1 || runs["read-tree"] != callers || lists < callers || runs["all"] != 1+callers+lists {
		t.Errorf("warm: %v", runs)
	}
}

// The git commands of a later run with the same store: ls-tree and read-tree at least.
func TestCheckout_BudgetOfAWarmStore(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.count()
	for _, ref := range []string{"v1.0.0", ids["dev1"], "only/branch", "v1.0.0~1", ids["branch1"][:8]} {
		b.files(o.at(ref))
	}
	b.runs()
	for _, c := range []struct {
		name   string
		req    Request
		remote int
		all    int
	}{
		{"commit", Request{Ref: ids["dev1"]}, 0, 2},
		{"commit that came with a tag", Request{Ref: ids["main2"]}, 0, 2},
		{"tag", Request{Ref: "v1.0.0"}, 1, 3},
		{"tag whose commit is known", Request{Ref: "v1.0.0", Commit: ids["main2"]}, 0, 2},
		{"commit that is known and gone", Request{Ref: "v1.0.0", Commit: strings.Repeat("a", 40)}, 1, 3},
		{"branch", Request{Ref: "only/branch"}, 1, 3},
		{"expression", Request{Ref: "v1.0.0~1"}, 1, 5}, // rev-parse, update-ref
		{"short commit", Request{Ref: ids["branch1"][:8]}, 1, 5},
		{"commit of the history that came with an expression", Request{Ref: ids["dev2"]}, 0, 4},
		{"and again", Request{Ref: ids["dev2"]}, 0, 2},
	} {
		c.req.URL = o.url()
		b.again().files(c.req)
		if runs := b.runs(); runs["ls-remote"] != c.remote || runs["fetch"] != 0 || runs["all"] != c.all {
			t.Errorf("%s: %v", c.name, runs)
		}
	}
}

func TestCheckout_OfflineUsesWhatIsInTheStore(t *testing.T) {
	o, ids, b := parallelBench(t)
	b.count()
	b.files(o.at("v1.0.0"))
	offline := b.again()
	offline.Offline = true
	b.runs()
	for _, req := range []Request{{Ref: ids["main2"]}, {Ref: "v1.0.0", Commit: ids["main2"]}} {
		req.URL = o.url()
		offline.files(req)
	}
	for _, ref := range []string{"v1.0.0", "", ids["dev1"], "v1.0.0~1"} {
		must.Fail(t, offline.refused(o.at(ref)), ErrOffline, "ref", ref)
	}
	runs := b.runs()
	must.Equal(t, runs["ls-remote"]+runs["fetch"], 0, "asked", runs)
}

func TestCheckout_RefsThatMoveAndGo(t *testing.T) {
	o, ids, b := parallelBench(t)
	for _, ref := range []string{"v1.0.0", "only/branch", "v1.0.0~1", "only/branch~1"} {
		b.files(o.at(ref))
	}
	o.git("tag", "-f", "-a", "-m", "moved", "v1.0.0", ids["dev2"])
	o.git("branch", "--quiet", "-D", "only/branch")
	o.git("branch", "--quiet", "only", ids["main1"]) // where the name of the other was a directory
	o.git("update-ref", "-d", "refs/pull/7/head")
	commit, _ := b.files(o.at("v1.0.0"))
	must.Equal(t, commit, ids["main2"], "within one run the tag has moved to")
	later := b.again()
	later.finds(o.at(""), ids, map[string]string{"v1.0.0": "dev2", "v1.0.0~1": "dev1", "only": "main1", ids["branch1"]: "branch1"})
	for _, ref := range []string{"only/branch", "only/branch~1"} {
		must.Fail(t, later.refused(o.at(ref)), ErrNotFound, "ref", ref)
	}
}

// Only a part of a shallow repository's history can be fetched.
func TestCheckout_ShallowRepository(t *testing.T) {
	o, ids, b := parallelBench(t)
	clone := filepath.Join(t.TempDir(), "clone")
	o.git("clone", "--quiet", "--depth=2", "--no-single-branch", o.url(), clone)
	b.finds(Request{URL: fileURL(clone)}, ids, map[string]string{"": "main3", "v1.0.0": "main2", "v1.0.0~0": "main2", ids["dev2"]: "dev2", ids["dev1"][:9]: "dev1"})
}

func TestCheckout_RefusesFilesThatDoNotFit(t *testing.T) {
	o, b := emptyBench(t)
	tree := func(kind, id string, n int) string {
		var list strings.Builder
		for i := range n {
			fmt.Fprintf(&list, "%s %s\tf%d\n", kind, id, i)
		}
		return o.gitInput(list.String(), "mktree")
	}
	many := tree("100644 blob", o.raw("blob", "x"), 100)
	for range 4 {
		many = tree("040000 tree", many, 100)
	}
	large := tree("100644 blob", o.raw("blob", strings.Repeat("\x00", 16<<20)), 600)
	for id, want := range map[string]string{many: "has too many files", large: "more than 8 GB"} {
		must.Contain(t, b.refused(o.at(o.commitTree("b"+id, id))).Error(), want)
	}
}
