package providercache

import (
	"context"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// genuine is what is known of a package that passed all checks, or of one that
// is there. Of one that merely was hashed it is H1 alone.
type genuine struct {
	Authentication getproviders.AuthenticationResult
	H1             getproviders.Hash
	H1Archive      getproviders.Hash // as getproviders.Digests has it, if that is known and isn't H1; else ""
	ZH             getproviders.Hash // of the archive that it was unpacked from; "" if there was none, or nobody knows
	Origin         string            // as getproviders.Package has it
	ArchiveBytes   int64             // 0: not known

	Told map[getproviders.Platform]getproviders.Hash // by the provider's registry, of other platforms' packages
}

// prove finds out what a package is: by its receipt if that still holds, else
// by reading it. What nothing could be concluded from isn't read, and nothing
// is known of it then. The error says why it can't be read, or that it isn't
// there. What was read is to get a receipt.
func (l looker) prove(ctx context.Context, t task, at shelf) (found genuine, read []published, err error) {
	name := l.in.packageName(t.Selection)
	if found, ok := l.byReceipt(at, name); ok {
		return found, nil, nil
	}
	if at.root == l.target.root && l.isOfCachedFiles(t) {
		at = l.shared
	}
	receipt, known := at.find(name)
	claimed := receipt.claims()
	if len(ofScheme(t.Recorded, getproviders.SchemeH1)) == 0 && !(known && l.in.accepts(ctx, t, claimed)) {
		_, err := os.Stat(at.path(name))
		return genuine{}, nil, err
	}
	h1, record, err := l.in.read(ctx, t.Selection, at)
	if err != nil {
		return genuine{}, nil, err
	}
	found = genuine{H1: h1}
	if known && claimed.H1 == h1 {
		found = claimed
	}
	if found.H1 == claimed.H1 || slices.Contains(t.Recorded, h1) { // else its receipt may still show that it is damaged
		read = append(read, published{Name: name, Dir: at.path(name), Shared: at.root == l.shared.root, Receipt: found.receipt(record)})
	}
	return found, read, nil
}

// byReceipt is prove without reading anything. A package in Target may consist
// of hard links to the cache's files. Its own receipt doesn't hold any more
// when another directory has linked the same files, because that changes their
// status; the cache's receipt was renewed then.
func (l looker) byReceipt(at shelf, name string) (genuine, bool) {
	if l.in.Fetcher.Verify {
		return genuine{}, false
	}
	if found, ok := at.genuine(name); ok {
		return found.claims(), true
	}
	if at.own == nil || at.root != l.target.root || l.shared.own == nil {
		return genuine{}, false
	}
	if shared, ok := l.shared.own.find(name); ok {
		if found, ok := at.own.heldBy(shared, name, at.path(name), l.in.Fetcher.now()); ok {
			return found.claims(), true
		}
	}
	found, ok := l.shared.own.linked(name, at.path(name), l.in.Fetcher.now())
	return found.claims(), ok
}

// isOfCachedFiles reports whether a package in Target, which has to be read,
// consists of the very files that the cache has, by hard links. To read those
// there gives the cache a receipt again, which serves all directories that have
// them.
func (l looker) isOfCachedFiles(t task) bool {
	if l.in.Fetcher.Verify || l.shared.own == nil {
		return false
	}
	here, err := takeRecord(l.in.packagePath(t.Provider, t.Version))
	if err != nil {
		return false
	}
	there, err := takeRecord(l.in.cachePath(t.Selection))
	return err == nil && here.sameFiles(there)
}

// read hashes a package. The record is of the status that its files had before.
func (in *Installer) read(ctx context.Context, s Selection, at shelf) (getproviders.Hash, statRecord, error) {
	dir := at.path(in.packageName(s))
	began := in.Fetcher.now()
	record, _ := takeRecord(dir)
	record.readFrom = began
	in.Fetcher.emit(ctx, Reading{Provider: s.Provider, Version: s.Version, Dir: dir})
	h1, err := getproviders.HashDir(ctx, dir)
	return h1, record, err
}
