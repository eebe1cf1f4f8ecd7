package lockhashes

import (
	"context"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
)

// archiveSize finds out how large an archive is; -1 if it is a directory, or its size
// isn't known.
func archiveSize(ctx context.Context, f *fetcher.Fetcher, at getproviders.Location, ask bool) (int64, error) {
	switch at := at.(type) {
	case getproviders.LocalArchive:
		info, err := os.Stat(string(at))
		if err != nil {
			return -1, err
		}
		return info.Size(), nil
	case getproviders.HTTPArchive:
		if ask {
			return download.AskSize(ctx, f.HTTPClient(), at)
		}
	case getproviders.Archive:
		if ask {
			return download.OpenedSize(ctx, at)
		}
	}
	return -1, nil
}
