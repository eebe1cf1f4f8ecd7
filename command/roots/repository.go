package roots

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// repository is a git clone that is only looked at. Others may have written its settings, and many settings of git name
// programs: filters, hooks, monitors, helpers, transports.
//
// So git never reads these settings. It runs in a git directory of our own, the mirror, which shows the clone's objects, refs
// and logs by links, has copies of its small files, and has a configuration that we write: the settings of [settingsOfFiles] and
// [settingsOfRefs], which name no program, and how the clone's files are stored. There is no remote to fetch a missing
// object from. The clone's attributes and excludes count, but a filter or a driver that they name has no definition.
type repository struct {
	m      *cli.Meta
	top    string // the directory with the entry ".git", without symlinks
	clone  gitDir
	mirror gitDir
	own    *scratch.Dir // has the mirror, and is the home directory of git
}

// gitDir is what git calls a git directory. In a worktree of another clone the refs and objects are in that clone's.
type gitDir struct {
	path   string // has HEAD and the index
	common string // has config, refs and objects
}

const (
	// maxAnswer is the maximum size of git's output, in bytes.
	maxAnswer = 128 << 20
	// maxConfig is the maximum size of a repository's configuration, in bytes.
	maxConfig = 4 << 20
	// maxPointer is the maximum size of a file that names a git directory, in bytes.
	maxPointer = 64 << 10
)

// errNoRepository says that a directory is in no clone. A directory that is laid out as a bare repository is none: any committer
// can make one.
var errNoRepository = errors.New("this is not in a git repository: neither the directory nor one above it has an entry .git")

// errOutside says that a directory isn't in the repository.
var errOutside = errors.New("the directory isn't in the repository of the current directory")

// topOf returns the top of the clone that a directory is in, which has the nearest entry ".git" upwards. Without one it is the
// directory itself.
func topOf(dir string) string { return owner.Repository(resolved(dir)) }

// openRepository returns the clone with a top. The caller closes it.
func openRepository(m *cli.Meta, top string) (*repository, error) {
	clone, err := gitDirOf(top)
	if err != nil {
		return nil, err
	}

	own, err := scratch.Temporary()
	if err != nil {
		return nil, err
	}
	repo := &repository{m: m, top: top, clone: clone, own: own}
	if err := repo.makeMirror(); err != nil {
		repo.close()
		return nil, err
	}
	if err := repo.configure(); err != nil {
		repo.close()
		return nil, err
	}
	return repo, nil
}

func (repo *repository) close() { repo.own.Remove() }

// gitDirOf finds the git directory of a clone. The entry ".git" is the directory itself, or, in a worktree and a submodule, a file
// that names it.
func gitDirOf(top string) (gitDir, error) {
	path := filepath.Join(top, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return gitDir{}, errNoRepository
	}

	if !info.IsDir() {
		named, err := readPointer(path)
		if err != nil {
			return gitDir{}, err
		}
		path = workdir.In(top, strings.TrimPrefix(named, "gitdir: "))
	}
	if _, err := os.Stat(filepath.Join(path, "HEAD")); err != nil {
		return gitDir{}, fmt.Errorf("%w: %s is not a git directory", errNoRepository, path)
	}

	common, err := readPointer(filepath.Join(path, "commondir"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gitDir{path: path, common: path}, nil
	case err != nil:
		return gitDir{}, err
	}
	return gitDir{path: path, common: workdir.In(path, common)}, nil
}

// readPointer reads a file that names a directory.
func readPointer(path string) (string, error) {
	content, err := wholefile.Read(path, maxPointer)
	return filepath.FromSlash(strings.TrimRight(string(content), "\r\n")), err
}

// makeMirror makes a git directory that shows the contents of the clone's.
func (repo *repository) makeMirror() error {
	common := filepath.Join(repo.own.Path, "git")
	repo.mirror = gitDir{path: common, common: common}
	if err := os.Mkdir(common, 0o700); err != nil {
		return err
	}
	if err := show(repo.clone.common, common); err != nil {
		return err
	}
	if repo.clone.path == repo.clone.common {
		return nil
	}

	repo.mirror.path = filepath.Join(common, "worktrees", "1")
	if err := os.MkdirAll(repo.mirror.path, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo.mirror.path, "commondir"), []byte("../..\n"), 0o600); err != nil {
		return err
	}
	return show(repo.clone.path, repo.mirror.path)
}

