package providercache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/chunks"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// archiveSum is the checksum that a zh hash stands for.
func archiveSum(zh getproviders.Hash) (sum [sha256.Size]byte, ok bool) {
	decoded, err := hex.DecodeString(strings.TrimPrefix(string(zh), getproviders.SchemeZH+":"))
	if zh.Scheme() != getproviders.SchemeZH || err != nil || len(decoded) != len(sum) {
		return sum, false
	}
	return [sha256.Size]byte(decoded), true
}

// find finds out what an archive of the mirror is, by its receipt or by reading
// it. The error matches fs.ErrNotExist if it isn't there.
func (d *archiveDir) find(ctx context.Context, p getproviders.Provider, name string) (receipt.Pending, error) {
	path := d.path(name)
	found := receipt.Pending{Name: name, Dir: path, Archive: true}
	if rc, ok := d.receipts.Known(name, path, d.fetcher.Time()); ok && !d.fetcher.Verify {
		found.Receipt = rc
		return found, nil
	}
	if _, err := os.Stat(path); err != nil {
		return receipt.Pending{}, err
	}
	began := d.fetcher.Time()
	record, _ := receipt.RecordArchive(path)
	record.ReadFrom = began
	got, err := d.readArchive(ctx, p, path)
	if err != nil {
		return receipt.Pending{}, err
	}
	found.Receipt = got.Receipt(record)
	return found, nil
}

// readArchive hashes an archive, which has to be a package of the provider.
func (d *archiveDir) readArchive(ctx context.Context, p getproviders.Provider, path string) (receipt.Provenance, error) {
	from, err := download.OpenFile(path)
	if err != nil {
		return receipt.Provenance{}, err
	}
	defer from.Close()
	sum, limits := sha256.New(), d.fetcher.Limits.Unpack()
	size, err := chunks.Copy(ctx, sum, from, make([]byte, chunks.Size))
	if err != nil {
		return receipt.Provenance{}, err
	}
	whole, err := unpack.Open(path, size, nil, p, limits)
	if err != nil {
		return receipt.Provenance{}, err
	}
	defer whole.Close()
	content, err := d.fetcher.UnpackAfterwards(ctx, whole, size, "")
	if err != nil {
		return receipt.Provenance{}, err
	}
	return receipt.Provenance{
		H1: content.H1, H1Archive: content.OtherH1(), ZH: getproviders.ZH([sha256.Size]byte(sum.Sum(nil))), ArchiveBytes: size,
	}, nil
}

// remember gives receipts to the archives of the mirror, so that the next run
// reads none.
func (d *archiveDir) remember(ctx context.Context, all []receipt.Pending) {
	var told []receipt.Pending
	for _, p := range all {
		if p.Receipt.Taken.IsZero() && len(p.Receipt.Record.Entries) > 0 {
			told = append(told, p)
		}
	}
	if len(told) > 0 {
		d.receipts.Record(ctx, d.fetcher.Time, told...)
	}
	_ = d.receipts.Save(ctx)
}
