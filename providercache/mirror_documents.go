package providercache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// documents returns what is signed about a package's version, if that is true of
// an archive with this checksum, and names it as a mirror does; else nil. Sources
// remember what they were asked for.
func signedDocuments(ctx context.Context, t fetcher.Request, plat getproviders.Platform, zh getproviders.Hash) *getproviders.SignedDocuments {
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return nil
	}
	return shownDocuments(t, trust, plat, zh)
}

func shownDocuments(t fetcher.Request, trust getproviders.Trust, plat getproviders.Platform, zh getproviders.Hash) *getproviders.SignedDocuments {
	documents := trust.Documents
	sum, isZH := archiveSum(zh)
	if documents == nil || trust.Authenticator == nil || !isZH {
		return nil
	}
	if _, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum}); err != nil {
		return nil
	}
	if !documents.Covers(t.Provider, t.Version, plat, zh) {
		return nil
	}
	return documents
}

// documentsThere returns what the mirror has about a version, if it lists an
// archive with this checksum.
func (d *archiveDir) documentsThere(p mirrorPackage, zh getproviders.Hash) *getproviders.SignedDocuments {
	s := p.Selection
	documents, ok := getproviders.ReadSignedDocuments(d.path(mirrorDir(s.Provider)), s.Provider, s.Version)
	if !ok || !documents.Covers(s.Provider, s.Version, p.Platform, zh) {
		return nil
	}
	return &documents
}

// document asks for what is signed about an archive that is there, if the mirror
// lacks it. The archive is genuine without: who can't be asked is no failure.
func (d *archiveDir) document(ctx context.Context, k *mirrorKept) {
	zh := k.known.Receipt.ZH
	if d.documentsThere(k.mirrorPackage, zh) != nil {
		return
	}
	pkg, err := d.fetcher.Source.Package(ctx, k.Selection.Provider, k.Selection.Version, k.Platform)
	if err == nil {
		k.documents = signedDocuments(ctx, fetcher.Request{Selection: k.Selection, Package: pkg}, k.Platform, zh)
	}
}

// rejudge reports whether an archive that is there is genuine by what the mirror
// has about it, and the keys that its source names now: then nothing has to be
// asked for.
func (d *archiveDir) rejudge(t fetcher.Request, k *mirrorKept, digests getproviders.Digests) bool {
	zh := getproviders.ZH(digests.SHA256)
	recheck := t.Package.Trust.Recheck
	there := d.documentsThere(k.mirrorPackage, zh)
	if recheck == nil || there == nil {
		return false
	}
	k.documents = shownDocuments(t, recheck(*there), k.Platform, zh)
	return k.documents != nil
}

// documentNames are the files of a version, in the order in which they come into
// the mirror: the signature announces the others.
func documentNames(p getproviders.Provider, v getproviders.Version) []string {
	return []string{getproviders.KeysName(p, v), getproviders.ChecksumsName(p, v), getproviders.SignatureName(p, v)}
}

// writeDocuments puts what is signed about the versions beside their archives,
// before an index tells of these. A list that isn't true of every archive of its
// version would keep people from installing, so there is none then; one that
// became untrue by what this run did is removed.
func (m *mirror) writeDocuments(shelf mirrorShelf, kept map[string]*mirrorKept) (errs []error) {
	for _, v := range shelf.sortedVersions() {
		documents, changed := shelf.documents(v, kept)
		var err error
		switch {
		case documents != nil && shelf.covered(v, *documents):
			err = m.dir.replaceDocuments(shelf.provider, v, *documents)
		case changed:
			there, ok := getproviders.ReadSignedDocuments(m.dir.path(mirrorDir(shelf.provider)), shelf.provider, v)
			if ok && !shelf.covered(v, there) {
				err = m.dir.removeDocuments(shelf.provider, v)
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// documents are those of a version that were found. changed: one of its archives
// is new.
func (s mirrorShelf) documents(v getproviders.Version, kept map[string]*mirrorKept) (found *getproviders.SignedDocuments, changed bool) {
	var names []string
	for _, p := range s.versions[v] {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	for _, name := range names {
		if k := kept[name]; k != nil {
			changed = changed || !k.Present
			if found == nil {
				found = k.documents
			}
		}
	}
	return found, changed
}

// covered reports whether a list is true of all archives of a version.
func (s mirrorShelf) covered(v getproviders.Version, d getproviders.SignedDocuments) bool {
	for plat, p := range s.versions[v] {
		if !d.Covers(s.provider, v, plat, p.Receipt.ZH) {
			return false
		}
	}
	return true
}

// replaceDocuments writes what changes. Nobody gets a signature with another one's
// list: it goes first, and comes last.
func (d *archiveDir) replaceDocuments(p getproviders.Provider, v getproviders.Version, signed getproviders.SignedDocuments) error {
	there, _ := getproviders.ReadSignedDocuments(d.path(mirrorDir(p)), p, v)
	if len(signed.Keys) == 0 && bytes.Equal(there.Signature, signed.Signature) {
		signed.Keys = there.Keys // a mirror isn't asked for keys that it takes no introduction to know
	}
	if !bytes.Equal(there.Sums, signed.Sums) {
		if err := d.removeDocuments(p, v); err != nil {
			return err
		}
	}
	for i, content := range [][]byte{signed.EncodeKeys(), signed.Sums, signed.Signature} {
		if err := d.write(mirrorDir(p)+"/"+documentNames(p, v)[i], content); err != nil {
			return err
		}
	}
	return nil
}

// removeDocuments removes the signature first, without which the others are none.
func (d *archiveDir) removeDocuments(p getproviders.Provider, v getproviders.Version) error {
	var errs []error
	for _, name := range slices.Backward(documentNames(p, v)) {
		errs = append(errs, d.removeFile(mirrorDir(p)+"/"+name))
	}
	return errors.Join(errs...)
}

func (d *archiveDir) removeFile(name string) error {
	path := d.path(name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &MirrorError{Path: path, Err: err}
	}
	return nil
}
