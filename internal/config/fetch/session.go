package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/tfdeps/tfdeps/internal/config/bucket"
	"github.com/tfdeps/tfdeps/internal/config/git"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// session is what the calls of one Fetcher share.
type session struct {
	dir          *scratch.Dir // temporary, for contents
	gate         *par.Limit   // what is fetched at once
	copies       *par.Limit   // what is copied at once: more than there are cores get in each other's way
	store        store
	web          web
	oci          func(context.Context, OCIPackage) (OCIArchive, error) // nil: there is none
	repositories *git.Repositories
	buckets      *bucket.Services
	bounds       bounds
	environ      []string

	located  par.Memo[modules.FetchRequest, location]
	contents par.Memo[packageSource, content]
	pinned   par.Memo[modules.FetchRequest, struct{}]
	clones   par.Memo[*modules.Requests, []git.Request]
}

// maxHops is how often a server may say that the package is elsewhere.
const maxHops = 10

// locate finds out where a package is. Its address is rewritten already.
func (s *session) locate(ctx context.Context, req modules.FetchRequest) (at location, err error) {
	if req.Served.Here {
		return location{address: req.Package, packageSource: packageSource{kind: "http", url: req.Package, archive: unnamed, tokenOf: req.Served.TokenOf}}, nil
	}
	if at, ok := s.store.recall(ctx, req); ok {
		return at, nil
	}
	release, err := s.gate.Acquire(ctx, 0)
	if err != nil {
		return at, err
	}
	defer release()
	at = location{address: req.Package}
	for hops := 0; ; hops++ {
		if at.packageSource, err = parseSource(at.address, at.hopped); err != nil {
			return at, failed(stepAddress, err)
		}
		at.own = req.Own
		switch {
		case at.kind == "oci" && s.oci == nil:
			return at, failed(stepAddress, errNoOCI)
		case !at.isPage():
			if s.web.offline && at.kind == "git" && at.archive == "" {
				at.known = req.Commit
			}
			return at, nil
		case hops == maxHops:
			return at, failed(stepLocate, fmt.Errorf("the package is always elsewhere, after %d answers still; the last one leads to %s", maxHops, modules.Redact(at.address)))
		}
		next, err := s.web.ask(ctx, at.packageSource)
		if err != nil {
			return at, failed(stepLocate, err)
		}
		at = location{address: next.Package, subdir: path.Join(next.Subdir, at.subdir), hopped: true}
	}
}

// content is a package on this machine.
type content struct {
	dir    string
	linked bool   // dir isn't a copy: it is where the address says that the package is
	commit string // of a git repository
	sha256 string // of an archive that was downloaded
}

