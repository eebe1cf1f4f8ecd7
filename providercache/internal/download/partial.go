package download

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

const (
	// PartialDir is the directory of a cache for incomplete archives, named by their checksums.
	PartialDir = "partial"
	// partialsAfter is how long they are kept for a later run.
	partialsAfter = 24 * time.Hour
)

// partialFile is the file that an archive is downloaded to; nil: the archive is only hashed.
type partialFile struct {
	*os.File
	kept bool // it stays for a later run; else it is removed with its staging directory
}

// openTarget opens the file for an archive: the partial file in the cache, if the archive's
// checksum is known and no other process holds its file lock; else a new one at path. Partial files
// are written where later runs look for them, because a killed process can't move them there.
func openTarget(r Request) (*partialFile, error) {
	if r.Known && r.PartialDir != "" && IsRemote(r.Location) {
		if file, err := openPartial(r.PartialDir, r.Expected); err == nil {
			return &partialFile{file, true}, nil
		}
	}
	file, err := os.OpenFile(r.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return &partialFile{file, false}, err
}

// keep closes an incomplete file, and removes it unless it is worthwhile for a
// later run to download the rest. It returns how many bytes are kept.
func (l *partialFile) keep(worthwhile bool) (kept int64) {
	if l == nil {
		return 0
	}
	info, err := l.Stat()
	if err != nil || !worthwhile || info.Size() == 0 {
		l.discard()
		return 0
	}
	if l.kept {
		kept = info.Size()
	}
	l.Close()
	return kept
}

// discard removes the file from the cache and then closes it, in this order because only
// the holder of its file lock may remove it. If a locked file can't be removed, it is
// closed first; then it stays if another process has opened it meanwhile.
func (l *partialFile) discard() {
	if l == nil {
		return
	}
	if l.kept && filelock.Removable {
		_ = patient.Remove(l.Name())
	}
	l.Close()
	if l.kept && !filelock.Removable {
		_ = patient.Remove(l.Name())
	}
	if l.kept {
		_ = patient.Remove(filepath.Dir(l.Name())) // if it was the last one
	}
}

// openPartial opens or makes the file for an archive, and takes its file lock.
func openPartial(dir string, sum [sha256.Size]byte) (file *os.File, err error) {
	for range staging.Attempts {
		if _, err := scratch.MakeDirs(dir); err != nil {
			return nil, err
		}
		file, err = lockPartial(filepath.Join(dir, hex.EncodeToString(sum[:])), os.O_CREATE)
		if !errors.Is(err, fs.ErrNotExist) { // else another process removed it during the open
			break
		}
	}
	return file, err
}

// errNotPrivate says that other users can write to the file.
var errNotPrivate = errors.New("the file isn't the user's alone")

// lockPartial opens a file and takes its file lock, unless another process holds
// it. The lock is on the file itself, so it ends with the process, and only its
// holder removes the file. The file is hashed and read again later, so no other
// user may be able to write to it. With an error, the file is closed.
func lockPartial(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|owner.OpenPlain|flags, 0o600)
	if err == nil {
		err = checkPartial(file, path)
	}
	if err != nil {
		file.Close()
	}
	return file, err
}

// checkPartial locks an open file, and checks that it is still the
// one at its path. The error is fs.ErrNotExist if it isn't.
func checkPartial(file *os.File, path string) error {
	if err := filelock.TryFile(file); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !os.SameFile(info, there):
		return fs.ErrNotExist
	case !info.Mode().IsRegular() || !owner.IsSecret(path, info):
		return errNotPrivate
	}
	return nil
}

// SweepPartials removes old incomplete archives that no run has resumed.
func SweepPartials(dir string, now time.Time) {
	if dir == "" {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || !isChecksum(entry.Name()) || now.Sub(info.ModTime()) < partialsAfter {
			continue
		}
		if file, err := lockPartial(filepath.Join(dir, entry.Name()), 0); err == nil {
			(&partialFile{file, true}).discard()
		}
	}
}

func isChecksum(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == sha256.Size
}
