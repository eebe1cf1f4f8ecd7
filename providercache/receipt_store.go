package providercache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// receipts are those of the packages in one directory, a target or a cache, by
// the names that getproviders.UnpackedPath gives them. They are in the user's
// own state directory: who can write to the packages can't write there, and
// what he changes shows.
//
// They are safe for many goroutines. Processes don't lose each other's.
type receipts struct {
	file     *stateFile
	image    string                 // the cache's directory, if the receipts are beside a cache that root owns
	canWrite func(path string) bool // of an image, by this process
	systems  map[uint64]fileSystem
	user     int             // who runs this program
	ways     map[string]bool // of a cache: which directories nobody else can write to; nil: that of a target
}

// receiptsDir is the directory below the user's state directory.
const receiptsDir = "receipts"

// usersOwn is for files of the user, which share a lock.
var usersOwn = keeper{mine: owner.IsPrivate, dirMode: 0o700, fileMode: 0o600, lock: "lock"}

// openReceipts reads the receipts for the packages below root. state is the
// user's state directory; if it is "", or not his alone, no receipts are kept.
// It needn't exist, and neither needs root.
func openReceipts(state, root string) *receipts {
	about, err := resolved(root)
	if err != nil {
		state = ""
	}
	return newReceipts(below(state, receiptsDir), receiptsName(about), about, usersOwn)
}

// receiptsName is the name of the file with the receipts for a directory.
func receiptsName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:])
}

func newReceipts(dir, name, about string, k keeper) *receipts {
	return &receipts{file: openStateFile(dir, name, about, k), systems: map[uint64]fileSystem{}, user: os.Geteuid()}
}

// below returns a directory in the state directory; "" if that one is
// somebody else's, or there is none.
func below(state, name string) string {
	if state == "" {
		return ""
	}
	if info, err := os.Stat(state); err == nil && (!info.IsDir() || !owner.IsPrivate(state, info)) {
		return ""
	}
	return filepath.Join(state, name)
}

// resolved returns the absolute path without links. The last parts of the path
// needn't exist.
func resolved(path string) (string, error) {
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

// find returns the receipt of a package, which may have changed since.
func (r *receipts) find(name string) (receipt, bool) {
	encoded, ok := r.file.get(name)
	if !ok {
		return receipt{}, false
	}
	rc, err := decodeReceipt(encoded)
	return rc, err == nil
}

// genuine returns the receipt of the package in dir if it proves that the
// package is as it was when it was hashed. It costs an lstat for the package's
// directory and for each entry; and once a statfs for each file system, and in a
// cache an lstat for each directory above.
func (r *receipts) genuine(name, dir string, now time.Time) (receipt, bool) {
	rc, ok := r.find(name)
	if !ok {
		return receipt{}, false
	}
	if r.image != "" {
		return rc, r.imageIsSame(rc.Record, name, dir)
	}
	device, ok := rc.Record.check(dir)
	if !ok || !owner.Exclusive(dir) || !r.isOwn(rc.Record.Entries, dir) || !r.vouches(rc, device, dir, now) {
		return receipt{}, false
	}
	return rc, true
}

// linked returns the receipt of a package if dir, which is somewhere else,
// consists of its very files, by hard links: one receipt serves them all. It
// lists dir's directories, because nothing is recorded of them.
func (r *receipts) linked(name, dir string, now time.Time) (receipt, bool) {
	rc, ok := r.find(name)
	if !ok || r.image != "" {
		return receipt{}, false
	}
	record, err := takeRecord(dir)
	if err != nil || !record.sameFiles(rc.Record) || !r.areOwn(record.Entries) {
		return receipt{}, false
	}
	root, err := lstat(dir)
	if err != nil || !r.vouches(rc, root.Device, dir, now) {
		return receipt{}, false
	}
	return rc, true
}

// vouches reports whether a record that is equal to what is there proves
// anything: all its times were past when it was taken, that was not in the
// future, and the file system is the same and sets the times itself.
func (r *receipts) vouches(rc receipt, device uint64, dir string, now time.Time) bool {
	system, ok := r.systemOf(device, dir)
	return ok && system.Local && system.ID == rc.Record.FileSystem &&
		!rc.Taken.After(now) && rc.Record.settled(rc.Taken, system.Granule)
}

// systemOf asks once for each device: its number doesn't change while this
// process runs.
func (r *receipts) systemOf(device uint64, dir string) (system fileSystem, ok bool) {
	r.file.locked(func() { system, ok = r.systems[device] })
	if ok {
		return system, true
	}
	system, err := fileSystemOf(dir)
	if err != nil {
		return fileSystem{}, false
	}
	r.file.locked(func() { r.systems[device] = system })
	return system, true
}

// put keeps a receipt, in memory until save.
func (r *receipts) put(name string, rc receipt) {
	if r.image != "" {
		rc.Taken, rc.Record = time.Time{}, rc.Record.forImage()
	}
	r.file.set(name, encodeReceipt(rc))
}

// drop forgets a receipt.
func (r *receipts) drop(name string) { r.file.remove(name) }

// save writes what has changed, if anything has. Without it, packages are
// hashed again the next time: the error is no failure of anything else.
func (r *receipts) save(ctx context.Context) error { return r.file.save(ctx) }

// archives remembers for archives what is in them: the h1 that belongs to a
// zh never changes, so whoever wants it for a lock file needn't get the archive
// a second time. It is safe for many goroutines and processes.
type archives struct{ file *stateFile }

// openArchives reads what is remembered in the user's state directory.
func openArchives(state string) archives {
	return archives{openStateFile(below(state, receiptsDir), "archives", "archives", usersOwn)}
}

// knownH1 returns the h1 of the files in an archive that was seen before.
func (a archives) knownH1(zh getproviders.Hash) (getproviders.Hash, bool) {
	value, ok := a.file.get(string(zh))
	h1 := getproviders.Hash(value)
	return h1, ok && h1.Scheme() == getproviders.SchemeH1
}

// rememberArchive keeps a pair, in memory until save.
func (a archives) rememberArchive(zh, h1 getproviders.Hash) {
	if known, ok := a.knownH1(zh); ok && known == h1 {
		return
	}
	if zh.Scheme() == getproviders.SchemeZH && h1.Scheme() == getproviders.SchemeH1 {
		a.file.set(string(zh), []byte(h1))
	}
}

// save is like that of receipts.
func (a archives) save(ctx context.Context) error { return a.file.save(ctx) }
