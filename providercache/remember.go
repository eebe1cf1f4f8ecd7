package providercache

import (
	"context"

	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// rememberArchives keeps what installed packages tell of their archives, so that
// a lock file for this platform costs no second download.
func rememberArchives(ctx context.Context, f *fetcher.Fetcher, outcomes []Outcome) {
	if f.EffectiveStateDir() == "" {
		return
	}
	known := receipt.OpenContents(f.EffectiveStateDir())
	for _, o := range outcomes {
		if o.Err == nil && o.placed.Receipt.ZH != "" {
			known.RememberArchive(o.placed.Receipt.ZH, o.H1)
		}
	}
	_ = known.Save(ctx)
}
