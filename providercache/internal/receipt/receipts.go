package receipt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// Receipts are those of the packages in one directory, a target or a cache, by the names of
// layout.UnpackedPath. They are in the user's state directory: other users who can write to
// the packages can't write there, so changes of the packages are detected.
//
// They are safe for concurrent use. Processes don't overwrite each other's receipts.
type Receipts struct {
	File     *statefile.File        // where they are stored
	image    string                 // the cache's directory, if the receipts are beside a cache that root owns
	canWrite func(path string) bool // whether this process can write to a path of an image
	systems  map[uint64]fileSystem
	User     int        // the user ID of this process
	ways     owner.Ways // of a cache: directories that no other user can write to; nil for a target

	// StrictTimes makes a receipt count only if the ctime of each file is the recorded
	// one, even in a cache; moved.go says what counts without it. Set it before use.
	StrictTimes bool
}

// receiptsDir is the directory below the user's state directory.
const receiptsDir = "receipts"

// UsersOwn describes files of the user, which share a file lock.
var UsersOwn = statefile.Owner{Trusted: owner.IsPrivate, DirMode: 0o700, FileMode: 0o600, Lock: "lock"}

// Open reads the receipts for the packages below root. state is the user's state directory; if it is
// "", or other users can write to it, receipts aren't kept. Neither directory needs to exist.
func Open(state, root string) *Receipts {
	return newReceipts(OpenState(state, receiptsDir, root))
}

// OpenState opens the file of a kind for a directory, below the user's state directory.
func OpenState(state, kind, root string) *statefile.File {
	about, err := Resolved(root)
	if err != nil {
		state = ""
	}
	return statefile.Open(Below(state, kind), ReceiptsName(about), about, UsersOwn)
}

// ReceiptsName returns the name of the file with the receipts for a directory.
func ReceiptsName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:])
}

func newReceipts(file *statefile.File) *Receipts {
	return &Receipts{File: file, systems: map[uint64]fileSystem{}, User: os.Geteuid()}
}

// Below returns a directory in the state directory, or "" if state
// is "" or other users can write to it.
func Below(state, name string) string {
	if state == "" {
		return ""
	}
	if info, err := os.Stat(state); err == nil && (!info.IsDir() || !owner.IsPrivate(state, info)) {
		return ""
	}
	return filepath.Join(state, name)
}

// Resolved returns the absolute path without links. The last parts of the path need not exist.
func Resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if filepath.Dir(at) == at {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// Find returns the receipt of a package, which may have changed
// since. A nil *Receipts has no receipts.
func (r *Receipts) Find(name string) (rc Receipt, ok bool) {
	if r == nil {
		return rc, false
	}
	encoded, ok := r.File.Get(name)
	if !ok {
		return rc, false
	}
	rc, err := decodeReceipt(encoded)
	return rc, err == nil
}

// Known returns the receipt of the package in dir if it proves that the package hasn't changed
// since it was hashed. It costs one lstat for the package's directory and for each entry, one
// statfs for each file system, and in a cache one lstat for each directory above.
func (r *Receipts) Known(name, dir string, now time.Time) (Receipt, bool) {
	rc, ok := r.Find(name)
	if !ok {
		return Receipt{}, false
	}
	if r.image != "" {
		return rc, r.imageIsSame(rc.Record, name, dir)
	}
	rc.seen, ok = rc.Record.check(dir, r.ways != nil && !r.StrictTimes)
	if !ok || !owner.Exclusive(dir) || !r.IsOwn(rc.Record.Entries, dir) || !r.proves(rc, rc.seen[0].Device, dir, now) {
		return Receipt{}, false
	}
	return rc, true
}

// proves reports whether a matching record is proof: all its times were in the past when it was
// taken, which wasn't in the future, and the file system is the same and sets the times itself.
func (r *Receipts) proves(rc Receipt, device uint64, dir string, now time.Time) bool {
	system, ok := r.systemOf(device, dir)
	return ok && system.Local && system.ID == rc.Record.FileSystem &&
		!rc.Taken.After(now) && rc.Record.settled(rc.Taken, system.Granule, r.ctimesCount(rc.Record.Entries))
}

// systemOf returns the file system of a device, and asks for it once:
// a device's number doesn't change while this process runs.
func (r *Receipts) systemOf(device uint64, dir string) (system fileSystem, ok bool) {
	r.File.Locked(func() {
		if system, ok = r.systems[device]; ok {
			return
		}
		var err error
		if system, err = fileSystemOf(dir); err == nil {
			r.systems[device], ok = system, true
		}
	})
	return system, ok
}

// Names returns the names of all packages with receipts, sorted.
func (r *Receipts) Names() []string {
	if r == nil {
		return nil
	}
	return r.File.Keys()
}

// Exclude waits until no other process writes to the directory of these
// receipts, as far as file locks work. done lets others continue.
func (r *Receipts) Exclude(ctx context.Context) (done func()) {
	if r.File.Dir == "" || r.File.MakeDir() != nil {
		return func() {}
	}
	return statefile.LockState(ctx, filepath.Join(r.File.Dir, r.File.Name+".lock"))
}

// Put keeps a receipt, in memory until Save.
func (r *Receipts) Put(name string, rc Receipt) {
	if r.image != "" {
		rc.Taken, rc.Record = time.Time{}, rc.Record.forImage()
	}
	r.File.Set(name, encodeReceipt(rc))
}
