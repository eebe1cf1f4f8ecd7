package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/internal/owner"
)

// Find returns the paths of the policies that apply in a directory, the nearest one last: those in it and in the
// directories above it, up to the root of the repository, which is the first directory with an entry ".git". Outside of
// a repository only the directory itself counts. All of them apply, see [All]: a nearer one must not loosen the
// repository's. A file that another user owns is an error: that user could refuse, or allow, what this one installs.
func Find(dir string) (paths []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if physical, err := filepath.EvalSymlinks(dir); err == nil { // dir may be a link into the repository
		dir = physical
	}
	for root := owner.Repository(dir); ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, FileName)
		info, err := os.Stat(path)
		switch {
		case err == nil:
			if err := checkOwner(path, info); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("looking for a policy: %w", err)
		}
		if dir == root {
			slices.Reverse(paths)
			return paths, nil
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
