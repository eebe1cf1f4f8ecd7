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
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
)

// SignedDocuments returns the signed documents of a package's version, or nil unless
// they are true of the archive with this checksum and name it as the layout does.
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

// DocumentNames returns the names of a version's signed documents, in the order in
// which they are written: the signature is last, because clients look for it first.
func DocumentNames(p getproviders.Provider, v getproviders.Version) []string {
	dir := MirrorDir(p) + "/"
	return []string{dir + layout.KeysName(p, v), dir + layout.ChecksumsName(p, v), dir + layout.SignatureName(p, v)}
}

// documentsThere returns the signed documents of a version in the directory, or nil if they don't list an archive with this checksum.
func (d *Dir) documentsThere(p Item, zh getproviders.Hash) *getproviders.SignedDocuments {
	s := p.Selection
	documents, ok := s.Provider.ReadSignedDocuments(d.Path(MirrorDir(s.Provider)), s.Version)
	if !ok || !documents.Covers(s.Provider, s.Version, p.Platform, zh) {
		return nil
	}
	return &documents
}

// document asks the source for the signed documents of an archive in the directory, if the
// directory lacks them. The archive is authenticated already, so errors are ignored.
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

// Files are the files of a mirror, in a directory or in a bucket, by slash-separated names below its root. Errors name the file.
type Files interface {
	// Read returns the content of a document, or nil if it doesn't exist.
	Read(ctx context.Context, name string) ([]byte, error)
	Write(ctx context.Context, name string, content []byte) error
	RemoveFile(ctx context.Context, name string) error
}

// PublishDocuments writes the signed documents of the version whose packages are in kept, if they are true of all archives
// that are or will be listed. A list that this run has made untrue is removed, because no client could install by it.
func PublishDocuments(ctx context.Context, to Files, p getproviders.Provider, v getproviders.Version, kept []*Kept, listed func() (map[getproviders.Platform]getproviders.Hash, error)) error {
	var signed *getproviders.SignedDocuments
	changed := false
	for _, k := range kept {
		changed = changed || !k.Present
		if signed == nil {
			signed = k.Documents
		}
	}
	if signed == nil && !changed {
		return nil
	}
	archives, err := listed()
	if err != nil {
		return err
	}
	if signed != nil && covers(*signed, p, v, archives) {
		return PutDocuments(ctx, to, p, v, *signed)
	}
	sums, err := to.Read(ctx, DocumentNames(p, v)[1])
	if err != nil || sums == nil || !changed || covers(getproviders.SignedDocuments{Sums: sums}, p, v, archives) {
		return err
	}
	return RemoveDocuments(ctx, to, p, v)
}

// covers reports whether a list has the checksums of all archives whose zh is known.
func covers(signed getproviders.SignedDocuments, p getproviders.Provider, v getproviders.Version, archives map[getproviders.Platform]getproviders.Hash) bool {
	for plat, zh := range archives {
		if zh != "" && !signed.Covers(p, v, plat, zh) {
			return false
		}
	}
	return true
}

// PutDocuments writes the documents that change. A reader never sees a signature beside
// another list than its own: the signature is removed first, and written last.
func PutDocuments(ctx context.Context, to Files, p getproviders.Provider, v getproviders.Version, signed getproviders.SignedDocuments) error {
	names, contents := DocumentNames(p, v), [][]byte{signed.EncodeKeys(), signed.Sums, signed.Signature}
	there := make([][]byte, len(names))
	for i, name := range names {
		var err error
		if there[i], err = to.Read(ctx, name); err != nil {
			return err
		}
	}
	if len(signed.Keys) == 0 && there[0] != nil && bytes.Equal(there[2], signed.Signature) {
		contents[0] = there[0] // a source whose keys are known doesn't send them
	}
	if there[2] != nil && !bytes.Equal(there[1], signed.Sums) {
		if err := to.RemoveFile(ctx, names[2]); err != nil {
			return err
		}
		there[2] = nil
	}
	for i, name := range names {
		if !bytes.Equal(there[i], contents[i]) {
			if err := to.Write(ctx, name, contents[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveDocuments removes the signature first, because clients ignore the others without it.
func RemoveDocuments(ctx context.Context, from Files, p getproviders.Provider, v getproviders.Version) error {
	var errs []error
	for _, name := range slices.Backward(DocumentNames(p, v)) {
		errs = append(errs, from.RemoveFile(ctx, name))
	}
	return errors.Join(errs...)
}

// Read implements Files. A file that can't be read counts as missing.
func (d *Dir) Read(_ context.Context, name string) ([]byte, error) {
	content, err := wholefile.Read(d.Path(name), MaxDocument)
	if err != nil {
		return nil, nil
	}
	return content, nil
}

// MaxDocument is the size in bytes up to which clients read a mirror's document.
const MaxDocument = 16 << 20

// RemoveFile implements Files.
func (d *Dir) RemoveFile(_ context.Context, name string) error {
	if err := d.Remove(name, patient.Remove); err != nil {
		return Unlisted(d.Path(name), err)
	}
	return nil
}

// Remove removes an archive or another file with os.Remove, or an unpacked package with os.RemoveAll, and the directories that become empty.
func (d *Dir) Remove(name string, by func(path string) error) error {
	err := scratch.CheckLinks(d.Root, d.Path(name)) // files behind a link that leads out of the directory stay
	if err == nil {
		err = by(d.Path(name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.Receipts.File.Remove(name)
	for at := path.Dir(name); at != "." && patient.Remove(d.Path(at)) == nil; at = path.Dir(at) {
	}
	return nil
}
