package receipt

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// RememberListed is RememberArchive for an archive whose source lists only an h1, which
// may count its directories.
func (a Contents) RememberListed(listed, h1 getproviders.Hash) {
	if known, ok := a.KnownH1(listed); !ok || known != h1 {
		a.file.Set(string(listed), []byte(h1))
	}
}

// Contents records what archives contain: the h1 that belongs to a zh never changes,
// so that lock files can be made without downloading the archive a second time. It
// is safe for many goroutines and processes.
type Contents struct{ file *statefile.File }

// KnownH1 returns the h1 of the files in an archive that was seen before.
func (a Contents) KnownH1(zh getproviders.Hash) (getproviders.Hash, bool) {
	value, ok := a.file.Get(string(zh))
	h1 := getproviders.Hash(value)
	return h1, ok && h1.Scheme() == getproviders.SchemeH1
}

// RememberArchive records a pair, in memory until Save.
func (a Contents) RememberArchive(zh, h1 getproviders.Hash) {
	if known, ok := a.KnownH1(zh); ok && known == h1 {
		return
	}
	if zh.Scheme() == getproviders.SchemeZH && h1.Scheme() == getproviders.SchemeH1 {
		a.file.Set(string(zh), []byte(h1))
	}
}

// Save is like that of receipts.
func (a Contents) Save(ctx context.Context) error { return a.file.Save(ctx) }

// OpenContents reads what is recorded in the user's state directory.
func OpenContents(state string) Contents {
	return Contents{statefile.Open(Below(state, receiptsDir), "archives", "archives", UsersOwn)}
}
