package vendoring

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
)

// prune removes packages that aren't wanted.
func (v *vendor) prune(ctx context.Context, wanted map[string]bool) (pruned []string, err error) {
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
	_ = v.dir.Receipts.Save(ctx)
	return pruned, errors.Join(errs...)
}

// unneeded are the packages, packed and unpacked, that aren't wanted, sorted.
func (v *vendor) unneeded(ctx context.Context, wanted map[string]bool) (names []string, err error) {
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
			if version, ok := p.ParseDocumentName(entry.Name()); ok && !archived(wanted, p, version) {
				names = append(names, name)
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return wanted[name] })
	slices.Sort(names)
	return names, nil
}

// archived reports whether an archive of a version is wanted.
func archived(wanted map[string]bool, p getproviders.Provider, version getproviders.Version) bool {
	for name := range wanted {
		dir, base := path.Split(name)
		v, _, packed := p.ParsePackedName(base)
		if packed && v == version && dir == archivedir.MirrorDir(p)+"/" {
			return true
		}
	}
	return false
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
