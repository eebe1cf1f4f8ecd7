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

// session is the shared state of a Fetcher's calls.
type session struct {
	dir          *scratch.Dir // temporary, for contents
	gate         *par.Limit   // concurrent fetches
	copies       *par.Limit   // concurrent copies: more than the number of cores would be slower
	store        store
	web          web
	oci          func(context.Context, OCIPackage) (OCIArchive, error) // nil without OCI
	repositories *git.Repositories
	buckets      *bucket.Services
	bounds       bounds
	environ      []string

	located  par.Memo[modules.FetchRequest, location]
	contents par.Memo[packageSource, content]
	pinned   par.Memo[modules.FetchRequest, struct{}]
	clones   par.Memo[*modules.Requests, []git.Request]
}

// maxHops is how many answers may lead to another address.
const maxHops = 10

// locate finds the location of a package. Its address is normalised already.
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
			return at, failed(stepLocate, fmt.Errorf("%d answers in a row lead elsewhere, the last one to %s", maxHops, modules.Redact(at.address)))
		}
		next, err := s.web.ask(ctx, at.packageSource)
		if err != nil {
			return at, failed(stepLocate, err)
		}
		at = location{address: next.Package, subdir: path.Join(next.Subdir, at.subdir), hopped: true}
	}
}

// content is a package or its archive on this machine.
type content struct {
	path   string
	linked bool   // not a copy: path is the address's own directory
	commit string // of a git repository
	sha256 string // of a downloaded archive
}

// fetch downloads a package to a new directory, and unpacks it if it is an archive.
func (s *session) fetch(ctx context.Context, from packageSource, beside *modules.Requests) (made content, err error) {
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
	made, err = s.download(ctx, from, dir, beside)
	if err == nil && from.archive != "" {
		made, err = s.unpack(ctx, from, made, dir)
	}
	if err == nil {
		err = removeRepositories(made.path)
	}
	return made, err
}

// findDir returns a directory of this machine, which is used in place.
func findDir(dir string) (content, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is neither a directory nor an archive by its name", dir)
	}
	return content{path: dir, linked: true}, failed(stepRead, err)
}

// download downloads an archive or a directory to dir, or returns one that is already on this machine.
func (s *session) download(ctx context.Context, from packageSource, dir string, beside *modules.Requests) (got content, err error) {
	step, isRepository := stepDownload, from.kind == "git" || from.kind == "hg"
	if isRepository {
		step = stepCheckout
	}
	got.path = filepath.Join(dir, "downloaded")
	switch {
	case isRepository && from.archive != "":
		repository, file := from.parent()
		_, err := s.download(ctx, repository, dir, nil)
		return content{path: filepath.Join(got.path, file)}, err
	case from.kind == "git":
		req := gitRequest(from)
		req.Beside = s.clonesBeside(ctx, beside)
		got.commit, err = s.repositories.Checkout(ctx, req, got.path)
	case from.kind == "http":
		got, err = s.web.download(ctx, s.store, from, dir, s.bounds.download)
	case from.kind == "file":
		got.path = from.url
	case s.web.offline:
		err = ErrOffline
	case from.kind == "hg":
		err = cloneHg(ctx, s.environ, from, got.path)
	case from.kind == "oci":
		err = downloadOCI(ctx, s.oci, from, got.path, s.bounds.download)
	default:
		err = downloadObjects(ctx, s.buckets, from, got.path, s.bounds)
	}
	return got, failed(step, err)
}

// unpack verifies an archive, and unpacks it.
func (s *session) unpack(ctx context.Context, from packageSource, archive content, dir string) (made content, err error) {
	stat := os.Lstat
	if from.kind == "file" {
		stat = os.Stat
	}
	info, err := stat(archive.path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", archive.path)
	}
	if err != nil {
		return made, failed(stepRead, err)
	}
	sum, err := s.web.resolve(ctx, from)
	if err == nil {
		err = sum.verify(ctx, archive.path)
	}
	if err != nil {
		return made, failed(stepCheck, err)
	}
	made = content{path: filepath.Join(dir, "package"), sha256: archive.sha256}
	// On Windows, another process may be publishing the same archive.
	if err := patient.Try(func() error { return unpack(ctx, from.archive, archive.path, made.path, s.bounds) }); err != nil {
		return made, failed(stepUnpack, err)
	}
	if filepath.Dir(archive.path) == dir {
		_ = patient.Remove(archive.path)
	}
	return made, nil
}

// clonesBeside returns the concurrent requests for git repositories, as far as they are known
// without a request.
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

// find returns the directory of a package, without symlinks. subdir is from the answers of servers.
func find(made content, subdir string) (dir string, err error) {
	_, dir, err = modules.FindSubdir(made.path, path.Clean(subdir), ", to which the server leads", true)
	if errors.Is(err, modules.ErrNoSubdir) {
		err = fmt.Errorf("%w: %v", ErrNotFound, err) // not the source's subdirectory
	}

	return dir, failed(stepRead, err)
}

// copyTo creates dst with a package, or with a subdirectory of it.
func (s *session) copyTo(ctx context.Context, made content, subdir, dst string) error {
	if made.linked {
		err := link.Dir(made.path, dst)
		if err == nil || runtime.GOOS != "windows" { // not all its file systems have symlinks
			return failed(stepCopy, err)
		}
	}
	release, err := s.copies.Acquire(ctx, 0)
	if err != nil {
		return err
	}
	defer release()
	src, err := find(made, subdir)
	if err != nil {
		return err
	}
	err = link.CopyTree(ctx, src, dst, true)
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == filepath.Clean(dst) && errors.Is(err, fs.ErrExist) { // another module's directory
		if ignoresCase(filepath.Dir(dst)) {
			err = fmt.Errorf("the name of another module differs from this one in case only, and the file system takes both for one: rename one of them (%w)", err)
		}
	} else if err != nil {
		_ = patient.RemoveAll(dst)
	}
	return failed(stepCopy, err)
}
