package providercache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/chunks"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// mirrorReceipts are the receipts for the archives of a mirror. They are beside
// those for directories: nobody installs from them, so they use nothing.
type mirrorReceipts struct{ *receipts }

// mirrorsDir is the directory below the user's state directory.
const mirrorsDir = "mirrors"

func openMirrorReceipts(state, root string) mirrorReceipts {
	about, err := resolved(root)
	if err != nil {
		state = ""
	}
	return mirrorReceipts{newReceipts(below(state, mirrorsDir), receiptsName(about), about, usersOwn)}
}

// recordArchive is takeRecord for an archive. A link is none.
func recordArchive(path string) (statRecord, error) {
	system, err := fileSystemOf(path)
	if err != nil {
		return statRecord{}, err
	}
	stat, err := lstat(path)
	switch {
	case err != nil:
		return statRecord{}, err
	case !system.Local || !owner.Exclusive(path) || !stat.Mode.IsRegular():
		return statRecord{}, fmt.Errorf("%s: %w", path, errNotRecordable)
	}
	stat.Name = "."
	return statRecord{FileSystem: system.ID, Entries: []statEntry{stat.statEntry}}, nil
}

// archiveH1 is the h1 by which the real tools know the archive.
func (r receipt) archiveH1() getproviders.Hash { return cmp.Or(r.H1Archive, r.H1) }

// has reports whether a hash is one of the archive's.
func (r receipt) has(h getproviders.Hash) bool { return h == r.ZH || h == r.H1 || h == r.archiveH1() }

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
func (m *mirror) find(ctx context.Context, p getproviders.Provider, name string) (published, error) {
	path := m.path(name)
	found := published{Name: name, Dir: path, Archive: true}
	if rc, ok := m.archives.genuine(name, path, m.fetcher.now()); ok && !m.fetcher.Verify {
		found.Receipt = rc
		return found, nil
	}
	if _, err := os.Stat(path); err != nil {
		return published{}, err
	}
	began := m.fetcher.now()
	record, _ := recordArchive(path)
	record.readFrom = began
	got, err := m.readArchive(ctx, p, path)
	if err != nil {
		return published{}, err
	}
	found.Receipt = got.receipt(record)
	return found, nil
}

// readArchive hashes an archive, which has to be a package of the provider.
func (m *mirror) readArchive(ctx context.Context, p getproviders.Provider, path string) (genuine, error) {
	from, err := download.OpenFile(path)
	if err != nil {
		return genuine{}, err
	}
	defer from.Close()
	sum, limits := sha256.New(), m.fetcher.Limits.unpack()
	size, err := chunks.Copy(ctx, sum, from, make([]byte, chunks.Size))
	if err != nil {
		return genuine{}, err
	}
	whole, err := unpack.Open(path, size, nil, p, limits)
	if err != nil {
		return genuine{}, err
	}
	defer whole.Close()
	content, err := m.fetcher.unpackAfterwards(ctx, whole, size, "")
	if err != nil {
		return genuine{}, err
	}
	return genuine{
		H1: content.H1, H1Archive: content.OtherH1(), ZH: getproviders.ZH([sha256.Size]byte(sum.Sum(nil))), ArchiveBytes: size,
	}, nil
}

// remember gives receipts to the archives of the mirror, so that the next run
// reads none.
func (m *mirror) remember(ctx context.Context, all []published) {
	var told []published
	for _, p := range all {
		if p.Receipt.Taken.IsZero() && len(p.Receipt.Record.Entries) > 0 {
			told = append(told, p)
		}
	}
	if len(told) > 0 {
		m.archives.settle(ctx, m.fetcher.now, told...)
	}
	_ = m.archives.save(ctx)
}
