package fetch

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

// keptPath returns the path of a remote package's archive in ArchiveDir. ok is false
// if its checksum isn't known beforehand, because such archives aren't kept.
func (f *Fetcher) keptPath(t Request) (path string, ok bool) {
	sum, known := t.Expected()
	if f.ArchiveDir == "" || !known || !download.IsRemote(t.Package.Location) {
		return "", false
	}
	return filepath.Join(f.ArchiveDir, hex.EncodeToString(sum[:])), true
}

// fromKept is downloadAndUnpack from the archive in ArchiveDir. ok is false if
// the archive isn't there, or was changed; a changed one is removed.
func (f *Fetcher) fromKept(ctx context.Context, t Request, path, dir string) (got receipt.Provenance, ok bool, err error) {
	kept, ok := f.keptPath(t)
	if !ok {
		return got, false, nil
	}
	if info, err := os.Lstat(kept); err != nil || !info.Mode().IsRegular() {
		return got, false, nil
	}
	t.Package.Location = getproviders.LocalArchive(kept)
	got, err = f.downloadAndUnpack(ctx, t, path, dir)
	if err == nil || ctx.Err() != nil || isKept(ctx, kept, t) {
		return got, true, err
	}
	_ = patient.Remove(kept)
	err = patient.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if dir != "" {
		err = errors.Join(err, patient.RemoveAll(dir))
	}
	if err != nil {
		return got, true, t.Failed(during.Fetch, err)
	}
	return got, false, nil
}

// isKept reports whether a kept file still has its checksum.
func isKept(ctx context.Context, kept string, t Request) bool {
	file, err := os.Open(kept)
	if err != nil {
		return false
	}
	defer file.Close()
	sum, _, err := chunks.SHA256(ctx, file)
	expected, _ := t.Expected()
	return err == nil && sum == expected
}

// keep links or copies an authenticated archive into ArchiveDir.
// Errors are ignored: they only cost a download later.
func (f *Fetcher) keep(ctx context.Context, t Request, from string) {
	kept, ok := f.keptPath(t)
	if !ok {
		return
	}
	if os.Link(from, kept) == nil {
		return
	}
	if _, err := os.Lstat(kept); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	stage, err := staging.New(f.ArchiveDir)
	if err != nil {
		return
	}
	defer stage.Remove()
	if os.Link(from, kept) == nil || copyFile(ctx, from, stage.ArchivePath()) != nil {
		return
	}
	_ = patient.Rename(stage.ArchivePath(), kept)
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = chunks.Copy(ctx, out, in, make([]byte, chunks.Size))
	return errors.Join(err, out.Close())
}
