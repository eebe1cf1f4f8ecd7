// Package wholefile reads and writes small files as a whole: lock files,
// records, configuration. It is shared by several packages of this module, and is
// no API for others.
//
//	content, err := wholefile.Read(path, 1<<20)
//	err = wholefile.Save(path, content, 0o644) // leaves a file alone that has this content
//
// Reading has a limit, and doesn't wait for ever. Writing has either the old
// content or the new at a path, whenever the process is killed: the new file is
// made beside the place and renamed to it. A run that is killed in between
// leaves the file that it was making, whose name begins with [Prefix]; the next
// one that writes to the directory removes it.
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

// Prefix begins the names of files that are being made.
const Prefix = ".tfdeps-new-"

// ErrTooLarge says that a file has more than the bytes that such a file may have.
var ErrTooLarge = errors.New("larger than the limit")

// Read returns the content of a regular file, or of what a link to one leads
// to, that has at most max bytes. Errors name the file. A pipe is refused, as it
// would have to be waited for, and so is a device, as it may have no end.
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

// explained names the file that is in the place of a directory of a path, if that is why it can't be read: the system
// says only "not a directory", and names the whole path.
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

// ReadFS is Read for a file in fsys; nil is the file system of the process. A path
// that leads out of an fs.FS, as all absolute ones do, is invalid.
func ReadFS(fsys fs.FS, path string, max int64) ([]byte, error) {
	if fsys == nil {
		return Read(path, max)
	}
	name, err := NameInFS("read", path)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(fsys, name) // before it is opened, as a pipe would have to be waited for
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

// NameInFS returns a path as an fs.FS has it. Some of those say only that a path
// that leads out of them does not exist, which would be a file that is missing.
func NameInFS(op, given string) (string, error) {
	name := path.Clean(filepath.ToSlash(given))
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: given, Err: fs.ErrInvalid}
	}
	return name, nil
}

// ReadAny is Read for a file that may be anything that can be opened: people
// hand over configuration through pipes.
func ReadAny(path string, max int64) ([]byte, error) {
	file, err := patient.Open(path, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, path, max)
}

func readAll(file io.Reader, path string, max int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, max+1))
	if err == nil && int64(len(content)) > max {
		return nil, fmt.Errorf("%s: %w of %d bytes", path, ErrTooLarge, max)
	}
	return content, err
}

// Write puts a file into its place by one rename. The directory has to be
// there; what is at path, be it a symlink, is replaced.
func Write(path string, content []byte, mode fs.FileMode) error {
	return write(path, content, how{mode: mode})
}

// WriteDurably is Write for what has to be the old content or the new after a
// loss of power, too: the new bytes are on the disk before they get the name.
func WriteDurably(path string, content []byte, mode fs.FileMode) error {
	return write(path, content, how{mode: mode, durably: true})
}

// Save is Write for a file that may have that content already, and isn't touched
// then: others watch files for changes. The directory is made if need be, for
// everybody to read. Of the mode, the process's umask takes away what it takes from
// all new files.
func Save(path string, content []byte, mode fs.FileMode) error {
	if Has(path, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return write(path, content, how{mode: mode, masked: true})
}

// Has reports whether a regular file, or what a link leads to, has that content.
func Has(path string, content []byte) bool {
	there, err := Read(path, int64(len(content)))
	return err == nil && bytes.Equal(there, content)
}

// attempts is how often a file is made that another process takes for one that
// was left behind.
const attempts = 10

// how says how a file is made.
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
		_ = filelock.TryFile(file) // keeps others from taking it for one that was left behind
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

// create makes a new file, with a mode that the umask applies to.
func create(dir string, mode fs.FileMode) (file *os.File, err error) {
	for range attempts {
		name := filepath.Join(dir, Prefix+strconv.FormatUint(rand.Uint64(), 36))
		if file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return file, err
}

// sweep removes from a directory the files that killed processes were making.
// One that is being made is left alone, if that can be known; the moments before it
// is locked and after it is closed are why write tries more than once.
func sweep(dir string) {
	opened, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := opened.Readdirnames(-1) // not ReadDir: there may be thousands, of which none is left behind
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

// removeUnlocked removes a file that no process has locked. On Windows one that is open can't be removed: it isn't waited for,
// because who makes it closes it, and then gives it its name. Where there are no locks, that can't be known, and it stays.
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

// JSON is the content of a file, or of a document, that is a value: over several lines, and with ">" and "&" as they are, so that
// constraints and URLs stay readable.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return b.Bytes(), err
}

// maxRemembered is far more than the file of a remembered value has, in bytes.
const maxRemembered = 64 << 10

// Remember writes down a value for later runs of the same user, and makes the directory. What can't be written isn't
// known later.
func Remember(path string, value any) {
	content, err := json.Marshal(value)
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = Write(path, content, 0o600)
	}
}

// Recall reads what Remember wrote; false: there is nothing that makes sense.
func Recall(path string, into any) bool {
	content, err := Read(path, maxRemembered)
	return err == nil && json.Unmarshal(content, into) == nil
}
