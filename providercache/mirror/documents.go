package mirror

import (
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
)

// writeDocuments puts what is signed about the versions beside their archives,
// before an index tells of these. A list that isn't true of every archive of its
// version would keep people from installing, so there is none then; one that
// became untrue by what this run did is removed.
func (m *mirror) writeDocuments(shelf archivedir.Listing, kept map[string]*archivedir.Kept) (errs []error) {
	for _, v := range shelf.SortedVersions() {
		documents, changed := shelf.Documents(v, kept)
		var err error
		switch {
		case documents != nil && shelf.Covered(v, *documents):
			err = m.dir.ReplaceDocuments(shelf.Provider, v, *documents)
		case changed:
			there, ok := getproviders.ReadSignedDocuments(m.dir.Path(archivedir.MirrorDir(shelf.Provider)), shelf.Provider, v)
			if ok && !shelf.Covered(v, there) {
				err = m.dir.RemoveDocuments(shelf.Provider, v)
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
