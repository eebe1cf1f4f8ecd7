package modules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// packageSet is a Fetcher for tests that makes no requests.
type packageSet struct {
	packages map[string]texts // by address: file name to content, or for a link "-> " and its target
	kept     string           // the directory of packages that stay in place
	others   texts            // the content of the first of all other packages; later ones are empty; nil means no others

	mu    sync.Mutex
	asked []FetchRequest
}

func (s *packageSet) Fetch(_ context.Context, req FetchRequest, dst string) (Fetched, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req)
	files, ok := s.packages[req.Package]
	if !ok {
		if s.others == nil {
			return Fetched{}, errors.New("there is no such package in the set")
		}
		files, s.others = s.others, texts{}
	}
	fetched := Fetched{Commit: "c0ffee"}
	if req.InPlace {
		dst = filepath.Join(s.kept, fmt.Sprint(len(s.asked)))
		fetched.Dir = dst
	}
	err := os.Mkdir(dst, 0o755)
	for name, content := range files {
		path := filepath.Join(dst, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, isLink := strings.CutPrefix(content, "-> "); isLink {
			err = errors.Join(err, os.Symlink(target, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o600))
		}
	}
	return fetched, err
}

const (
	netURL  = "https://example.com/net.zip"
	leafURL = "https://example.com/leaf.zip"
)

func newPackageSet() *packageSet {
	return &packageSet{packages: map[string]texts{
		netURL: {
			"main.tf":     call("sub", "./sub") + call("leaf", leafURL),
			"sub/main.tf": call("up", "../beside"),
			"beside/x.tf": "",
			"d1/main.tf":  "",
			"d2/main.tf":  "",
		},
		leafURL: {"main.tf": `resource "x_y" "z" {}`},
	}}
}

func TestResolver_FetchesLevelByLevel(t *testing.T) {
	p := newProject(t, texts{"main.tf": call("b", netURL+"//sub") + call("a", netURL)})
	p.fetcher = newPackageSet()
	tree := p.save()
	p.wantChanged(
		"get "+netURL+" for a", "get "+netURL+" for b",
		"a in .terraform/modules/a", "b in .terraform/modules/b/sub",
		"a.sub in .terraform/modules/a/sub", "b.up in .terraform/modules/b/beside",
		"get "+leafURL+" for a.leaf", "a.leaf in .terraform/modules/a.leaf",
		"a.sub.up in .terraform/modules/a/beside",
	)
	var order []string
	for _, m := range tree.Modules {
		order = append(order, m.Key)
	}
	must.EqualSlices(t, order, []string{"", "a", "a.leaf", "a.sub", "a.sub.up", "b", "b.up"})
	reqs, _ := tree.Requirements()
	must.Len(t, reqs, 1)
	p.save()
	p.wantChanged()
	p.wantNothingElse("a", "a.leaf", "b", "modules.json")
}

// wantNothingElse checks that the directory for modules contains nothing else.
func (p *project) wantNothingElse(want ...string) {
	p.t.Helper()
	var got []string
	for _, entry := range must.Get(os.ReadDir(p.path(".terraform/modules")))(p.t) {
		got = append(got, entry.Name())
	}
	must.EqualSlices(p.t, got, want)
}

func TestResolver_SubdirectoriesMayBePatterns(t *testing.T) {
	for subdir, want := range map[string]string{
		"s*":     "",
		"d1":     "",
		"d*":     "several directories that match",
		"none":   `no directory "none"`,
		"no*":    `no directory "no*"`,
		"[":      "not a pattern",
		"main*":  `no directory "main.tf"`,
		"s*/../": "", // normalised to the package itself
	} {
		t.Run(subdir, func(t *testing.T) {
			p := newProject(t, texts{"main.tf": call("a", netURL+"//"+subdir)})
			p.fetcher = newPackageSet()
			if want == "" {
				p.save()
				return
			}
			p.wantProblem("main.tf", want, `"a"`, netURL)
			p.wantNothing()
		})
	}
}

// Upgrades before another module's failure are recorded, and the failed module is unchanged.
func TestResolver_WhatWasUpgradedStaysRecorded(t *testing.T) {
	const otherURL = "https://example.com/other.zip"
	for name, c := range map[string]struct {
		root    string
		missing string // the package that can't be had any more
		without string // no longer recorded, because its caller is another package now
	}{
		"the second of two":          {call("a", leafURL) + call("b", netURL), netURL, ""},
		"the first of two":           {call("a", netURL) + call("b", leafURL), leafURL, "a.leaf a.sub a.sub.up"},
		"of three":                   {call("a", leafURL) + call("b", otherURL) + call("c", netURL), netURL, ""},
		"one that nobody shares":     {call("a", leafURL) + call("b", otherURL) + call("c", leafURL), otherURL, ""},
		"twice the same":             {call("a", otherURL) + call("b", otherURL) + call("c", leafURL), otherURL, ""},
		"beside a local one":         {call("a", "./local") + call("b", leafURL) + call("c", otherURL), otherURL, ""},
		"a subdirectory":             {call("a", leafURL) + call("b", netURL+"//d1"), netURL, ""},
		"two subdirectories":         {call("a", netURL+"//d1") + call("b", leafURL) + call("c", netURL+"//d2"), netURL, ""},
		"called by a package":        {call("a", netURL) + call("b", otherURL), leafURL, "a.leaf a.sub a.sub.up"},
		"called by a local one":      {call("a", "./caller") + call("b", leafURL), otherURL, ""},
		"all that come by a network": {call("a", otherURL) + call("b", "./local"), otherURL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, texts{"main.tf": c.root, "local/x.tf": "", "caller/x.tf": call("other", otherURL)})
			full, half := newPackageSet(), newPackageSet()
			full.packages[otherURL], half.packages[otherURL] = texts{"x.tf": ""}, texts{"x.tf": ""}
			delete(half.packages, c.missing)
			p.fetcher = full
			p.save()
			before := p.manifest()
			p.fetcher, p.mode = half, Upgrade
			_, problems := p.install()
			must.Contain(t, problems, "Failed to download module")
			must.Contain(t, problems, "no such package in the set")
			after := p.manifest()
			maps.DeleteFunc(before, func(key string, _ Record) bool { return slices.Contains(strings.Fields(c.without), key) })
			must.DeepEqual(t, after, before)
			for key, m := range after {
				files := must.Get(filepath.Glob(p.path(m.Dir + "/*.tf")))(t)
				must.Equal(t, len(files) > 0, true, "what is recorded is there", key)
			}
		})
	}
}

