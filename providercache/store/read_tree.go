package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// ReadTree is what was found in a directory that has packages in the layout of
// .terraform/providers, of a cache or of a filesystem mirror.
type ReadTree struct {
	Dir      string
	Packages []ReadPackage // in the order of providers, versions and platforms, unpacked ones first
	Err      error         // why the directory can't be listed; fs.ErrNotExist: it isn't there
}

// ReadPackage is a package that was read from its first byte to its last.
type ReadPackage struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Path     string // of the directory or archive, or of the link to one
	Packed   bool
	H1       getproviders.Hash // of the files; "": they can't be hashed
	// H1Archive is the h1 as the real tools compute it for an archive, directories
	// included; equal to H1 where there are none, and for what is unpacked.
	H1Archive getproviders.Hash
	ZH        getproviders.Hash // of an archive
	Err       error             // why it can't be hashed; ErrDangling among others
}

// ErrDangling says that a link stands in a package's place, and leads nowhere.
var ErrDangling = errors.New("it is a link to what isn't there")

// ReadTrees lists directories and hashes every package in them, as many at once
// as there are cores; one to which several links lead is read once. Nothing that
// is remembered of a package counts, nothing is written and nobody is asked. The
// results belong to dirs, in their order. Names that no tool takes for a package
// are passed over. The error is the cause of ctx.
func ReadTrees(ctx context.Context, dirs []string) ([]ReadTree, error) {
	trees := make([]ReadTree, len(dirs))
	var first []ReadPackage // of those that are the same
	at := map[string]int{}
	for i, dir := range dirs {
		trees[i].Dir = dir
		trees[i].Packages, trees[i].Err = listTree(ctx, dir)
		for _, p := range trees[i].Packages {
			if _, ok := at[realPath(p.Path)]; !ok {
				at[realPath(p.Path)] = len(first)
				first = append(first, p)
			}
		}
	}
	hashed, errs := par.Map(ctx, runtime.GOMAXPROCS(0), first, readPackage)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, tree := range trees {
		for i, p := range tree.Packages {
			same := at[realPath(p.Path)]
			got := hashed[same]
			tree.Packages[i].H1, tree.Packages[i].H1Archive, tree.Packages[i].ZH = got.H1, got.H1Archive, got.ZH
			tree.Packages[i].Err = errs[same]
		}
	}
	return trees, nil
}

// realPath is a path without links, or the path itself if there is none such.
func realPath(path string) string {
	if real, err := receipt.Resolved(path); err == nil {
		return real
	}
	return path
}

// readPackage hashes a package.
func readPackage(ctx context.Context, p ReadPackage) (ReadPackage, error) {
	if _, err := os.Stat(p.Path); errors.Is(err, fs.ErrNotExist) {
		target, _ := os.Readlink(p.Path)
		return p, fmt.Errorf("%w: %s", ErrDangling, target)
	}
	if p.Packed {
		content, zh, err := unpack.HashFile(ctx, p.Path)
		p.H1, p.H1Archive, p.ZH = content.H1, content.H1Archive, zh
		return p, err
	}
	h1, err := getproviders.HashDir(ctx, p.Path)
	p.H1, p.H1Archive = h1, h1
	return p, err
}

// listTree finds the packages below a directory. Links are followed to packages,
// and to the directory itself, as the real tools do, and nowhere else.
func listTree(ctx context.Context, dir string) ([]ReadPackage, error) {
	names, err := subdirectories(ctx, realPath(dir), 3)
	if err != nil {
		return nil, err
	}
	var found []ReadPackage
	for _, name := range names {
		var p getproviders.Provider
		if p.UnmarshalText([]byte(name)) != nil {
			continue
		}
		more, err := packagesOf(ctx, p, filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return sortedPackages(found), nil
}
