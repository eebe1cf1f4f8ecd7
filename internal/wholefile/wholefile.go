// Package wholefile reads and writes small files as a whole: lock files, records, configuration. It
// is shared by several packages of this module; it isn't an API for others.
//
//	content, err := wholefile.Read(path, 1<<20)
//	err = wholefile.Save(path, content, 0o644) // doesn't touch a file that has this content
//
// Reading has a size limit, and doesn't block. [ReadAny], [ReadFrom], [Append] and [Open] are for what may be a pipe, and end
// with their context. Writing is atomic: the new file is made in the same
// directory and renamed, so even if the process is killed, the path has either the old content or
// the new. A killed process leaves its new file, whose name begins with [Prefix]; the next write to
// the directory removes it.
package wholefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// Prefix is the prefix of the names of new files before their rename.
const Prefix = ".tfdeps-new-"

// ErrTooLarge means that a file is larger than the caller's limit.
var ErrTooLarge = errors.New("larger than the limit")

// Read returns the content of a regular file, or of a symlink's target, of at most max bytes.
// Errors name the file. Read refuses pipes, which could block, and devices, which may have no end.
func Read(path string, max int64) ([]byte, error) {
	file, err := patient.Open(path, syscall.O_NONBLOCK)
	if err != nil {
		return nil, explained(path, err)
	}
	defer file.Close()
	switch info, err := file.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return readAll(file, path, max)
}

// explained names the file on path that should be a directory, if that is the reason of err: the system says only
// "not a directory", with the whole path.
func explained(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file, and has to be a directory: see what it is, then give it another name (%w)", dir, err)
		}
	}
	return err
}

// ReadFS is Read for a file in fsys; nil means the file system of the process. An fs.FS has no
// paths that lead out of it, nor absolute ones: they are invalid.
func ReadFS(fsys fs.FS, path string, max int64) ([]byte, error) {
	if fsys == nil {
		return Read(path, max)
	}
	name, err := NameInFS("read", path)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(fsys, name) // before Open, which would block for a pipe
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, path, max)
}

// NameInFS returns a path as an fs.FS needs it, or an error for one that leads out of it. Some
// implementations of fs.FS only return fs.ErrNotExist for such a path, as for a missing file.
func NameInFS(op, given string) (string, error) {
	name := path.Clean(filepath.ToSlash(given))
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: given, Err: fs.ErrInvalid}
	}
	return name, nil
}

func readAll(file io.Reader, path string, max int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, max+1))
	if err == nil && int64(len(content)) > max {
		return nil, fmt.Errorf("%s: %w of %d bytes", path, ErrTooLarge, max)
	}
	return content, err
}

// Write writes a file by one rename. The directory must exist; whatever is at path, even a symlink,
// is replaced.
func Write(path string, content []byte, mode fs.FileMode) error {
	return write(path, content, how{mode: mode})
}

// WriteDurably is Write for a file that must have either the old content or the new after a power
// loss, too: it syncs the new bytes to the disk before the rename.
func WriteDurably(path string, content []byte, mode fs.FileMode) error {
	return write(path, content, how{mode: mode, durably: true})
}

// Save is Write, but doesn't touch a file that has the content already, as others may watch it for
// changes. It makes the directory if necessary, readable for everybody. The process's umask applies
// to mode, as to other new files.
func Save(path string, content []byte, mode fs.FileMode) error {
	if Has(path, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return write(path, content, how{mode: mode, masked: true})
}

// Has reports whether a regular file, or a symlink's target, has the given content.
func Has(path string, content []byte) bool {
	there, err := Read(path, int64(len(content)))
	return err == nil && bytes.Equal(there, content)
}

// attempts is how often a write is retried after another process removed the new file as abandoned.
const attempts = 10

// how holds the options of write.
type how struct {
	mode    fs.FileMode
	masked  bool // by the umask
	durably bool
}

func write(path string, content []byte, as how) (err error) {
	for range attempts {
		sweep(filepath.Dir(path))
		if err = writeOnce(path, content, as); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func writeOnce(path string, content []byte, as how) error {
	mode := as.mode
	if !as.masked {
		mode = 0o600 // until it is complete
	}
	file, err := create(filepath.Dir(path), mode)
	if err != nil {
		return err
	}
	if filelock.Removable {
		_ = filelock.TryFile(file) // tells other processes that the file isn't abandoned
	}
	_, err = file.Write(content)
	if err == nil && !as.masked && as.mode != 0o600 {
		err = file.Chmod(as.mode)
	}
	if err == nil && as.durably {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = patient.Rename(file.Name(), path)
	}
	if err != nil {
		_ = patient.Remove(file.Name())
	}
	return err
}

// create makes a new file. The umask applies to mode.
func create(dir string, mode fs.FileMode) (file *os.File, err error) {
	for range attempts {
		name := filepath.Join(dir, Prefix+strconv.FormatUint(rand.Uint64(), 36))
		if file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return file, err
}

// sweep removes the new files that killed processes left in a directory. It leaves locked ones
// alone, as they are in use. A new file isn't locked right after it is made and after it is closed,
// so write retries if another process removes it then.
func sweep(dir string) {
	opened, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := opened.Readdirnames(-1) // ReadDir would stat thousands of files, usually for nothing
	opened.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, Prefix) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			removeUnlocked(filepath.Join(dir, name))
		}
	}
}

// removeUnlocked removes a file that no process has locked. On Windows an open file can't be removed; it isn't retried,
// because its process closes and renames it. Where file locks don't work, use can't be detected, so the file stays.
func removeUnlocked(path string) {
	if !filelock.Removable {
		if runtime.GOOS == "windows" {
			_ = os.Remove(path)
		}
		return
	}
	if file, err := filelock.TryExisting(path); err == nil {
		_ = os.Remove(path)
		file.Close()
	}
}

// JSON returns the indented JSON of a value, for a file or a document. It doesn't escape ">" and "&", so that constraints and
// URLs stay readable.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return b.Bytes(), err
}

// maxRemembered is the maximum size of a remembered value in bytes, far more than needed.
const maxRemembered = 64 << 10

// Remember saves a value for later runs of the same user, and makes the directory. Errors are ignored: the value is
// then unknown later.
func Remember(path string, value any) {
	content, err := json.Marshal(value)
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = Write(path, content, 0o600)
	}
}

// Recall reads a value that Remember saved. It returns false if there is no valid one.
func Recall(path string, into any) bool {
	content, err := Read(path, maxRemembered)
	return err == nil && json.Unmarshal(content, into) == nil
}
