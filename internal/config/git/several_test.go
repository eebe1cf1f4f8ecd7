package git

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestCheckout_WhatIsWantedAtTheSameTimeIsFetchedAtOnce(t *testing.T) {
	t.Parallel()
	o, ids := history(t)
	other, _ := history(t)
	gone := strings.Repeat("a", 40)
	wants := map[string]string{"v1.0.0": "main2", "HEAD": "main3", "only/branch": "branch2", "v1.0.0~1": "main1", ids["main1"]: "main1", ids["main2"]: "main2", ids["dev1"]: "dev1"}
	for _, c := range []struct {
		name    string
		refs    []string // each is requested, with all others beside it
		beside  []Request
		fetches int
	}{
		{"two names of one commit", []string{"v1.0.0", "HEAD"}, nil, 1},
		{"a tag, a branch and a commit", []string{"v1.0.0", "only/branch", ids["dev1"]}, nil, 1},
		{"commits", []string{ids["main1"], ids["dev1"], ids["main2"]}, nil, 1},
		{"what isn't there", []string{"v1.0.0", "only/branch"}, []Request{{Ref: gone}, {Ref: "nothing"}, {Ref: "-x"}}, 3},
		{"what is elsewhere", []string{"v1.0.0"}, []Request{{URL: other.url(), Ref: "only/branch"}}, 1},
		{"an expression", []string{"v1.0.0", "v1.0.0~1"}, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).count()
			beside := c.beside
			for _, ref := range c.refs {
				beside = append(beside, Request{Ref: ref})
			}
			for i := range beside {
				if beside[i].URL == "" {
					beside[i].URL = o.url()
				}
			}
			for _, ref := range c.refs {
				b.finds(Request{URL: o.url(), Beside: beside}, ids, map[string]string{ref: wants[ref]})
			}
			must.Equal(t, b.runs()["fetch"], c.fetches, "fetches")
			err := b.refused(Request{URL: o.url(), Ref: gone, Beside: beside})
			if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrUnreachable) {
				t.Errorf("a commit that isn't there: %v", err)
			}
		})
	}
}

func TestCheckout_ATagOfNoCommitIsNoneBesideOthers(t *testing.T) {
	o, _, b := parallelBench(t)
	o.git("tag", "tree", "HEAD^{tree}")
	o.git("tag", "-a", "-m", "m", "nested", "v1.0.0")
	beside := []Request{{URL: o.url(), Ref: "tree"}, {URL: o.url(), Ref: "nested"}, {URL: o.url(), Ref: "only/branch"}}
	b.files(Request{URL: o.url(), Ref: "only/branch", Beside: beside})
	want, _ := b.files(o.at("v1.0.0"))
	commit, _ := b.files(Request{URL: o.url(), Ref: "nested", Beside: beside})
	must.Equal(t, commit, want, "the tag of a tag")
	must.Fail(t, b.refused(Request{URL: o.url(), Ref: "tree", Beside: beside}), ErrNotFound, "a tag of a tree")
}

// A truncated output of git isn't taken for the whole: git runs again, and if that fails, too,
// there is an error.
func TestListing_AnswerThatIsNotWholeIsNotBelieved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a script can't end there before its output does")
	}
	o, ids := history(t)
	program, _ := requireGit(t)
	for _, c := range []struct {
		name, condition string
		believed        bool
	}{
		{"the first time", `[ ! -e "$0.asked" ]`, true},
		{"always", "true", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			// A process that git starts in the background keeps the output open for longer than git
			// may run.
			b.Program = script(t, filepath.Join(b.work, "git"), `
				case "$*" in *ls-remote*) if `+c.condition+`; then
					: >"$0.asked"
					printf '`+ids["main1"]+`\tHEAD\n'
					sleep 3 &
					exit 0
				fi;; esac
				exec '`+program+`' "$@"`)
			commit, _, err := b.checkout(t.Context(), o.at(""))
			switch {
			case c.believed && (err != nil || commit != ids["main3"]):
				t.Errorf("commit %s, want %s: %v", commit, ids["main3"], err)
			case !c.believed && (err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "may not be whole")):
				t.Errorf("commit %s, error %v", commit, err)
			}
		})
	}
}
