package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// treeName is the tree's directory in a stage, beside the index and the stages of its submodules.
const treeName = "tree"

// checkout is one call of [Repositories.Checkout], with all submodules.
type checkout struct {
	repositories *Repositories
	submodules   par.Mark // how many there are so far
	bytes        par.Mark // of all files, before filters
}

// tree is a tree to check out.
type tree struct {
	request Request
	stage   string // a private directory
	depth   int    // 0 for the request, 1 for its submodules
}

// make checks out a tree with its submodules in its stage. If the store is damaged, it is created
// again, once.
func (co *checkout) make(ctx context.Context, t tree) (commit string, err error) {
	commit, err = co.try(ctx, t)
	if err == nil || !co.repositories.mend(ctx, err) {
		return commit, err
	}
	if err := errors.Join(patient.RemoveAll(t.stage), os.Mkdir(t.stage, 0o700)); err != nil {
		return "", err
	}
	return co.try(ctx, t)
}

func (co *checkout) try(ctx context.Context, t tree) (commit string, err error) {
	st, commit, err := co.repositories.resolve(ctx, t.request, t.remote())
	if err != nil {
		return "", err
	}
	if err := st.guard(ctx); err != nil {
		return "", err
	}
	if err := co.write(ctx, t, st, commit); err != nil {
		return "", st.suspect(err, commit)
	}
	return commit, co.addSubmodules(ctx, t, st, commit)
}

// write makes git write the files of a commit, as in a clone: with filters, and without following
// symlinks of the tree.
func (co *checkout) write(ctx context.Context, t tree, st *store, commit string) error {
	dir, index := filepath.Join(t.stage, treeName), filepath.Join(t.stage, "index")
	size, err := co.measure(ctx, st, commit)
	if err = errors.Join(err, os.Mkdir(dir, 0o777)); err != nil {
		return err
	}
	c := st.call("--work-tree="+dir, "-c", "remote.origin.url="+t.request.URL, // LFS requests its files there
		"read-tree", "--reset", "-u", "--no-sparse-checkout", commit)
	c.dir, c.url, c.env = dir, t.request.URL, []string{"GIT_INDEX_FILE=" + index}
	if err := co.repositories.run(ctx, c); err != nil {
		co.bytes.Advance(-size) // of a store that is made again they count once
		return fmt.Errorf("the files of commit %s: %w", commit, err)
	}
	return patient.Remove(index)
}

// measure refuses a commit whose files don't fit within the limits. A repository of some kilobytes can have any number of files, if each
// of its trees has another one many times, and git keeps the names of all in memory while it writes them.
func (co *checkout) measure(ctx context.Context, st *store, commit string) (size int64, err error) {
	listed, err := co.repositories.ask(ctx, st.call("ls-tree", "-r", "-l", "-z", "--full-tree", commit))
	if errors.Is(err, errAnswer) {
		return 0, fmt.Errorf("commit %s has too many files: the names of all have more than %d MB", commit, answerBytes/1_000_000)
	}
	for entry := range strings.SplitSeq(listed, "\x00") {
		meta, _, _ := strings.Cut(entry, "\t")
		bytes, _ := strconv.ParseInt(meta[strings.LastIndexByte(meta, ' ')+1:], 10, 64) // "-" of a submodule
		size += bytes
	}
	co.bytes.Advance(size)
	if n, _ := co.bytes.At(); err == nil && n > maxCheckoutBytes {
		return 0, fmt.Errorf("the files of commit %s and its submodules have more than %d GB", commit, maxCheckoutBytes/1_000_000_000)
	}
	return size, err
}

// Limits of one checkout.
const (
	maxCheckoutBytes  = 8 << 30 // as of an archive
	maxSubmodules     = 1000
	maxSubmoduleDepth = 10
	submodulesAtOnce  = 4
)

