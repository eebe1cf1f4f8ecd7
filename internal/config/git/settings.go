package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// obeyed are what git obeys in a repository besides its config, or takes objects and further settings from. A store
// has none of them: what restores a cache may have put them there. Its config is written here, for the same reason:
// settings such as filters name programs.
var obeyed = []string{"branches", "commondir", "config.worktree", "hooks", "info", "modules", "remotes", "worktrees", filepath.Join("objects", "info")}

// probed are what git init finds out of a file system.
var probed = []string{"\tfilemode = false\n", "\tsymlinks = false\n", "\tignorecase = true\n", "\tprecomposeunicode = true\n"}

const (
	configName     = "config"
	maxConfigBytes = 64 << 10
)

// guard sees to it that git obeys nothing in the store but the settings of this package. It is called before each use, and
// takes the store's lock only if there is something to do.
func (st *store) guard(ctx context.Context) error {
	if foreign, settings := st.foreign(); len(foreign) == 0 && settings == "" {
		return nil
	}
	release, err := st.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return st.clean()
}

// clean is guard for who has the store's lock.
func (st *store) clean() error {
	foreign, settings := st.foreign()
	for _, path := range foreign {
		if err := patient.RemoveAll(path); err != nil {
			return err
		}
	}
	if settings == "" {
		return nil
	}
	return wholefile.Write(filepath.Join(st.path, configName), []byte(settings), 0o600)
}

// foreign returns what has to be removed, which are all links, too, and what has to be written into the config; "": nothing.
func (st *store) foreign() (paths []string, settings string) {
	for _, name := range obeyed {
		if _, err := os.Lstat(filepath.Join(st.path, name)); !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, filepath.Join(st.path, name))
		}
	}
	entries, err := os.ReadDir(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	for _, entry := range entries {
		if !entry.IsDir() && !entry.Type().IsRegular() {
			paths = append(paths, filepath.Join(st.path, entry.Name()))
		}
	}
	var found string
	if !slices.Contains(paths, filepath.Join(st.path, configName)) {
		content, _ := wholefile.Read(filepath.Join(st.path, configName), maxConfigBytes)
		found = string(content)
	}
	settings = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
	for _, line := range probed {
		if strings.Contains(found, line) {
			settings += line
		}
	}
	if st.wide {
		settings += "[extensions]\n\tobjectformat = sha256\n"
	}
	if settings == found {
		settings = ""
	}
	return paths, settings
}
