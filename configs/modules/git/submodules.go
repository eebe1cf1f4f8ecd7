package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// Bounds of what one checkout may lead to.
const (
	maxSubmodules     = 1000
	maxSubmoduleDepth = 10
	submodulesAtOnce  = 4
)

// addSubmodules puts the trees of submodules into a tree, where empty
// directories stand for them.
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

// makeSubmodule makes the tree of a submodule beside that of its parent.
func (co *checkout) makeSubmodule(ctx context.Context, parent tree, m submodule) (commit string, err error) {
	req := Request{URL: m.url, Ref: m.commit, SSHKey: parent.request.SSHKey}
	if req.URL, err = submoduleURL(parent.request.URL, m.url); err != nil {
		return "", err
	}
	defer func() { err = failure(ctx, req, err) }()
	if err := req.check(); err != nil {
		return "", err
	}
	// A repository of somebody else mustn't have files of this machine copied.
	if isLocal(req.URL) && !isLocal(parent.request.URL) {
		return "", fmt.Errorf("%w: a repository that isn't on this file system must not refer to one that is", ErrAddress)
	}
	sub := tree{request: req, stage: filepath.Join(parent.stage, m.stage), depth: parent.depth + 1}
	if err := os.Mkdir(sub.stage, 0o700); err != nil {
		return "", err
	}
	return co.make(ctx, sub)
}

// moveInto puts the tree of a submodule in its place. Where names differ in
// case only, the directory may have become a link to anywhere.
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
	return root.Rename(filepath.Join(m.stage, treeName), place)
}
