package mirror

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
)

// prune removes packages that aren't wanted.
func (v *vendor) prune(ctx context.Context, wanted []archivedir.Item) (pruned []string, err error) {
	names, err := v.unneeded(ctx, wanted)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range names {
		if err := v.dir.Remove(name, patient.RemoveAll); err != nil {
			errs = append(errs, err)
			continue
		}
		pruned = append(pruned, name)
	}
	_ = v.dir.Receipts.File.Save(ctx)
	return pruned, errors.Join(errs...)
}

// unneeded are the packages, packed and unpacked, that aren't wanted, sorted.
func (v *vendor) unneeded(ctx context.Context, wanted []archivedir.Item) (names []string, err error) {
	if _, err := os.Stat(v.opts.Dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	providers, err := (&getproviders.FilesystemMirrorSource{Dir: v.opts.Dir}).Providers(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range providers {
		if v.isPlaced(p) {
			continue
		}
		entries, err := os.ReadDir(v.dir.Path(archivedir.MirrorDir(p)))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			name := archivedir.MirrorDir(p) + "/" + entry.Name()
			if _, _, packed := p.ParsePackedName(entry.Name()); packed && entry.Type().IsRegular() {
				names = append(names, name)
			}
			if _, err := getproviders.ParseVersion(entry.Name()); err == nil && entry.IsDir() {
				names = append(names, v.unpackedIn(name)...)
			}
			if _, isDocument := p.ParseDocumentName(entry.Name()); isDocument {
				names = append(names, name)
			}
		}
	}
	for _, p := range wanted {
		needed := []string{p.Name}
		if !isUnpacked(p) {
			needed = append(needed, archivedir.DocumentNames(p.Provider, p.Version)...)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(needed, name) })
	}
	slices.Sort(names)
	return names, nil
}

// unpackedIn are the packages of one version.
func (v *vendor) unpackedIn(dir string) (names []string) {
	entries, _ := os.ReadDir(v.dir.Path(dir))
	for _, entry := range entries {
		if _, err := getproviders.ParsePlatform(entry.Name()); err == nil {
			names = append(names, dir+"/"+entry.Name())
		}
	}
	return names
}
