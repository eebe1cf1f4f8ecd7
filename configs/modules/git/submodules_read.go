package git

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const modulesFile = ".gitmodules"

// submodule is one of a tree.
type submodule struct {
	path   string // slash-separated
	url    string // as it is written
	commit string
	stage  string // the directory of its stage, below that of its parent
}

// readSubmodules returns the submodules of a commit in the order of their paths:
// those that its .gitmodules has a URL for and its tree a commit.
func (co *checkout) readSubmodules(ctx context.Context, st *store, commit string) ([]submodule, error) {
	out, err := co.repositories.run(ctx, st.call("config", "--blob", commit+":"+modulesFile, "--no-includes", "--list", "-z"))
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
	if out, err = co.repositories.run(ctx, st.call(args...)); err != nil {
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

// settings are what .gitmodules says of a submodule.
type settings struct{ path, url, update string }

// parseSettings reads .gitmodules as git config --list -z prints it:
// "submodule.NAME.path", a line break, the value, NUL.
func parseSettings(out string) map[string]settings {
	byName := map[string]settings{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		rest, ok := strings.CutPrefix(key, "submodule.")
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot < 0 {
			continue
		}
		s := byName[rest[:dot]]
		switch rest[dot+1:] {
		case "path":
			s.path = strings.TrimRight(value, "/")
		case "url":
			s.url = value
		case "update":
			s.update = value
		}
		byName[rest[:dot]] = s
	}
	return byName
}

// parseModules returns the submodules that have a path and a URL, and are not
// to be left out, by path.
func parseModules(out string) ([]submodule, error) {
	var modules []submodule
	for _, s := range parseSettings(out) {
		if s.path == "" || s.url == "" || s.update == "none" {
			continue
		}
		if err := checkPath(s.path); err != nil {
			return nil, err
		}
		modules = append(modules, submodule{path: s.path, url: s.url})
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

// checkPath refuses paths that lead out of a tree, or into a repository's own
// directory.
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

// parseTree reads "160000 commit ID<tab>path", NUL, of git ls-tree -z. What is
// no commit doesn't count.
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
