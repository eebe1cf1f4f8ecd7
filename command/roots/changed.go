package roots

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// changedSince returns the directories that have changed since the merge base with a commit.
func (s *scan) changedSince(o *Options, all []Root) (changed []Root) {
	repo, err := openRepository(s.m, ".")
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
	here, err := filepath.Rel(repo.start, filepath.Join(repo.top, path))
	return err == nil && slices.ContainsFunc(o.Also, func(pattern string) bool {
		return doublestar.MatchUnvalidated(filepath.ToSlash(filepath.Clean(In(pattern, r.Dir))), filepath.ToSlash(here))
	})
}

// In replaces {dir} in the value of an option by a directory.
func In(value, dir string) string { return strings.ReplaceAll(value, "{dir}", filepath.ToSlash(dir)) }

func isBelow(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// repository is a git clone.
type repository struct {
	m          *cli.Meta
	start, top string   // without symlinks: the directory in which git runs, and the top of the clone
	settings   []string // options of git that override the repository's own settings
}

// maxAnswer is the maximum size of git's output, in bytes.
const maxAnswer = 128 << 20

// errNoRepository says that no directory upwards has an entry ".git". A directory that is laid out as a bare repository doesn't
// count: any committer can make one.
var errNoRepository = errors.New("this is not in a git repository: neither the directory nor one above it has an entry .git")

// openRepository finds the clone that has a directory: that of the nearest entry ".git" upwards.
func openRepository(m *cli.Meta, dir string) (*repository, error) {
	repo := &repository{m: m, start: resolved(dir), settings: []string{
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "safe.bareRepository=explicit",
	}}
	above := owner.Repository(repo.start)
	if _, err := os.Lstat(filepath.Join(above, ".git")); err != nil {
		return nil, errNoRepository
	}

	top, err := repo.git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	repo.top = resolved(strings.TrimRight(top, "\r\n"))

	names, err := repo.paths("config", "--name-only", "--get-regexp", `^filter\.`)
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) { // 1: no setting matches
		return nil, err
	}
	for _, name := range names {
		if strings.Contains(name, "=") {
			return nil, fmt.Errorf("the filter %q of the repository's git settings can't be left out, because its name has an equals sign: rename it", name)
		}
		repo.settings = append(repo.settings, "-c", name+"=")
		if strings.HasSuffix(name, ".required") {
			repo.settings[len(repo.settings)-1] += "false"
		}
	}
	return repo, nil
}

// git runs git in the directory. Git starts no program that the repository's settings name, asks no host and changes nothing.
func (repo *repository) git(args ...string) (string, error) {
	env := slices.DeleteFunc(slices.Clone(repo.m.Env), func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_") && !strings.HasPrefix(entry, "GIT_CONFIG") && !strings.HasPrefix(entry, "GIT_CEILING")
	})
	// GIT_ALLOW_PROTOCOL outranks all settings; this list has no transport.
	env = append(env, "GIT_ALLOW_PROTOCOL=:", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd, err := subprocess.Command(repo.m.Context, env, repo.start, "git", slices.Concat([]string{"--no-pager"}, repo.settings, args)...)
	if err != nil {
		return "", err
	}
	out, said := subprocess.Head{Limit: maxAnswer}, subprocess.Head{Limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = &out, &said
	switch err := cmd.Run(); {
	case err != nil && said.Printable() != "":
		return "", &gitError{command: args[0], said: said.Printable(), err: err}
	case err != nil:
		return "", fmt.Errorf("git %s: %w", args[0], err)
	case out.Over:
		return "", fmt.Errorf("git %s: the answer is larger than %d bytes", args[0], maxAnswer)
	}
	return string(out.Kept), nil
}

// gitError is a failed run of git, with what it printed.
type gitError struct {
	command string // "diff"
	said    string
	err     error
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s", e.command, e.said) }

func (e *gitError) Unwrap() error { return e.err }

// paths runs a git command that lists paths.
func (repo *repository) paths(args ...string) (all []string, err error) {
	out, err := repo.git(slices.Insert(args, 1, "-z")...)
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" {
			all = append(all, filepath.FromSlash(name))
		}
	}
	return all, err
}

// changedSince lists the files, relative to the top, that differ from the merge base with a commit, and untracked files.
func (repo *repository) changedSince(ref string) ([]string, error) {
	if strings.HasPrefix(ref, "-") {
		return nil, errors.New("that is not the name of a commit, a branch or a tag")
	}
	fetch := "git fetch origin " + strings.TrimPrefix(ref, "origin/")
	if shallow, err := repo.git("rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(shallow) == "true" {
		fetch = "git fetch --unshallow origin"
	}
	if _, err := repo.git("rev-parse", "--verify", "--quiet", ref+"^{commit}"); err != nil {
		return nil, &getproviders.Fault{Err: fmt.Errorf("there is no commit, branch or tag %q in this clone", ref), Hint: "To fetch it, run:\n  " + fetch}
	}
	base, err := repo.git("merge-base", ref, "HEAD")
	if err != nil {
		return nil, &getproviders.Fault{Err: fmt.Errorf("this clone has no merge base of %q and HEAD", ref), Hint: "To fetch the history, run:\n  " + fetch}
	}
	changed, err := repo.paths("diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=dirty", strings.TrimSpace(base), "--")
	if err != nil {
		return nil, err
	}
	untracked, err := repo.paths("ls-files", "--others", "--exclude-standard", "--full-name", "--", ":/")
	return slices.Concat(changed, untracked), err
}

// errOutside says that a directory isn't in the repository.
var errOutside = errors.New("the directory isn't in the repository of the current directory")

// inside returns a directory relative to the top of the repository, or errOutside.
func (repo *repository) inside(dir string) (string, error) {
	at, err := filepath.Rel(repo.top, resolved(dir))
	if err != nil || !filepath.IsLocal(at) {
		return "", errOutside
	}
	return at, nil
}
