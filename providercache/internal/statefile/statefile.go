// Package statefile keeps keys and values in a file that all processes of a user add
// to, such as the receipts for a directory of packages.
//
//	f := statefile.Open(dir, name, about, owner)
//	value, ok := f.Get(key)
//	f.Set(key, value)
//	err := f.Save(ctx)
//
// The file is read once, by Open. Save merges the changes into what other processes have written
// meanwhile, and replaces the file as a whole. A file that is damaged, or that other users could
// write to, counts as empty: values may only save time, and must not be needed for correct results.
package statefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

const (
	// StateFormat is the first word of each file; its number changes with the format.
	StateFormat = "tfdeps-state 1"
	// MaxStateBytes is enough for the receipts of some thousand packages.
	MaxStateBytes = 16 << 20
	// stateWait bounds the wait for the file lock, which is held for milliseconds.
	// Without the lock, what another process adds may be lost.
	stateWait = 30 * time.Second
)

var statePoll = filelock.Poll{First: time.Millisecond, Last: 10 * time.Millisecond, Limit: stateWait}

// File is a file of keys and values that all processes of a user add to. It is
// read and replaced as a whole. A file that is damaged, or that another user
// can write to, counts as empty. It is safe for concurrent use.
type File struct {
	Dir, Name string // Dir "": nothing is kept
	about     string // what the keys are about; a file about something else counts as empty
	owner     Owner
	gate      *par.Limit // held while the maps are used
	Read      map[string][]byte
	changes   map[string][]byte // nil: removed
}

// Owner says which files are trusted, and with which modes new ones are made.
type Owner struct {
	Trusted  func(path string, info os.FileInfo) bool
	DirMode  os.FileMode
	FileMode os.FileMode
	Lock     string // the name of the file that writers lock; "": there is only one writer
}

