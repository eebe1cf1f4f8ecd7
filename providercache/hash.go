package providercache

import (
	"context"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// HashPackage returns the hashes of a package: of an archive, which has to keep
// the rules for packages, h1 and zh; of a directory h1, while zh is "". When ctx
// ends, the error is its cause.
func HashPackage(ctx context.Context, path string) (h1, zh getproviders.Hash, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		h1, err = getproviders.HashDir(ctx, path)
		return h1, "", err
	}
	content, zh, err := unpack.HashFile(ctx, path)
	if err != nil {
		return "", "", err
	}
	return content.H1, zh, nil
}
