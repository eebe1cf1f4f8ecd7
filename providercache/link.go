package providercache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
)

// obtainDirectory stages a package that is unpacked already: as a symbolic
// link to it, absolute, as the real tools make it, or as a copy where the
// system allows no links. The hash is that of what will be published.
func (f *Fetcher) obtainDirectory(ctx context.Context, t task, dir string, stage *staging) (genuine, error) {
	if err := stageDirectory(ctx, t, dir, stage); err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	return f.judgeDirectory(ctx, t, stage.packagePath())
}

// judgeDirectory hashes and judges an unpacked package.
func (f *Fetcher) judgeDirectory(ctx context.Context, t task, dir string) (genuine, error) {
	trust, err := t.loadTrust(ctx)
	if err != nil {
		return genuine{}, err
	}
	if _, err := findExecutable(dir, t.Provider); err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	h1, err := getproviders.HashDir(ctx, dir)
	if err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	authentication, err := t.judge(trust.Authenticator, getproviders.Digests{H1: h1, H1Archive: h1}, f.Product)
	if err != nil {
		return genuine{}, err
	}
	return genuine{Authentication: authentication, H1: h1}, nil
}

func stageDirectory(ctx context.Context, t task, dir string, stage *staging) error {
	source, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if t.Final != "" && isItself(source, t.Final) {
		return fmt.Errorf("can't install the package in %s to itself", dir)
	}
	_, _, err = materialise(ctx, source, stage.packagePath(), []LinkMode{LinkSymlink, LinkCopy})
	return err
}

// isItself reports whether source is the very directory that is at final. A
// link at final is another thing than what it points to.
func isItself(source, final string) bool {
	at, err := os.Lstat(final)
	if err != nil {
		return false
	}
	from, err := os.Stat(source)
	return err == nil && os.SameFile(at, from)
}

// findExecutable returns the path of a package's executable: the first file
// whose name is right.
func findExecutable(dir string, p getproviders.Provider) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if !entry.IsDir() && getproviders.ExecutableName(p, entry.Name()) {
			return filepath.Join(dir, entry.Name()), nil
		}
	}
	return "", errNoExecutable(p)
}

func errNoExecutable(p getproviders.Provider) error {
	return fmt.Errorf("provider binary not found: could not find executable file starting with terraform-provider-%s", p.Type)
}
