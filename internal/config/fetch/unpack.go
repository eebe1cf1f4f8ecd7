package fetch

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-getter/v2"
	"github.com/ulikunitz/xz"

	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/config/modules"
)

// bounds are what no package exceeds. Zero fields mean the defaults.
type bounds struct {
	download int64 // bytes of an archive; 4 GiB
	unpacked int64 // bytes of all files; 8 GiB
	files    int   // entries of an archive; 100 000
}

func (b bounds) withDefaults() bounds {
	return bounds{
		download: cmp.Or(b.download, 4<<30),
		unpacked: cmp.Or(b.unpacked, 8<<30),
		files:    cmp.Or(b.files, 100_000),
	}
}

// tarBytes is how large a tar archive may be: what it has besides the content of files is counted apart.
func (b bounds) tarBytes() int64 { return b.unpacked + int64(b.files)*4096 + 1<<20 }

// archiveKinds are the suffixes of archives. Like in Terraform, some are only
// known where a server, not the configuration, names the archive; and bz2,
// gz and xz are known, but never a directory.
func archiveKinds(hopped bool) []string {
	kinds := []string{"bz2", "gz", "tar.bz2", "tar.gz", "tar.tbz2", "tar.xz", "tbz2", "tgz", "txz", "xz", "zip"}
	if hopped {
		kinds = append(kinds, "tar", "tar.zst", "tzst", "zst")
	}
	return kinds
}

// unnamed is the kind of an archive whose content tells what it is.
const unnamed = "unnamed"

// kindInside is what the content of a file tells; "": nothing that is known.
func kindInside(file string) string {
	start := make([]byte, 6)
	if r, err := os.Open(file); err == nil {
		_, _ = io.ReadFull(r, start) // what can't be read is of no kind
		r.Close()
	}
	for magic, kind := range map[string]string{"PK": "zip", "\x1f\x8b": "tar.gz", "BZh": "tar.bz2", "\xfd7zXZ\x00": "tar.xz"} {
		if strings.HasPrefix(string(start), magic) {
			return kind
		}
	}
	return ""
}

// decompressor returns what unpacks a kind of archive.
func decompressor(kind string, b bounds) getter.Decompressor {
	if kind == "tar.tbz2" {
		kind = "tbz2"
	}
	return getter.LimitedDecompressors(b.files, b.unpacked)[kind]
}

// unpack makes a directory of an archive. Symlinks, hard links and devices become
// ordinary files, so that nothing can be written through them, and what could
// lead out of the directory is an error.
func unpack(ctx context.Context, kind, file, dst string, b bounds) error {
	if kind == unnamed {
		kind = kindInside(file)
	}
	if kind == "zip" {
		if err := checkZip(file, b); err != nil {
			return err
		}
	}
	if kind == "tar.xz" || kind == "txz" {
		plain := dst + ".tar"
		defer os.Remove(plain)
		if err := unpackXz(ctx, file, plain, b); err != nil {
			return withoutPath(err, file)
		}
		kind, file = "tar", plain
	}
	unpacker := decompressor(kind, b)
	if unpacker == nil {
		return fmt.Errorf("%w: nothing unpacks %q", ErrAddress, kind)
	}
	if ignoresCase(filepath.Dir(dst)) {
		if err := checkSpellings(ctx, kind, file, b); err != nil {
			return withoutPath(err, file)
		}
	}
	if err := unpacker.Decompress(dst, file, true, 0o022); err != nil {
		return withoutPath(err, file)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return makeWritable(dst)
}

// unpackXz writes what a file in the format of xz holds to another one. The archives' library
// would read such a file byte by byte, from the system: half a minute for 9 MB.
func unpackXz(ctx context.Context, file, dst string, b bounds) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	unpacked, err := xz.NewReader(bufio.NewReaderSize(r, 64<<10))
	if err != nil {
		return err
	}
	written, err := writeFile(ctx, dst, 0o600, unpacked, b.tarBytes())
	if written > b.tarBytes() {
		return fmt.Errorf("the archive is larger than %d bytes when it is unpacked", b.tarBytes())
	}
	return err
}

// withoutPath leaves out of an error where a file is for the moment.
func withoutPath(err error, file string) error {
	if text := err.Error(); strings.Contains(text, file) {
		return errors.New(strings.ReplaceAll(text, file, "the archive"))
	}
	return err
}

// checkZip refuses sizes that can't be added up: they would get past a limit.
func checkZip(file string, b bounds) error {
	r, err := zip.OpenReader(file)
	if err != nil {
		return withoutPath(err, file)
	}
	defer r.Close()
	left := uint64(b.unpacked)
	for _, entry := range r.File {
		if entry.UncompressedSize64 > left {
			return fmt.Errorf("the archive is larger than %d bytes when it is unpacked", b.unpacked)
		}
		left -= entry.UncompressedSize64
	}
	return nil
}

// makeWritable makes sure that the user may read, change and remove what was in an
// archive, and takes away what lets others do so.
func makeWritable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()&^0o022 | 0o600
		if d.IsDir() {
			mode |= 0o700
		}
		if mode == info.Mode()&^fs.ModeDir {
			return nil
		}
		return os.Chmod(path, mode)
	})
}

// content is a package on this machine.
type content struct {
	dir    string
	linked bool   // dir isn't a copy: it is where the address says that the package is
	commit string // of a git repository
	sha256 string // of an archive that was downloaded
}

