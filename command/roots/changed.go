package roots

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// changedSince returns the directories that have changed since the merge base with a commit.
func (s *scan) changedSince(o *Options, all []Root) (changed []Root) {
	repo, err := s.repository(".")
	var paths []string
	if err == nil {
		paths, err = repo.changedSince(o.Since)
	}
	if err != nil {
		told := slices.Concat([]string{problem.Sentence(err)}, getproviders.HintsOf(err))
		s.log.Fail("invalid_option", "Can't tell what has changed since "+o.Since, "%s", strings.Join(told, " "))
		return nil
	}
	for _, pattern := range o.Also {
		if !doublestar.ValidatePattern(filepath.ToSlash(pattern)) {
			s.log.Fail("invalid_option", "Invalid pattern", "The option -also=%s can't be used: it is not a pattern of files.", pattern)
		}
	}
	for _, r := range all {
		reached := map[string]bool{}
		if err := s.reach(repo, r.Dir, reached); err != nil {
			s.log.Fail("invalid_option", "Can't tell what has changed since "+o.Since, "%s: %v.", r.Dir, err)
			continue
		}
		if slices.ContainsFunc(paths, func(path string) bool { return s.concerns(repo, o, r, reached, path) }) {
			changed = append(changed, r)
		}
	}
	return changed
}

// reach adds the directories of a module and of all local modules that it reaches, relative to the top of the repository.
func (s *scan) reach(repo *repository, dir string, reached map[string]bool) error {
	at, err := repo.inside(dir)
	if err != nil || reached[at] {
		return err
	}
	reached[at] = true
	for _, called := range s.module(dir).calls {
		if err := s.reach(repo, called, reached); err != nil && !errors.Is(err, errOutside) {
			return err
		}
	}
	return nil
}

// concerns reports whether a changed file, relative to the top of the repository, belongs to a root module.
func (s *scan) concerns(repo *repository, o *Options, r Root, reached map[string]bool, path string) bool {
	name, dir := filepath.Base(path), filepath.Dir(path)
	own, _ := repo.inside(r.Dir)
	product := dialect.Of(s.product)
	has := func(suffixes ...string) bool {
		return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
	}
	switch {
	case reached[dir] && (has(product.Suffixes...) || has(product.TestSuffixes...) || has(".tfvars", ".tfvars.json")),
		dir == own && (name == depsfile.FileName || name == modulelock.FileName),
		dir == filepath.Join(own, "tests") && has(product.TestSuffixes...),
		name == policy.FileName && isBelow(own, dir):
		return true
	}
	for at := range reached {
		if isBelow(at, path) { // the change of a submodule is one path
			return true
		}
	}
	here, err := filepath.Rel(resolved("."), filepath.Join(repo.top, path))
	return err == nil && slices.ContainsFunc(o.Also, func(pattern string) bool {
		return doublestar.MatchUnvalidated(filepath.ToSlash(filepath.Clean(In(pattern, r.Dir))), filepath.ToSlash(here))
	})
}

// In replaces {dir} in the value of an option by a directory.
func In(value, dir string) string { return strings.ReplaceAll(value, "{dir}", filepath.ToSlash(dir)) }

func isBelow(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// changedSince lists the files, relative to the top, that differ from the merge base with a commit, and untracked files.
func (repo *repository) changedSince(ref string) ([]string, error) {
	if strings.HasPrefix(ref, "-") {
		return nil, errors.New("that is not the name of a commit, a branch or a tag")
	}
	fetch := "git fetch origin " + strings.TrimPrefix(ref, "origin/")
	if shallow, err := repo.git(repo.top, "rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(shallow) == "true" {
		fetch = "git fetch --unshallow origin"
	}
	if _, err := repo.git(repo.top, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err != nil {
		return nil, &getproviders.Fault{Err: fmt.Errorf("there is no commit, branch or tag %q in this clone", ref), Hint: "To fetch it, run:\n  " + fetch}
	}
	base, err := repo.git(repo.top, "merge-base", ref, "HEAD")
	if err != nil {
		return nil, &getproviders.Fault{Err: fmt.Errorf("this clone has no merge base of %q and HEAD", ref), Hint: "To fetch the history, run:\n  " + fetch}
	}

	// Whether a submodule is dirty only a git that runs in it could tell.
	changed, err := repo.paths(repo.top, "diff", "--name-only", "--no-renames", "--ignore-submodules=dirty", strings.TrimSpace(base), "--")
	if err != nil {
		return nil, err
	}
	untracked, err := repo.paths(repo.top, "ls-files", "--others", "--exclude-standard")
	return slices.Concat(changed, untracked), err
}