// Open reads the file name in dir, which needn't exist. about says what the
// keys are about: a file about something else counts as empty.
func Open(dir, name, about string, k Owner) *File {
	f := &File{Dir: dir, Name: name, about: about, owner: k, gate: par.NewLimit(1), changes: map[string][]byte{}}
	if dir == "" {
		return f
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !k.Trusted(dir, info) {
		return f
	}
	f.Read = f.load()
	return f
}

// Beside opens the file with the same name and about in the sibling directory kind.
func (f *File) Beside(kind string) *File {
	dir := f.Dir
	if dir != "" {
		dir = filepath.Join(filepath.Dir(dir), kind)
	}
	return Open(dir, f.Name, f.about, f.owner)
}

// Locked calls do while no other goroutine uses the maps.
func (f *File) Locked(do func()) {
	leave, err := f.gate.Acquire(context.Background(), 0)
	if err != nil { // impossible: the background context never ends
		return
	}
	defer leave()
	do()
}

// Get returns the value of a key.
func (f *File) Get(key string) (value []byte, ok bool) {
	f.Locked(func() {
		var changed bool
		if value, changed = f.changes[key]; !changed {
			value = f.Read[key]
		}
	})
	return value, value != nil
}

// Keys returns the keys in order.
func (f *File) Keys() (all []string) {
	f.Locked(func() { all = slices.Sorted(maps.Keys(f.merge(f.Read))) })
	return all
}

// Set keeps a value. It ignores keys and values that don't fit into a line.
func (f *File) Set(key string, value []byte) {
	if f.Dir == "" || key == "" || len(value) == 0 || bytes.ContainsAny([]byte(key), "\t\n") || bytes.ContainsRune(value, '\n') {
		return
	}
	f.Locked(func() { f.changes[key] = value })
}

// Remove removes a key.
func (f *File) Remove(key string) {
	if _, ok := f.Get(key); ok {
		f.Locked(func() { f.changes[key] = nil })
	}
}

// load returns the content of the file, or nil if it isn't valid or is about something else.
func (f *File) load() map[string][]byte {
	content, err := ReadOwn(filepath.Join(f.Dir, f.Name), f.owner.Trusted)
	if err != nil {
		return nil
	}
	about, entries, err := DecodeState(content)
	if err != nil || about != f.about {
		return nil
	}
	return entries
}

// Save merges the changes into the file, which other processes may
// have written meanwhile. Without changes it does nothing.
func (f *File) Save(ctx context.Context) (err error) {
	f.Locked(func() {
		if f.Dir == "" || len(f.changes) == 0 {
			return
		}
		if err = f.MakeDir(); err != nil {
			return
		}
		if f.owner.Lock != "" {
			defer LockState(ctx, filepath.Join(f.Dir, f.owner.Lock))()
		}
		if err = ctx.Err(); err != nil {
			err = context.Cause(ctx)
			return
		}
		merged := f.merge(f.load())
		if err = f.write(merged); err == nil {
			f.Read, f.changes = merged, map[string][]byte{}
		}
	})
	return err
}

func (f *File) merge(current map[string][]byte) map[string][]byte {
	merged := make(map[string][]byte, len(current)+len(f.changes))
	maps.Copy(merged, current)
	maps.Copy(merged, f.changes)
	maps.DeleteFunc(merged, func(_ string, value []byte) bool { return value == nil })
	return merged
}

// MakeDir makes the directory and its parent, with the owner's mode whatever
// the umask: a directory that a group can write to isn't trusted.
func (f *File) MakeDir() error {
	parent := filepath.Dir(f.Dir)
	if _, err := scratch.MakeDirs(filepath.Dir(parent)); err != nil {
		return err
	}
	for _, dir := range []string{parent, f.Dir} {
		err := os.Mkdir(dir, f.owner.DirMode)
		if err == nil {
			err = owner.Chmod(dir, f.owner.DirMode)
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	info, err := os.Stat(f.Dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !f.owner.Trusted(f.Dir, info) {
		return fmt.Errorf("%s is not a directory that only its user can write to", f.Dir)
	}
	return nil
}

// write replaces the file. If it would become too large, only the changes of this
// process are kept.
func (f *File) write(merged map[string][]byte) error {
	content := EncodeState(f.about, merged)
	if len(content) > MaxStateBytes {
		content = EncodeState(f.about, f.merge(nil))
	}
	if len(content) > MaxStateBytes {
		return fmt.Errorf("there is more to remember than fits into %s", filepath.Join(f.Dir, f.Name))
	}
	return wholefile.Write(filepath.Join(f.Dir, f.Name), content, f.owner.FileMode)
}

// LockState waits for a file lock and returns a function that releases it. If the file
// system has no file locks, or the wait takes too long, it returns without the lock.
func LockState(ctx context.Context, path string) (unlock func()) {
	ctx, cancel := context.WithTimeout(ctx, stateWait)
	defer cancel()
	held, _ := filelock.Wait(ctx, path, statePoll) // working without the lock is no error
	return func() { held.Close() }
}

// EncodeState writes a header and a line for each key in order. The header has a
// checksum, because files aren't synced to the disk and a crash may damage them.
func EncodeState(about string, entries map[string][]byte) []byte {
	var body bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		fmt.Fprintf(&body, "%s\t%s\n", key, entries[key])
	}
	head := fmt.Sprintf("%s %x %s\n", StateFormat, sha256.Sum256(body.Bytes()), strconv.Quote(about))
	return append([]byte(head), body.Bytes()...)
}

var errNoState = errors.New("this is not a state file of tfdeps, or it is damaged")

// DecodeState reads what EncodeState wrote, and rejects everything else.
func DecodeState(content []byte) (about string, entries map[string][]byte, err error) {
	head, body, _ := bytes.Cut(content, []byte("\n"))
	rest, ok := bytes.CutPrefix(head, fmt.Appendf(nil, "%s %x ", StateFormat, sha256.Sum256(body)))
	if !ok {
		return "", nil, errNoState
	}
	if about, err = strconv.Unquote(string(rest)); err != nil {
		return "", nil, errNoState
	}
	entries = make(map[string][]byte, bytes.Count(body, []byte("\n")))
	for len(body) > 0 {
		var line []byte
		line, body, ok = bytes.Cut(body, []byte("\n"))
		key, value, tabbed := bytes.Cut(line, []byte("\t"))
		if !ok || !tabbed || len(key) == 0 || len(value) == 0 {
			return "", nil, errNoState
		}
		entries[string(key)] = value
	}
	return about, entries, nil
}

// ReadOwn reads a regular file that trusted accepts, of at most MaxStateBytes.
func ReadOwn(path string, trusted func(string, os.FileInfo) bool) ([]byte, error) {
	file, err := patient.Open(path, owner.OpenPlain)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !trusted(path, info):
		return nil, fmt.Errorf("%s is not a file that only its user can write to", path)
	case info.Size() > MaxStateBytes:
		return nil, fmt.Errorf("%s is larger than any file that tfdeps writes", path)
	}
	content := make([]byte, info.Size())
	_, err = io.ReadFull(file, content)
	return content, err
}
