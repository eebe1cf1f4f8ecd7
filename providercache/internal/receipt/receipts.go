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

// Receipts are those of the packages in one directory, a target or a cache, by
// the names that layout.UnpackedPath gives them. They are in the user's
// own state directory: a user who can write to the packages can't write
// there, and changes of the packages are detected.
//
// They are safe for many goroutines. Processes don't lose each other's.
type Receipts struct {
	File     *statefile.File        // that keeps them
	image    string                 // the cache's directory, if the receipts are beside a cache that root owns
	canWrite func(path string) bool // of an image, by this process
	systems  map[uint64]fileSystem
	User     int        // who runs this program
	ways     owner.Ways // of a cache: which directories no other user can write to; nil: that of a target

	// StrictTimes lets a receipt count only if the ctime of each file is what it
	// records, in a cache, too; moved.go says what it is without. Set it before use.
	StrictTimes bool
}

// receiptsDir is the directory below the user's state directory.
const receiptsDir = "receipts"

// UsersOwn is for files of the user, which share a file lock.
var UsersOwn = statefile.Owner{Trusted: owner.IsPrivate, DirMode: 0o700, FileMode: 0o600, Lock: "lock"}

// Open reads the receipts for the packages below root. state is the user's state
// directory; if it is "", or other users can write to it, no receipts are kept.
// Neither directory needs to exist.
func Open(state, root string) *Receipts {
	return newReceipts(OpenState(state, receiptsDir, root))
}

// OpenState opens the file of a kind that is about a directory, below the user's state directory.
func OpenState(state, kind, root string) *statefile.File {
	about, err := Resolved(root)
	if err != nil {
		state = ""
	}
	return statefile.Open(Below(state, kind), ReceiptsName(about), about, UsersOwn)
}

// ReceiptsName is the name of the file with the receipts for a directory.
func ReceiptsName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:])
}

func newReceipts(file *statefile.File) *Receipts {
	return &Receipts{File: file, systems: map[uint64]fileSystem{}, User: os.Geteuid()}
}

// Below returns a directory in the state directory; "" if that one is
// another user's, or there is none.
func Below(state, name string) string {
	if state == "" {
		return ""
	}
	if info, err := os.Stat(state); err == nil && (!info.IsDir() || !owner.IsPrivate(state, info)) {
		return ""
	}
	return filepath.Join(state, name)
}

// Resolved returns the absolute path without links. The last parts of the path
// needn't exist.
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

// Find returns the receipt of a package, which may have changed since. Of nil receipts there is none.
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

// Known returns the receipt of the package in dir if it proves that the
// package is as it was when it was hashed. It costs an lstat for the package's
// directory and for each entry, one statfs for each file system, and in a cache an
// lstat for each directory above.
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

// proves reports whether a record that agrees with what is there proves
// anything: its times were past when it was taken, that was not in the
// future, and the file system is the same and sets the times itself.
func (r *Receipts) proves(rc Receipt, device uint64, dir string, now time.Time) bool {
	system, ok := r.systemOf(device, dir)
	return ok && system.Local && system.ID == rc.Record.FileSystem &&
		!rc.Taken.After(now) && rc.Record.settled(rc.Taken, system.Granule, r.ctimesCount(rc.Record.Entries))
}

// systemOf asks once for each device: its number doesn't change while this
// process runs.
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

// Names are those of the packages that there are receipts for, sorted.
func (r *Receipts) Names() []string {
	if r == nil {
		return nil
	}
	return r.File.Keys()
}

// Exclude waits until no other process writes what these receipts are about, as far
// as file locks work, and returns what lets others go on.
func (r *Receipts) Exclude(ctx context.Context) (done func()) {
	if r.File.Dir == "" || r.File.MakeDir() != nil {
		return func() {}
	}
	return statefile.LockState(ctx, filepath.Join(r.File.Dir, r.File.Name+".lock"))
}

// Put keeps a receipt, in memory until save.
func (r *Receipts) Put(name string, rc Receipt) {
	if r.image != "" {
		rc.Taken, rc.Record = time.Time{}, rc.Record.forImage()
	}
	r.File.Set(name, encodeReceipt(rc))
}