// The next record removes what a killed run left, whether that run fetches anything or not.
func TestTree_SaveRemovesWhatKilledRunsHaveLeft(t *testing.T) {
	for name, files := range map[string]texts{
		"fetched": {"main.tf": call("a", leafURL)}, "local": {"main.tf": call("a", "./a"), "a/main.tf": ""}, "none": {"main.tf": ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, files)
			p.fetcher = newPackageSet()
			dir := p.path(".terraform/modules")
			must.Succeed(t, os.MkdirAll(dir, 0o755))
			killed, living := must.Get(scratch.Make(dir))(t), must.Get(scratch.Make(dir))(t)
			defer living.Remove()
			if !killed.Abandon() { // file locks don't work here: age decides
				long := time.Now().Add(-scratch.AbandonedAfter - time.Minute)
				must.Succeed(t, os.Chtimes(killed.Path, long, long))
			}
			p.save()
			must.Refuse(os.Lstat(killed.Path))(t, "what a killed process has left")
			must.Get(os.Lstat(living.Path))(t, "what a living one makes")
		})
	}
}

// A run that is interrupted leaves no record that has the old source for a new package.
func TestResolver_NoRecordOutlivesItsPackage(t *testing.T) {
	p := newProject(t, texts{"main.tf": call("a", leafURL) + call("b", leafURL)})
	p.fetcher = newPackageSet()
	p.save()
	write(t, p.dir, "main.tf", call("a", netURL)+call("b", leafURL))
	half := newPackageSet()
	delete(half.packages, leafURL) // which the new a needs
	p.fetcher = half
	p.wantProblem("a/main.tf", leafURL)
	manifest := p.manifest()
	must.Equal(t, manifest["a"].Source, netURL, "a is recorded as the new package")
	must.Equal(t, manifest["b"].Source, leafURL, "b is still recorded")
}

func TestResolver_FetchingEndsWhenTheContextDoes(t *testing.T) {
	p := newProject(t, texts{"main.tf": call("a", "./a"), "a/main.tf": call("b", netURL)})
	ctx, cancel := context.WithCancel(t.Context())
	p.ctx = ctx
	p.fetcher = stopper(cancel)
	_, problems := p.install()
	must.Len(t, problems, 1)
	must.Contain(t, problems[0].Summary, "canceled")
	p.wantNothing()
}

// stopper is a Fetcher that cancels the run when it is called.
type stopper context.CancelFunc

func (s stopper) Fetch(ctx context.Context, _ FetchRequest, dst string) (Fetched, error) {
	err := os.WriteFile(dst, nil, 0o600) // a part of a package
	s()
	return Fetched{}, errors.Join(err, context.Cause(ctx))
}

// populate copies a module to a directory.
func populate(t *testing.T, fetcher Fetcher, registries *Registries, source, dir string) error {
	t.Helper()
	in := Resolver{Dir: filepath.Join(t.TempDir(), "modules"), Product: asTerraform, Fetcher: fetcher, Registries: registries}
	return must.ErrorOf(in.Populate(t.Context(), source, dir))
}

func TestResolver_PopulateCopiesAModule(t *testing.T) {
	set := &packageSet{packages: map[string]texts{netURL: {
		"m/main.tf": call("in", "./in"), "m/in/x.tf": "", "m/.dot": "", "m/in/.dot": "", "n/main.tf": call("up", "../m"),
	}}}
	dir := t.TempDir()
	write(t, dir, ".terraform/x", "")
	must.Succeed(t, populate(t, set, nil, netURL+"//m", dir))
	var got []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); !entry.IsDir() {
			got = append(got, filepath.ToSlash(name))
		}
		return err
	})
	must.Succeed(t, err)
	must.EqualSlices(t, got, []string{".terraform/x", "in/x.tf", "main.tf"})
	for source, want := range map[string]string{
		netURL + "//n": "parent directory", netURL + "//o": `no directory "o"`, leafURL: "no such package", "x/y/z": "registries", "nonsense": "./nonsense",
	} {
		empty := t.TempDir()
		must.Contain(t, populate(t, set, nil, source, empty), want, source)
		must.Len(t, must.Get(os.ReadDir(empty))(t), 0, source)
	}
	must.Contain(t, populate(t, set, nil, netURL+"//m", dir), "not empty", "into a directory that isn't empty")
	ended, end := context.WithCancel(t.Context())
	end()
	must.Fail(t, must.ErrorOf(visible{ended, os.DirFS(dir)}.ReadDir(".")), context.Canceled)
}

// wantNothing checks that the directory for modules doesn't exist.
func (p *project) wantNothing() {
	p.t.Helper()
	must.Fail(p.t, must.ErrorOf(os.Lstat(p.path(".terraform"))), os.ErrNotExist)
}
