package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// ReadTree has the packages of a directory in the layout of
// .terraform/providers, of a cache or of a filesystem mirror.
type ReadTree struct {
	Dir      string
	Packages []ReadPackage // sorted by provider, version and platform, unpacked ones first
	Err      error         // why the directory can't be listed; fs.ErrNotExist if it doesn't exist
}

// ReadPackage is a package that was read completely.
type ReadPackage struct {
	event.Outcome // its Path is that of the directory or archive, or of the link to one; without H1 the files can't be hashed, and Err says why
	Packed        bool
	// H1Archive is the h1 as Terraform computes it for an archive, including
	// directories; equal to H1 if there are none, and for unpacked packages.
	H1Archive getproviders.Hash
	ZH        getproviders.Hash // of an archive
}

// ErrDangling says that a package's path is a symbolic link to nothing.
var ErrDangling = errors.New("it is a link that leads nowhere")

// ReadTrees lists directories and hashes every package in them, as many at once as there are cores; a
// package to which several links lead is read once. It ignores receipts, writes nothing and sends no
// requests. The results are in the order of dirs. Names that neither Terraform nor OpenTofu takes for a
// package are skipped. emit gets event.Queued, and for each package event.Hashing, event.HashProgress and
// event.Hashed, from several goroutines at once. The error is the cause of ctx.
func ReadTrees(ctx context.Context, dirs []string, emit func(context.Context, event.Event)) ([]ReadTree, error) {
	trees := make([]ReadTree, len(dirs))
	var first []ReadPackage // one package of each group of equal ones
	var unique []Package    // the same packages, for readEach
	at := map[string]int{}
	for i, dir := range dirs {
		trees[i].Dir = dir
		trees[i].Packages, trees[i].Err = listTree(ctx, dir)
		for _, p := range trees[i].Packages {
			if _, ok := at[realPath(p.Path)]; !ok {
				at[realPath(p.Path)] = len(first)
				one := p.cached()
				one.Dir, one.Size = p.Path, sizeOf(p.Path)
				first, unique = append(first, p), append(unique, one)
			}
		}
	}
	hashed, errs := readEach(ctx, emit, unique, func(ctx context.Context, p Package, progress func(int64)) (ReadPackage, error) {
		return readPackage(ctx, first[at[realPath(p.Dir)]], progress)
	})
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

// sizeOf returns the size in bytes of a package's files, or of its archive, without files that can't be read.
func sizeOf(path string) (size int64) {
	for file := range receipt.Files(realPath(path)) {
		if info, err := os.Lstat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}

// realPath returns the path without links, or the path itself if that fails.
func realPath(path string) string {
	if real, err := receipt.Resolved(path); err == nil {
		return real
	}
	return path
}

// readPackage hashes a package; progress is called after each read.
func readPackage(ctx context.Context, p ReadPackage, progress func(bytes int64)) (ReadPackage, error) {
	if _, err := os.Stat(p.Path); errors.Is(err, fs.ErrNotExist) {
		target, _ := os.Readlink(p.Path)
		return p, fmt.Errorf("%w: %s", ErrDangling, target)
	}
	if p.Packed {
		content, zh, err := unpack.HashFile(ctx, p.Path, progress)
		p.H1, p.H1Archive, p.ZH = content.H1, content.H1Archive, zh
		return p, err
	}
	h1, err := treehash.DirProgress(ctx, p.Path, progress)
	p.H1, p.H1Archive = h1, h1
	return p, err
}

// listTree finds the packages below a directory. Like Terraform, it follows
// links to packages and to the directory itself, and no others.
func listTree(ctx context.Context, dir string) ([]ReadPackage, error) {
	names, err := subdirectories(ctx, realPath(dir), 3, false)
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

// subdirectories returns the slash-separated names of the directories at a depth below dir, without those whose names
// begin with a dot. With followed, links to directories count. A directory that disappears meanwhile has none.
func subdirectories(ctx context.Context, dir string, depth int, followed bool) ([]string, error) {
	names := []string{""}
	for range depth {
		var below []string
		for _, name := range names {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			at := filepath.Join(dir, filepath.FromSlash(name))
			entries, err := os.ReadDir(at)
			if err != nil && (name == "" || !errors.Is(err, fs.ErrNotExist)) {
				return nil, err
			}
			for _, entry := range entries {
				isDir := entry.IsDir()
				if followed && entry.Type()&fs.ModeSymlink != 0 {
					info, err := os.Stat(filepath.Join(at, entry.Name()))
					isDir = err == nil && info.IsDir()
				}
				if isDir && !strings.HasPrefix(entry.Name(), ".") {
					below = append(below, strings.TrimPrefix(name+"/"+entry.Name(), "/"))
				}
			}
		}
		names = below
	}
	return names, nil
}

// packagesOf lists the directory of a provider: archives, and in
// directories named like versions the entries named like platforms.
func packagesOf(ctx context.Context, p getproviders.Provider, dir string) (found []ReadPackage, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	at := func(v getproviders.Version, plat getproviders.Platform, path string) event.Outcome {
		return event.Outcome{Selection: getproviders.Selection{Provider: p, Version: v}, Platform: plat, Path: path}
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		path := filepath.Join(dir, entry.Name())
		if v, plat, ok := p.ParsePackedName(entry.Name()); ok && !entry.IsDir() {
			found = append(found, ReadPackage{Outcome: at(v, plat, path), Packed: true})
			continue
		}
		v, err := getproviders.ParseVersion(entry.Name())
		if err != nil || !entry.IsDir() {
			continue
		}
		platforms, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, unpacked := range platforms {
			plat, err := getproviders.ParsePlatform(unpacked.Name())
			if err == nil && (unpacked.IsDir() || leadsToDirectory(unpacked, path)) {
				found = append(found, ReadPackage{Outcome: at(v, plat, filepath.Join(path, unpacked.Name()))})
			}
		}
	}
	return found, nil
}

// leadsToDirectory reports whether an entry is a link to a directory, or a dangling one that may have been.
func leadsToDirectory(entry fs.DirEntry, dir string) bool {
	if entry.Type()&fs.ModeSymlink == 0 && entry.Type()&fs.ModeIrregular == 0 {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err != nil || info.IsDir()
}

func sortedPackages(packages []ReadPackage) []ReadPackage {
	slices.SortStableFunc(packages, func(a, b ReadPackage) int {
		packed := strings.Compare(strconv.FormatBool(a.Packed), strconv.FormatBool(b.Packed)) // those that are unpacked come first
		return cmp.Or(comparePackages(a.cached(), b.cached()), packed, strings.Compare(a.Path, b.Path))
	})
	return packages
}

func (p ReadPackage) cached() Package {
	return Package{Provider: p.Provider, Version: p.Version, Platform: p.Platform}
}
