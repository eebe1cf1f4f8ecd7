package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/tfdeps/tfdeps/internal/must"
	"golang.org/x/sys/unix"
)

// A FUSE file system that is case-insensitive and case-preserving, as those of macOS are. Its
// files are in another directory.

// foldNode is a file, a directory or a symlink.
type foldNode struct {
	fs.Inode
	dir string // of the root's
}

// path returns the path of the node, or of its child with a name.
func (n *foldNode) path(child ...string) string {
	at := n.dir
	for _, part := range append(strings.Split(n.Path(n.Root()), "/"), child...) {
		if part != "" {
			at = filepath.Join(at, folded(at, part))
		}
	}
	return at
}

// folded returns the name in a directory that differs from the given one only in case, if there is one.
func folded(dir, name string) string {
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return name
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return name
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return name
}

// found returns the node for a path.
func (n *foldNode) found(ctx context.Context, path string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	var stat syscall.Stat_t
	if err := syscall.Lstat(path, &stat); err != nil {
		return nil, fs.ToErrno(err)
	}
	out.Attr.FromStat(&stat)
	return n.NewInode(ctx, &foldNode{dir: n.dir}, fs.StableAttr{Mode: stat.Mode, Ino: stat.Ino}), 0
}

// made returns the node for a new file at a path, or the errno of err.
func (n *foldNode) made(ctx context.Context, path string, err error, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.found(ctx, path, out)
}

func (n *foldNode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.found(ctx, n.path(name), out)
}

func (n *foldNode) Getattr(_ context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if f, ok := f.(fs.FileGetattrer); ok {
		return f.Getattr(context.Background(), out)
	}
	var stat syscall.Stat_t
	err := syscall.Lstat(n.path(), &stat)
	out.FromStat(&stat)
	return fs.ToErrno(err)
}

func (n *foldNode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if f, ok := f.(fs.FileSetattrer); ok {
		return f.Setattr(ctx, in, out)
	}
	path, errs := n.path(), []error{}
	if mode, ok := in.GetMode(); ok {
		errs = append(errs, syscall.Chmod(path, mode))
	}
	if size, ok := in.GetSize(); ok {
		errs = append(errs, syscall.Truncate(path, int64(size)))
	}
	accessed, _ := in.GetATime() // zero means unchanged
	modified, _ := in.GetMTime()
	if err := cmp.Or(append(errs, os.Chtimes(path, accessed, modified))...); err != nil {
		return fs.ToErrno(err)
	}
	return n.Getattr(ctx, nil, out)
}

func (n *foldNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.path(name)
	return n.made(ctx, path, syscall.Mkdir(path, mode), out)
}

func (n *foldNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	path := n.path(name)
	fd, err := syscall.Open(path, int(flags)&^syscall.O_APPEND|syscall.O_CREAT, mode)
	node, errno := n.made(ctx, path, err, out)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return node, fs.NewLoopbackFile(fd), 0, 0
}

func (n *foldNode) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	fd, err := syscall.Open(n.path(), int(flags)&^syscall.O_APPEND, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return fs.NewLoopbackFile(fd), 0, 0
}

func (n *foldNode) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	return fs.NewLoopbackDirStream(n.path())
}

func (n *foldNode) Unlink(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(syscall.Unlink(n.path(name)))
}

func (n *foldNode) Rmdir(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(syscall.Rmdir(n.path(name)))
}

func (n *foldNode) Rename(_ context.Context, name string, to fs.InodeEmbedder, toName string, flags uint32) syscall.Errno {
	parent, ok := to.(*foldNode)
	if !ok {
		return syscall.EXDEV
	}
	from, dir := n.path(name), parent.path()
	target := filepath.Join(dir, folded(dir, toName))
	if target == from { // another spelling of the same name
		target = filepath.Join(dir, toName)
	}
	return fs.ToErrno(unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, target, uint(flags)))
}

func (n *foldNode) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	var stat syscall.Statfs_t
	err := syscall.Statfs(n.path(), &stat)
	out.FromStatfsT(&stat)
	return fs.ToErrno(err)
}

// foldedPlace is a variable that makes the test program serve the file system at its value.
const foldedPlace = "TFDEPS_TEST_CASEFOLD"

// serveCasefold reports whether this process serves the file system. That needs its own process, because in that of the test a system call could wait for
// a goroutine that the garbage collector has stopped. It ends with its stdin.
func serveCasefold() bool {
	place := os.Getenv(foldedPlace)
	if place == "" {
		return false
	}
	zero := time.Duration(0)
	server, err := fs.Mount(place, &foldNode{dir: os.Getenv(foldedPlace + "_DIR")}, &fs.Options{
		EntryTimeout: &zero, AttrTimeout: &zero, NegativeTimeout: &zero, MountOptions: fuse.MountOptions{FsName: "casefold", DirectMount: true},
	})
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("mounted\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for server.Unmount() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// mountCasefold mounts the file system at a directory, until the test ends. The error says why it can't be.
func mountCasefold(t *testing.T, place string) error {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return err
	}
	cmd := exec.Command(must.Get(os.Executable())(t))
	cmd.Env = append(os.Environ(), foldedPlace+"="+place, foldedPlace+"_DIR="+t.TempDir())
	end, out := must.Get(cmd.StdinPipe())(t), must.Get(cmd.StdoutPipe())(t)
	must.Succeed(t, cmd.Start())
	said := ""
	for buffer := make([]byte, 1<<10); !strings.Contains(said, "mounted\n"); {
		n, err := out.Read(buffer)
		if said += string(buffer[:n]); err != nil {
			return errors.Join(errors.New(said), end.Close(), cmd.Wait())
		}
	}
	t.Cleanup(func() {
		end.Close()
		_, _ = io.Copy(io.Discard, out)
		must.Succeed(t, cmd.Wait())
	})
	return nil
}
