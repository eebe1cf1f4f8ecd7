package archivedir

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
)

// SignedDocuments are what is signed about a package's version; nil unless that is true of the archive with this checksum
// and names it as the layout does.
func SignedDocuments(t fetch.Request, trust getproviders.Trust, plat getproviders.Platform, zh getproviders.Hash) *getproviders.SignedDocuments {
	documents := trust.Documents
	sum, isZH := zh.SHA256()
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

// DocumentNames are the files of a version, in the order in which they are
// written: the signature announces the others.
func DocumentNames(p getproviders.Provider, v getproviders.Version) []string {
	return []string{layout.KeysName(p, v), layout.ChecksumsName(p, v), layout.SignatureName(p, v)}
}

// documentsThere returns what the directory has that is signed about a version, if
// that lists an archive with this checksum; else nil.
func (d *Dir) documentsThere(p Item, zh getproviders.Hash) *getproviders.SignedDocuments {
	s := p.Selection
	documents, ok := s.Provider.ReadSignedDocuments(d.Path(MirrorDir(s.Provider)), s.Version)
	if !ok || !documents.Covers(s.Provider, s.Version, p.Platform, zh) {
		return nil
	}
	return &documents
}

// document asks the source for what is signed about an archive that is there, if the
// directory lacks it. The archive is authenticated without, so no answer is no failure.
func (d *Dir) document(ctx context.Context, k *Kept) {
	zh := k.Known.Receipt.ZH
	if d.documentsThere(k.Item, zh) != nil {
		return
	}
	pkg, err := d.Fetcher.Source.Package(ctx, k.Provider, k.Version, k.Platform)
	if err != nil {
		return
	}
	t := fetch.Request{Selection: k.Selection, Package: pkg}
	if trust, err := t.LoadTrust(ctx); err == nil {
		k.Documents = SignedDocuments(t, trust, k.Platform, zh)
	}
}

// ReplaceDocuments writes the documents that change. A reader never sees a signature
// beside another signature's list: the signature goes first, and comes last.
func (d *Dir) ReplaceDocuments(p getproviders.Provider, v getproviders.Version, signed getproviders.SignedDocuments) error {
	there, _ := p.ReadSignedDocuments(d.Path(MirrorDir(p)), v)
	if len(signed.Keys) == 0 && bytes.Equal(there.Signature, signed.Signature) {
		signed.Keys = there.Keys // a source that knows the keys already doesn't bring them
	}
	if !bytes.Equal(there.Sums, signed.Sums) {
		if err := d.RemoveDocuments(p, v); err != nil {
			return err
		}
	}
	for i, content := range [][]byte{signed.EncodeKeys(), signed.Sums, signed.Signature} {
		if err := d.Write(MirrorDir(p)+"/"+DocumentNames(p, v)[i], content); err != nil {
			return err
		}
	}
	return nil
}

// RemoveDocuments removes the signature first, without which the others are none.
func (d *Dir) RemoveDocuments(p getproviders.Provider, v getproviders.Version) error {
	var errs []error
	for _, name := range slices.Backward(DocumentNames(p, v)) {
		errs = append(errs, d.removeFile(MirrorDir(p)+"/"+name))
	}
	return errors.Join(errs...)
}

func (d *Dir) removeFile(name string) error {
	if err := d.unlink(name, patient.Remove); err != nil {
		return Unlisted(d.Path(name), err)
	}
	return nil
}

// Remove removes an archive or another file with os.Remove, or an unpacked package with os.RemoveAll, and
// the directories that are empty then.
func (d *Dir) Remove(name string, by func(path string) error) error {
	if err := d.unlink(name, by); err != nil {
		return err
	}
	d.Receipts.Drop(name)
	for at := path.Dir(name); at != "." && patient.Remove(d.Path(at)) == nil; at = path.Dir(at) {
	}
	return nil
}

// unlink removes what isn't reached by a link out of the directory.
func (d *Dir) unlink(name string, by func(path string) error) error {
	err := scratch.CheckLinks(d.Root, d.Path(name))
	if err == nil {
		err = by(d.Path(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