// addSubmodules moves the trees of submodules into a tree, which has empty directories for them.
func (co *checkout) addSubmodules(ctx context.Context, t tree, st *store, commit string) error {
	info, err := os.Lstat(filepath.Join(t.stage, treeName, modulesFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	modules, err := co.readSubmodules(ctx, st, commit)
	if err != nil {
		return err
	}
	co.submodules.Advance(int64(len(modules)))
	if n, _ := co.submodules.At(); n > maxSubmodules || len(modules) > 0 && t.depth == maxSubmoduleDepth {
		return fmt.Errorf("there are more than %d submodules, or they are more than %d levels deep", maxSubmodules, maxSubmoduleDepth)
	}
	root, err := os.OpenRoot(t.stage)
	if err != nil {
		return err
	}
	defer root.Close()
	_, errs := par.Map(ctx, submodulesAtOnce, modules, func(ctx context.Context, m submodule) (string, error) {
		return co.makeSubmodule(ctx, t, m)
	})
	for i, m := range modules {
		if errs[i] == nil {
			errs[i] = moveInto(root, m)
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("submodule %s: %w", strconv.Quote(m.path), errs[i])
		}
	}
	return errors.Join(errs...)
}

// makeSubmodule checks out a submodule beside its parent's tree.
func (co *checkout) makeSubmodule(ctx context.Context, parent tree, m submodule) (commit string, err error) {
	req := Request{URL: m.url, Ref: m.commit, SSHKey: parent.request.SSHKey}
	if req.URL, err = submoduleURL(parent.request.URL, m.url); err != nil {
		return "", err
	}
	defer func() { err = failure(ctx, req, err) }()
	if err := req.check(); err != nil {
		return "", err
	}
	// A remote repository must not make us copy files of this machine.
	if isLocal(req.URL) && !isLocal(parent.request.URL) {
		return "", fmt.Errorf("%w: a repository that isn't on this file system must not refer to one that is", ErrAddress)
	}
	sub := tree{request: req, stage: filepath.Join(parent.stage, m.stage), depth: parent.depth + 1}
	if err := os.Mkdir(sub.stage, 0o700); err != nil {
		return "", err
	}
	return co.make(ctx, sub)
}

// moveInto moves the tree of a submodule to its directory. If names differ in case only, the
// directory may be a symlink now.
func moveInto(root *os.Root, m submodule) error {
	place := path.Join(treeName, m.path)
	for dir := place; dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(filepath.FromSlash(dir))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", dir)
		}
	}
	place = filepath.FromSlash(place)
	if err := root.Remove(place); err != nil {
		return err
	}
	return patient.Try(func() error { return root.Rename(filepath.Join(m.stage, treeName), place) })
}

const modulesFile = ".gitmodules"

// submodule is a submodule of a tree.
type submodule struct {
	path    string // slash-separated
	url     string // as written
	leftOut bool
	commit  string
	stage   string // the directory of its stage, below its parent's
}

// readSubmodules returns the submodules of a commit in the order of their paths: those with a URL
// in .gitmodules and a commit in the tree.
func (co *checkout) readSubmodules(ctx context.Context, st *store, commit string) ([]submodule, error) {
	out, err := co.repositories.ask(ctx, st.call("config", "--blob", commit+":"+modulesFile, "--no-includes", "--list", "-z"))
	if err != nil {
		return nil, err
	}
	modules, err := parseModules(out)
	if err != nil || len(modules) == 0 {
		return nil, err
	}
	args := []string{"ls-tree", "-z", "--full-tree", commit, "--"}
	for _, m := range modules {
		args = append(args, m.path)
	}
	if out, err = co.repositories.ask(ctx, st.call(args...)); err != nil {
		return nil, err
	}
	commits := parseTree(out)
	modules = slices.DeleteFunc(modules, func(m submodule) bool { return commits[m.path] == "" })
	for i := range modules {
		modules[i].commit = commits[modules[i].path]
		modules[i].stage = fmt.Sprintf("submodule-%d", i)
	}
	return modules, nil
}

// parseModules reads .gitmodules as git config --list -z prints it: "submodule.NAME.path", a line break, the value, NUL. It returns the
// submodules with a path and a URL, except those with update = none, sorted by path.
func parseModules(out string) ([]submodule, error) {
	byName := map[string]submodule{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		rest, ok := strings.CutPrefix(key, "submodule.")
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot < 0 {
			continue
		}
		m := byName[rest[:dot]]
		switch rest[dot+1:] {
		case "path":
			m.path = strings.TrimRight(value, "/")
		case "url":
			m.url = value
		case "update":
			m.leftOut = value == "none"
		}
		byName[rest[:dot]] = m
	}
	var modules []submodule
	for _, m := range byName {
		if m.path == "" || m.url == "" || m.leftOut {
			continue
		}
		if err := checkPath(m.path); err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b submodule) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.url, b.url))
	})
	modules = slices.CompactFunc(modules, func(a, b submodule) bool { return a.path == b.path })
	if len(modules) > maxSubmodules {
		return nil, fmt.Errorf("%s has more than %d submodules", modulesFile, maxSubmodules)
	}
	return modules, nil
}

// checkPath refuses paths that lead out of a tree, or into a .git directory.
func checkPath(p string) error {
	inside := filepath.IsLocal(filepath.FromSlash(p)) && path.Clean(p) == p && p != "." && checkText(p) == nil
	for part := range strings.SplitSeq(p, "/") {
		inside = inside && !strings.EqualFold(part, ".git")
	}
	if !inside {
		return fmt.Errorf("%s: %q is not the path of a submodule", modulesFile, p)
	}
	return nil
}

// parseTree reads "160000 commit ID<tab>path", NUL, of git ls-tree -z. It skips entries that aren't
// commits.
func parseTree(out string) map[string]string {
	commits := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, p, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if ok && len(fields) == 3 && fields[1] == "commit" && isFullID(fields[2]) {
			commits[p] = fields[2]
		}
	}
	return commits
}