// makeContent makes the content of a package, in a directory of its own.
func (s *session) makeContent(ctx context.Context, from packageSource, beside *modules.Requests) (made content, err error) {
	if from.kind == "file" && from.archive == "" {
		return findDir(from.url)
	}
	release, err := s.gate.Acquire(ctx, 0)
	if err != nil {
		return content{}, err
	}
	defer release()
	dir, err := os.MkdirTemp(s.dir.Path, from.kind+"-")
	if err != nil {
		return content{}, failed(stepPrepare, err)
	}
	defer func() {
		if err != nil {
			_ = patient.RemoveAll(dir)
		}
	}()
	if from.archive != "" {
		made, err = s.makeFromArchive(ctx, from, dir)
	} else {
		made.dir = filepath.Join(dir, "package")
		made.commit, err = s.makeDir(ctx, from, made.dir, beside)
	}
	if err == nil {
		err = removeRepositories(made.dir)
	}
	return made, err
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
func (s *session) makeDir(ctx context.Context, from packageSource, dst string, beside *modules.Requests) (commit string, err error) {
	step := stepCheckout
	switch {
	case from.kind == "git":
		req := gitRequest(from)
		req.Beside = s.clonesBeside(ctx, beside)
		commit, err = s.repositories.Checkout(ctx, req, dst)
	case from.kind == "hg" && !s.web.offline:
		err = cloneHg(ctx, s.environ, from, dst)
	case from.kind == "hg":
		err = ErrOffline
	default:
		step, err = stepDownload, s.getStored(ctx, from, dst)
	}
	return commit, failed(step, err)
}

// getStored gets what is in a bucket or a registry of images: a file, or a directory.
func (s *session) getStored(ctx context.Context, from packageSource, dst string) error {
	switch {
	case s.web.offline:
		return ErrOffline
	case from.kind == "oci":
		return getOCI(ctx, s.oci, from, dst, s.bounds.download)
	}
	return getObjects(ctx, s.buckets, from, dst, s.bounds)
}

// clonesBeside are those of the requests made at the same time that are for trees of
// repositories, as far as that can be known without a request.
func (s *session) clonesBeside(ctx context.Context, beside *modules.Requests) []git.Request {
	if beside == nil {
		return nil
	}
	all, _ := s.clones.Do(ctx, beside, func(ctx context.Context) (all []git.Request, err error) {
		seen := map[string]bool{}
		for _, req := range beside.All {
			from, err := parseSource(req.Package, false)
			if seen[req.Package] || err != nil || from.kind != "git" || from.archive != "" {
				continue
			}
			seen[req.Package] = true
			if at, ok := s.store.recall(ctx, req); ok {
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
func (s *session) makeFromArchive(ctx context.Context, from packageSource, dir string) (made content, err error) {
	archive, err := s.getArchive(ctx, from, dir)
	if err != nil {
		return made, err
	}
	sum, err := s.web.resolve(ctx, from)
	if err == nil {
		err = sum.verify(ctx, archive.path)
	}
	if err != nil {
		return made, failed(stepCheck, err)
	}
	dst := filepath.Join(dir, "package")
	if err := unpack(ctx, from.archive, archive.path, dst, s.bounds); err != nil {
		return made, failed(stepUnpack, err)
	}
	if filepath.Dir(archive.path) == dir {
		_ = patient.Remove(archive.path)
	}
	return content{dir: dst, sha256: archive.sha256}, nil
}

// getArchive gets an archive from wherever it is.
func (s *session) getArchive(ctx context.Context, from packageSource, dir string) (archive archiveFile, err error) {
	switch from.kind {
	case "http":
		archive, err = s.web.download(ctx, s.store, from, dir, s.bounds.download)
		return archive, failed(stepDownload, err)
	case "file":
		archive.path = from.url
	case "git", "hg":
		archive.path, err = s.fileInRepository(ctx, from, dir)
	default:
		archive.path = filepath.Join(dir, "archive")
		err = failed(stepDownload, s.getStored(ctx, from, archive.path))
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
func (s *session) fileInRepository(ctx context.Context, from packageSource, dir string) (string, error) {
	repository, file := from.parent()
	checkout := filepath.Join(dir, "repository")
	if _, err := s.makeDir(ctx, repository, checkout, nil); err != nil {
		return "", err
	}
	return filepath.Join(checkout, file), nil
}

// put makes dst with the content of a package, or with a part of it.
func (s *session) put(ctx context.Context, made content, subdir, dst string) error {
	if made.linked {
		err := link.Dir(made.dir, dst)
		if err == nil || runtime.GOOS != "windows" { // where not all file systems have links
			return failed(stepCopy, err)
		}
	}
	release, err := s.copies.Acquire(ctx, 0)
	if err != nil {
		return err
	}
	defer release()
	src, err := findSubdir(made.dir, subdir)
	if err != nil {
		return failed(stepRead, err)
	}
	if err := os.Mkdir(dst, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) && ignoresCase(filepath.Dir(dst)) {
			err = fmt.Errorf("the name of another module differs from this one in case only, and the file system takes both for one: rename one of them (%w)", err)
		}
		return failed(stepCopy, err)
	}
	if err := copyTree(ctx, src, dst); err != nil {
		_ = patient.RemoveAll(dst)
		return failed(stepCopy, err)
	}
	return nil
}