// show makes a git directory show what another one has: directories as links, files as copies. What it doesn't list are
// settings, hooks, and what only other commands of git need. The index isn't copied, because git compares its time with that of files.
func show(from, in string) error {
	for _, name := range []string{"objects", "refs", "reftable", "logs", "info"} {
		if info, err := os.Stat(filepath.Join(from, name)); err != nil || !info.IsDir() {
			continue
		}
		if err := link.Dir(filepath.Join(from, name), filepath.Join(in, name)); err != nil {
			return err
		}
	}

	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		isRef := name == "packed-refs" || strings.HasSuffix(name, "HEAD") // FETCH_HEAD and others, too
		isNeeded := isRef || name == "shallow" || strings.HasPrefix(name, "sharedindex.")
		if !isNeeded || entry.IsDir() {
			continue
		}
		if err := copyFile(filepath.Join(from, name), filepath.Join(in, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	source, _, err := patient.OpenRegular(from)
	if errors.Is(err, fs.ErrNotExist) { // another git has just removed it
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()

	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// The settings that the mirror has, as extended regular expressions of git's names for them. None of them names a program, or something
// that defines one.
const (
	// settingsOfFiles say how files are compared, and which ones git ignores.
	settingsOfFiles = `core\.(filemode|symlinks|ignorecase|precomposeunicode|longpaths|autocrlf|eol|trustctime|checkstat|` +
		`excludesfile|attributesfile|sparsecheckout|sparsecheckoutcone)`
	// settingsOfRefs say what a name such as main@{upstream} means.
	settingsOfRefs = `branch\..*\.(remote|merge)|remote\..*\.fetch`
	// settingsOfFormat say how a repository is stored. Of one that it doesn't know, git says so.
	settingsOfFormat = `core\.repositoryformatversion|extensions\.[a-z0-9-]+`
)

// unwantedFormats are settings of the format that would have git fetch missing objects, or read a second configuration.
var unwantedFormats = []string{"extensions.partialclone", "extensions.worktreeconfig"}

// setting is an entry of git's configuration.
type setting struct {
	name  string // "core.filemode", "branch.main.merge"
	value string
	bare  bool // without "= value", which means true
}

func (s setting) isOfFormat() bool {
	return s.name == "core.repositoryformatversion" || strings.HasPrefix(s.name, "extensions.")
}

// configure writes the mirror's configuration. The user's own settings count as they do in the clone: those of the system and
// the user are outranked by the repository's, these by the environment's.
func (repo *repository) configure() error {
	own, err := repo.settingsOfClone()
	if err != nil {
		return err
	}
	if err := repo.writeConfig(own); err != nil {
		return err
	}

	all, err := repo.settings(repo.usersEnvironment(), settingsOfFiles+"|"+settingsOfRefs)
	if err != nil {
		return err
	}
	format := slices.DeleteFunc(own, func(s setting) bool { return !s.isOfFormat() })
	return repo.writeConfig(slices.Concat(format, repo.defaults(), all))
}

// settingsOfClone reads those settings of the repository that the mirror has. Files that its configuration includes don't count.
func (repo *repository) settingsOfClone() ([]setting, error) {
	found, err := repo.settingsOfFile(filepath.Join(repo.clone.common, "config"))
	if err != nil {
		return nil, err
	}

	hasWorktreeConfig := slices.ContainsFunc(found, func(s setting) bool {
		return s.name == "extensions.worktreeconfig" && !slices.Contains([]string{"false", "no", "off", "0", ""}, strings.ToLower(s.value))
	})
	if hasWorktreeConfig {
		more, err := repo.settingsOfFile(filepath.Join(repo.clone.path, "config.worktree"))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return slices.DeleteFunc(found, func(s setting) bool { return slices.Contains(unwantedFormats, s.name) }), nil
}

// settingsOfFile reads settings of a configuration file, which may not exist. Git gets a copy: reading the original could block, or not end.
func (repo *repository) settingsOfFile(path string) ([]setting, error) {
	content, err := wholefile.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	copied := filepath.Join(repo.own.Path, "config")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		return nil, err
	}
	return repo.settings(repo.environment(), settingsOfFormat+"|"+settingsOfFiles+"|"+settingsOfRefs, "--file="+copied, "--no-includes")
}

// settings asks git for settings whose names match a pattern.
func (repo *repository) settings(env cli.Environment, pattern string, options ...string) (found []setting, err error) {
	args := slices.Concat([]string{"config", "-z"}, options, []string{"--get-regexp", "^(" + pattern + ")$"})
	out, err := repo.run(env, repo.own.Path, args...)
	exit, hasRun := errors.AsType[*exec.ExitError](err)
	if hasRun && exit.ExitCode() == 1 { // no setting matches
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		name, value, hasValue := strings.Cut(entry, "\n")
		found = append(found, setting{name: name, value: value, bare: !hasValue})
	}
	return found, nil
}

// defaults are settings that are needed because git doesn't have the user's home directory, and doesn't run where the clone is.
func (repo *repository) defaults() []setting {
	fixed := []setting{
		{name: "core.bare", value: "false"},
		{name: "core.untrackedcache", value: "false"},
	}

	configHome := cmp.Or(repo.m.Env.Get("XDG_CONFIG_HOME"), filepath.Join(repo.m.HomeDir, ".config"))
	if !filepath.IsAbs(configHome) {
		return fixed
	}
	return append(fixed,
		setting{name: "core.excludesfile", value: filepath.Join(configHome, "git", "ignore")},
		setting{name: "core.attributesfile", value: filepath.Join(configHome, "git", "attributes")},
	)
}

// writeConfig writes the mirror's configuration.
func (repo *repository) writeConfig(all []setting) error {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var text strings.Builder
	for _, s := range all {
		section, rest, _ := strings.Cut(s.name, ".")
		variable := rest[strings.LastIndexByte(rest, '.')+1:]
		subsection := strings.TrimSuffix(strings.TrimSuffix(rest, variable), ".")

		fmt.Fprintf(&text, "[%s", section)
		if subsection != "" {
			fmt.Fprintf(&text, ` "%s"`, quoted.Replace(subsection))
		}
		fmt.Fprintf(&text, "]\n\t%s", variable)
		if !s.bare {
			fmt.Fprintf(&text, ` = "%s"`, quoted.Replace(repo.expanded(s.value)))
		}
		fmt.Fprintln(&text)
	}
	return os.WriteFile(filepath.Join(repo.mirror.common, "config"), []byte(text.String()), 0o600)
}

// expanded replaces the tilde for the user's home directory, which git doesn't have.
func (repo *repository) expanded(value string) string {
	below, isBelow := strings.CutPrefix(value, "~/")
	if isBelow && repo.m.HomeDir != "" {
		return filepath.Join(repo.m.HomeDir, below)
	}
	return value
}

// usersEnvironment is the environment in which git reads the settings of the user, in the mirror.
func (repo *repository) usersEnvironment() cli.Environment {
	env := slices.DeleteFunc(slices.Clone(repo.m.Env), func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_") && !strings.HasPrefix(entry, "GIT_CONFIG")
	})
	// GIT_ALLOW_PROTOCOL outranks all settings; this list has no transport.
	return env.With("GIT_DIR="+repo.mirror.path, "GIT_ALLOW_PROTOCOL=:", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// environment is the environment of git in the mirror: it reads the mirror's configuration alone. Releases before 2.32 know no
// variable for the user's, so the home directory is another one.
func (repo *repository) environment() cli.Environment {
	env := slices.DeleteFunc(repo.usersEnvironment(), func(entry string) bool { return strings.HasPrefix(entry, "GIT_CONFIG") })
	return env.With("HOME="+repo.own.Path, "XDG_CONFIG_HOME="+repo.own.Path, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_WORK_TREE="+repo.top, "GIT_INDEX_FILE="+filepath.Join(repo.clone.path, "index"))
}

// git runs git in a directory of the clone. It starts no program, asks no host and changes nothing.
func (repo *repository) git(dir string, args ...string) (string, error) {
	return repo.run(repo.environment(), resolved(dir), args...)
}

// paths is git for a command that lists paths.
func (repo *repository) paths(dir string, args ...string) (all []string, err error) {
	out, err := repo.git(dir, slices.Insert(args, 1, "-z")...)
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" {
			all = append(all, filepath.FromSlash(name))
		}
	}
	return all, err
}

func (repo *repository) run(env cli.Environment, dir string, args ...string) (string, error) {
	cmd, err := subprocess.Command(repo.m.Context, env, dir, "git", args...)
	if err != nil {
		return "", err
	}
	out := subprocess.Head{Limit: maxAnswer}
	said := subprocess.Head{Limit: 4 << 10}
	cmd.Stdout = &out
	cmd.Stderr = &said

	err = cmd.Run()
	switch {
	case err != nil:
		return "", &gitError{command: args[0], said: said.Printable(), err: err}
	case out.Over:
		return "", fmt.Errorf("git %s: the answer is larger than %d bytes", args[0], maxAnswer)
	}
	return string(out.Kept), nil
}

// gitError is a failed run of git.
type gitError struct {
	command string // "diff"
	said    string // what it printed, or ""
	err     error
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: %s", e.command, cmp.Or(e.said, e.err.Error()))
}

func (e *gitError) Unwrap() error { return e.err }

// inside returns a directory relative to the top of the repository, or errOutside.
func (repo *repository) inside(dir string) (string, error) {
	at, err := filepath.Rel(repo.top, resolved(dir))
	if err != nil || !filepath.IsLocal(at) {
		return "", errOutside
	}
	return at, nil
}
