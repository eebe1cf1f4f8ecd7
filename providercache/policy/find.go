package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// Find returns the path of the policy that counts in a directory: the first file of that
// name in it or in a directory above it, up to the root of the repository, which is the
// first directory with an entry ".git". Without a repository only the directory itself
// counts. "" is returned if there is none. A file that another user owns is an
// error: that user could refuse, or allow, what this one installs.
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root := repository(dir)
	for {
		path := filepath.Join(dir, FileName)
		info, err := os.Stat(path)
		switch {
		case err == nil:
			return path, checkOwner(path, info)
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("looking for a policy: %w", err)
		case dir == root:
			return "", nil
		}
		dir = filepath.Dir(dir)
	}
}

// repository is the root of the repository that a directory is in, or the
// directory itself where there is none.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

func checkOwner(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case !owner.OwnedByUserOrRoot(info):
		return fmt.Errorf("the policy %s belongs to another user, so it can't be used: have it belong to you or to root", path)
	}
	return nil
}
