package mirror

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Destination is where packages are put for others: [Directory], [Bucket] and [Registry] return one.
type Destination interface {
	// open begins a run: it sets the run's place, and what else depends on the destination.
	open(*run) error
}

// run is one call of Update.
type run struct {
	place
	tree       tree           // nil: the place has no files, so that there are no documents to write and nothing to prune
	byVersions bool           // all packages of a version are put at once
	dir        archivedir.Dir // where packages are staged; a Directory's is the mirror itself
	opts       Options
	close      func()
}

// temporary has packages staged in a temporary directory.
func (m *run) temporary() error {
	made, err := scratch.Temporary()
	if err == nil {
		m.dir.Root, m.dir.Receipts, m.close = made.Path, receipt.OpenArchives("", made.Path), made.Remove
	}
	return err
}

// place is what Update fills.
type place interface {
	// path is where an archive is, for people.
	path(s getproviders.Selection, name string) string
	// look reads what find needs. An error ends the run.
	look(context.Context, []archivedir.Item) error
	// find returns what the place says of a package, as an archivedir.Destination.
	find(context.Context, archivedir.Item) (archivedir.Claim, error)
	// Put is that of an archivedir.Destination.
	Put(context.Context, []archivedir.Kept) error
}

// tree is a place with files: documents list the archives, and what isn't wanted can be removed. All names and keys are
// slash-separated paths below its root.
type tree interface {
	// providers finds those that publish has to be called for, even if none of their packages is wanted.
	providers(ctx context.Context, prune bool) ([]getproviders.Provider, error)
	// publish writes the documents of a provider, of whose packages these are wanted.
	publish(ctx context.Context, p getproviders.Provider, kept []*archivedir.Kept, prune bool) published
	// unlist takes all but these archives and versions out of the documents.
	unlist(ctx context.Context, p getproviders.Provider, names map[string]bool, versions map[getproviders.Version]bool) error
	// list returns the files of a provider, by their names.
	list(context.Context, getproviders.Provider) (map[string]blob.Info, error)
	RemoveFile(ctx context.Context, name string) error
}
