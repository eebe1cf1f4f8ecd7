package roots

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/par"
)

// scan reads the configurations of directories, each once.
type scan struct {
	m       *cli.Meta
	product getproviders.Product
	log     *problem.Log
	known   map[string]*module
	clones  []*repository // those that were looked at
}

// close removes what looking at repositories has left.
func (s *scan) close() {
	for _, repo := range s.clones {
		repo.close()
	}
}

// repository returns the clone that a directory is in.
func (s *scan) repository(dir string) (*repository, error) {
	top := topOf(dir)
	for _, known := range s.clones {
		if known.top == top {
			return known, nil
		}
	}

	repo, err := openRepository(s.m, top)
	if err != nil {
		return nil, err
	}
	s.clones = append(s.clones, repo)
	return repo, nil
}

// module is the configuration in a directory.
type module struct {
	*load.Module
	broken bool
	calls  []string // local modules, by their directories
}

// left are names of directories without root modules of the user's own. Names that begin with a dot are skipped, too, because programs made these directories.
var left = []string{"node_modules", "terraform.d", "vendor"}

func isLeft(name string) bool {
	return slices.Contains(left, name) || strings.HasPrefix(name, ".") && strings.Trim(name, "./") != ""
}

// module returns the configuration in a directory.
func (s *scan) module(dir string) *module {
	if s.known[dir] == nil {
		s.known[dir] = s.read(dir)
	}
	return s.known[dir]
}

func (s *scan) read(dir string) *module {
	found, problems := load.LoadModuleContext(s.m.Context, dir, s.product, load.Options{HomeDir: s.m.HomeDir})
	read := &module{Module: found, broken: problems.HasErrors()}
	call := func(c load.ModuleCall) {
		if local, err := modules.ParseAddress(c.Source, s.product); err == nil {
			if path, ok := local.(modules.Local); ok {
				read.calls = append(read.calls, filepath.Join(dir, filepath.FromSlash(string(path))))
			}
		}
	}
	for _, c := range found.Calls {
		call(c)
	}
	for _, run := range found.TestRuns {
		call(run.Call)
	}
	found.Files = nil // only messages need them
	return read
}

// below finds the root modules below directories, and other directories with resources that no directory calls.
func (s *scan) below(dirs []string) (found, doubtful []Root) {
	var all []string
	for _, dir := range dirs {
		all = append(all, s.list(filepath.Clean(dir))...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	read, _ := par.Map(s.m.Context, runtime.GOMAXPROCS(0), all, func(_ context.Context, dir string) (*module, error) { return s.read(dir), nil })
	called := map[string]bool{}
	for i, dir := range all {
		if s.known[dir] = read[i]; read[i] == nil { // interrupted
			s.log.Fail("interrupted", "Interrupted", "Nothing was changed.")
			return nil, nil
		}
		for _, target := range read[i].calls {
			called[target] = called[target] || target != dir
		}
	}
	for i, dir := range all {
		why := read[i].why(dir, called[dir])
		if len(why) == 0 && s.isHere(dir) && !read[i].Empty {
			why = []string{"configuration in the current directory"}
		}

		switch {
		case len(why) > 0:
			found = append(found, Root{Dir: dir, Why: why})
		case !called[dir] && read[i].HasResources():
			doubtful = append(doubtful, Root{Dir: dir})
		}
	}
	return found, doubtful
}

// isHere reports whether a path is the directory in which the command was called.
func (s *scan) isHere(dir string) bool { return dir == "." || dir == s.m.Dir }

// why returns the reasons why a directory is a root module, or nil if it is none.
func (d *module) why(dir string, called bool) (why []string) {
	if d.Empty {
		return nil
	}
	switch b := d.Backend; {
	case b == nil:
	case b.Type == backend.Cloud:
		why = append(why, "cloud block")
	default:
		why = append(why, fmt.Sprintf("backend %q", b.Type))
	}
	if _, err := os.Lstat(filepath.Join(dir, depsfile.FileName)); err == nil {
		why = append(why, "lock file")
	}
	if called {
		return why
	}
	if d.HasProviderBlock() {
		why = append(why, "provider block, and no other directory calls it")
	}
	if len(why) == 0 && d.broken {
		why = append(why, "configuration with errors, and no other directory calls it")
	}
	return why
}

// list finds the directories with configuration below one. In a git repository it skips files that git ignores, and
// nested repositories. It doesn't follow symlinks.
func (s *scan) list(dir string) (dirs []string) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "look for root modules in", Path: dir, Err: fs.ErrInvalid}
	}
	if err != nil {
		s.log.Failed("configuration_not_found", "Can't look for root modules", err)
		return nil
	}
	suffixes := dialect.Of(s.product).Suffixes
	add := func(path string) {
		under, _ := filepath.Rel(dir, filepath.Dir(path))
		isConfig := slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
		if isConfig && !slices.ContainsFunc(strings.Split(filepath.ToSlash(under), "/"), isLeft) {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	patterns := result.Each(suffixes, func(suffix string) string { return "*" + suffix })
	repo, err := s.repository(dir)
	if err != nil && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, errNoRepository) {
		s.log.Warningf("", "Directories that git ignores aren't left out", "%s.", err)
	}
	if err == nil {
		files, err := repo.paths(dir, slices.Concat([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, patterns)...)
		if err != nil {
			s.log.Failed("configuration_not_found", "Can't list the files of a repository", err)
			return nil
		}
		for _, path := range files {
			add(filepath.Join(dir, path))
		}
		return slices.Compact(dirs)
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			s.log.Warningf("", "A directory can't be read", "Root modules in it aren't found: %v.", err)
			return fs.SkipDir
		case !entry.IsDir():
			add(path)
		case path != dir && isLeft(entry.Name()):
			return fs.SkipDir
		}
		return s.m.Context.Err()
	})
	if err != nil {
		s.log.Failed("configuration_not_found", "Can't look for root modules", err)
		return nil
	}
	return slices.Compact(dirs)
}
