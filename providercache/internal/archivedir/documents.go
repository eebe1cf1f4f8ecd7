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

// DocumentNames are the files of a version, below the directory, in the order in which they are
// written: the signature announces the others.
func DocumentNames(p getproviders.Provider, v getproviders.Version) []string {
	dir := MirrorDir(p) + "/"
	return []string{dir + layout.KeysName(p, v), dir + layout.ChecksumsName(p, v), dir + layout.SignatureName(p, v)}
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

// Files are those of a mirror, in a directory or in a bucket, by slash-separated names below its root. Errors say which file they are about.
type Files interface {
	// Read returns the content of a document; nil: it isn't there.
	Read(ctx context.Context, name string) ([]byte, error)
	Write(ctx context.Context, name string, content []byte) error
	RemoveFile(ctx context.Context, name string) error
}

// PublishDocuments writes what is signed about a version, whose packages are kept, if it is true of all archives that are or will be
// listed. A list that this run has made untrue is removed, as it would keep people from installing.
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

// covers reports whether a list is true of all archives whose zh is known.
func covers(signed getproviders.SignedDocuments, p getproviders.Provider, v getproviders.Version, archives map[getproviders.Platform]getproviders.Hash) bool {
	for plat, zh := range archives {
		if zh != "" && !signed.Covers(p, v, plat, zh) {
			return false
		}
	}
	return true
}

// PutDocuments writes the documents that change. A reader never sees a signature
// beside another signature's list: the signature goes first, and comes last.
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
		contents[0] = there[0] // a source that knows the keys already doesn't bring them
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

// RemoveDocuments removes the signature first, without which the others are none.
func RemoveDocuments(ctx context.Context, from Files, p getproviders.Provider, v getproviders.Version) error {
	var errs []error
	for _, name := range slices.Backward(DocumentNames(p, v)) {
		errs = append(errs, from.RemoveFile(ctx, name))
	}
	return errors.Join(errs...)
}

// Read implements Files. What can't be read is as good as none.
func (d *Dir) Read(_ context.Context, name string) ([]byte, error) {
	content, err := wholefile.Read(d.Path(name), MaxDocument)
	if err != nil {
		return nil, nil
	}
	return content, nil
}

// MaxDocument is what clients read of a mirror's document.
const MaxDocument = 16 << 20

// RemoveFile implements Files.
func (d *Dir) RemoveFile(_ context.Context, name string) error {
	if err := d.Remove(name, patient.Remove); err != nil {
		return Unlisted(d.Path(name), err)
	}
	return nil
}

// Remove removes an archive or another file with os.Remove, or an unpacked package with os.RemoveAll, and
// the directories that are empty then.
func (d *Dir) Remove(name string, by func(path string) error) error {
	err := scratch.CheckLinks(d.Root, d.Path(name)) // what is reached by a link out of the directory stays
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