// makeContent makes the content of a package, in a directory of its own.
func (f *Fetcher) makeContent(ctx context.Context, w *session, from packageSource, beside *modules.Requests) (made content, err error) {
	if from.kind == "file" && from.archive == "" {
		return findDir(from.url)
	}
	release, err := w.gate.Acquire(ctx, 0)
	if err != nil {
		return content{}, err
	}
	defer release()
	dir, err := os.MkdirTemp(w.dir, from.kind+"-")
	if err != nil {
		return content{}, failed(stepPrepare, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	if from.archive != "" {
		made, err = f.makeFromArchive(ctx, w, from, dir)
	} else {
		made.dir = filepath.Join(dir, "package")
		made.commit, err = f.makeDir(ctx, w, from, made.dir, beside)
	}
	if err == nil {
		err = removeRepositories(made.dir)
	}
	return made, err
}

// removeRepositories removes the directories and files of git and hg from a package, whose settings start programs
// when a user works there. Systems differ in which names they take for the same.
func removeRepositories(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.ToLower(strings.TrimRight(filepath.Base(path), ". "))
		if err != nil || path == dir || name != ".git" && name != ".hg" {
			return err
		}
		if err := os.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
}

// findDir returns a directory of this machine, which is used as it is.
func findDir(dir string) (content, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is neither a directory nor an archive by its name", dir)
	}
	return content{dir: dir, linked: true}, failed(stepRead, err)
}

// makeDir makes a directory with what is one where it comes from.
func (f *Fetcher) makeDir(ctx context.Context, w *session, from packageSource, dst string, beside *modules.Requests) (commit string, err error) {
	switch from.kind {
	case "git":
		req := gitRequest(from)
		req.Beside = f.clonesBeside(ctx, w, beside)
		commit, err = w.repositories.Checkout(ctx, req, dst)
		return commit, failed(stepCheckout, err)
	case "hg":
		return "", failed(stepCheckout, f.cloneHg(ctx, from, dst))
	default:
		return "", failed(stepDownload, f.getObjects(ctx, w, from, dst))
	}
}

// clonesBeside are those of the requests made at the same time that are for trees of
// repositories, as far as that can be known without a request.
func (f *Fetcher) clonesBeside(ctx context.Context, w *session, beside *modules.Requests) []git.Request {
	if beside == nil {
		return nil
	}
	all, _ := f.clones.Do(ctx, beside, func(ctx context.Context) (all []git.Request, err error) {
		seen := map[string]bool{}
		for _, req := range beside.All {
			pkg := f.rewritten(req.Package)
			from, err := parseSource(pkg, false)
			if seen[pkg] || err != nil || from.kind != "git" || from.archive != "" {
				continue
			}
			seen[pkg] = true
			req.Package = pkg
			if at, ok := w.store.recall(ctx, req); ok {
				from = at.packageSource
			}
			all = append(all, gitRequest(from))
		}
		return all, nil
	})
	return all
}

func gitRequest(from packageSource) git.Request {
	req := git.Request{URL: from.url, Ref: from.ref, Depth: from.depth, Commit: from.known}
	if from.sshKey != "" {
		req.SSHKey = []byte(from.sshKey)
	}
	return req
}

// makeFromArchive gets an archive, and unpacks it.
func (f *Fetcher) makeFromArchive(ctx context.Context, w *session, from packageSource, dir string) (content, error) {
	archive, err := f.getArchive(ctx, w, from, dir)
	if err != nil {
		return content{}, err
	}
	sum, err := f.resolve(ctx, from)
	if err == nil {
		err = sum.verify(ctx, archive.path)
	}
	if err != nil {
		return content{}, failed(stepCheck, err)
	}
	dst := filepath.Join(dir, "package")
	if err := unpack(ctx, from.archive, archive.path, dst, f.bounds.withDefaults()); err != nil {
		return content{}, failed(stepUnpack, err)
	}
	if filepath.Dir(archive.path) == dir {
		_ = os.Remove(archive.path)
	}
	return content{dir: dst, sha256: archive.sha256}, nil
}

// getArchive gets an archive from wherever it is.
func (f *Fetcher) getArchive(ctx context.Context, w *session, from packageSource, dir string) (archive archiveFile, err error) {
	switch from.kind {
	case "http":
		archive, err = f.download(ctx, w, from, dir)
		return archive, failed(stepDownload, err)
	case "file":
		archive.path = from.url
	case "git", "hg":
		archive.path, err = f.fileInRepository(ctx, w, from, dir)
	case "oci":
		archive.path = filepath.Join(dir, "archive")
		err = failed(stepDownload, f.getOCI(ctx, from, archive.path))
	default:
		archive.path = filepath.Join(dir, "archive")
		err = failed(stepDownload, f.getObjects(ctx, w, from, archive.path))
	}
	if err != nil {
		return archiveFile{}, err
	}
	info, err := os.Lstat(archive.path)
	if from.kind == "file" {
		info, err = os.Stat(archive.path)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", archive.path)
	}
	if err != nil {
		return archiveFile{}, failed(stepRead, err)
	}
	return archive, nil
}

// fileInRepository checks out the repository in which an archive is a file.
func (f *Fetcher) fileInRepository(ctx context.Context, w *session, from packageSource, dir string) (string, error) {
	repository, file, err := from.parent()
	if err != nil {
		return "", failed(stepAddress, err)
	}
	checkout := filepath.Join(dir, "repository")
	if _, err := f.makeDir(ctx, w, repository, checkout, nil); err != nil {
		return "", err
	}
	return filepath.Join(checkout, file), nil
}
