package mirror

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Destination is a place that Update fills: [Directory], [Bucket] and [Registry] return one.
type Destination interface {
	// open prepares a run: it sets the run's place, and other fields that depend on the destination.
	open(*run) error
}

// run is one call of Update.
type run struct {
	place
	tree       tree           // nil: the place has no files, so there are no documents to write and nothing to prune
	byVersions bool           // all packages of a version are published at once
	dir        archivedir.Dir // where packages are staged; a Directory's is the mirror itself
	opts       Options
	close      func()
	abandon    func() // removes what open made, if it is still empty, because the run failed
}

// temporary makes a temporary directory in which packages are staged.
func (m *run) temporary() error {
	made, err := scratch.Temporary()
	if err == nil {
		m.dir.Root, m.dir.Receipts, m.close = made.Path, receipt.OpenArchives("", made.Path), made.Remove
	}
	return err
}

// place is what one run of Update fills.
type place interface {
	// path returns the location of an archive, for people.
	path(s getproviders.Selection, name string) string
	// look reads what find needs, before find is called. An error ends the run.
	look(context.Context, []archivedir.Item) error
	// find returns what the place has of a package, for archivedir.Destination.
	find(context.Context, archivedir.Item) (archivedir.Claim, error)
	// Put is the method of archivedir.Destination.
	Put(context.Context, []archivedir.Kept) error
}

// tree is a place with files: documents list the archives, and files can be
// removed. All names and keys are slash-separated paths below its root.
type tree interface {
	// providers returns the providers that publish has to be called for, besides those of wanted packages.
	providers(ctx context.Context, prune bool) ([]getproviders.Provider, error)
	// publish writes the documents of a provider; kept are its wanted packages.
	publish(ctx context.Context, p getproviders.Provider, kept []*archivedir.Kept, prune bool) published
	// unlist removes all other archives and versions from the documents.
	unlist(ctx context.Context, p getproviders.Provider, names map[string]bool, versions map[getproviders.Version]bool) error
	// list returns a provider's files by name.
	list(context.Context, getproviders.Provider) (map[string]blob.Info, error)
	RemoveFile(ctx context.Context, name string) error
}
