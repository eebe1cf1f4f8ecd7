package store

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// subdirectories returns the slash-separated names of the directories at a depth
// below one, without those whose names begin with a dot.
func subdirectories(ctx context.Context, dir string, depth int) ([]string, error) {
	names := []string{""}
	for range depth {
		var below []string
		for _, name := range names {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			for _, entry := range entries {
				if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
					below = append(below, strings.TrimPrefix(name+"/"+entry.Name(), "/"))
				}
			}
		}
		names = below
	}
	return names, nil
}

// packagesOf lists the directory of a provider: archives, and below directories
// that are named like versions what is named like a platform.
func packagesOf(ctx context.Context, p getproviders.Provider, dir string) (found []ReadPackage, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		path := filepath.Join(dir, entry.Name())
		if v, plat, ok := getproviders.ParsePackedName(entry.Name(), p.Type); ok && !entry.IsDir() {
			found = append(found, ReadPackage{Provider: p, Version: v, Platform: plat, Path: path, Packed: true})
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
				found = append(found, ReadPackage{Provider: p, Version: v, Platform: plat, Path: filepath.Join(path, unpacked.Name())})
			}
		}
	}
	return found, nil
}

// leadsToDirectory reports whether an entry is a link to a directory, or one that
// leads nowhere and may have been.
func leadsToDirectory(entry fs.DirEntry, dir string) bool {
	if entry.Type()&fs.ModeSymlink == 0 && entry.Type()&fs.ModeIrregular == 0 {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err != nil || info.IsDir()
}

func sortedPackages(packages []ReadPackage) []ReadPackage {
	slices.SortStableFunc(packages, func(a, b ReadPackage) int {
		if by := comparePackages(a.cached(), b.cached()); by != 0 {
			return by
		}
		switch {
		case a.Packed == b.Packed:
			return strings.Compare(a.Path, b.Path)
		case b.Packed:
			return -1
		default:
			return 1
		}
	})
	return packages
}

func (p ReadPackage) cached() Package {
	return Package{Provider: p.Provider, Version: p.Version, Platform: p.Platform}
}
