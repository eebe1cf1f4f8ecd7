package initcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
)

// request is what one run of init works on.
type request struct {
	*sources.Session
	opts options
	view *view.Init
}

// installation is what the phases of a run find out, one after the other.
type installation struct {
	request
	fallback    getproviders.Fallback
	skip        map[getproviders.Provider]bool // providers that come by other means
	cache       *providercache.Store           // that directories share; nil: none
	link        providercache.LinkMode
	dir         *workdir.Dir
	moduleLocks workdir.ModuleLocks
	toLock      modulelock.Locks // of modules; nil: nothing
	required    getproviders.Requirements
	found       view.InitPlan  // what -check and -plan say that would be done
	cloud       hosts.Hostname // that localterraform.com stands for; "": none
}

// overriddenBy is by what other means than a package a provider comes; "": by none.
func (in *installation) overriddenBy(p getproviders.Provider) string {
	switch _, inConfig := in.Config.DevOverrides[p]; {
	case !in.skip[p]:
		return ""
	case inConfig:
		return "dev_overrides"
	}
	return sources.ReattachVariable
}

// recordPluginDirs keeps the values of -plugin-dir in the data directory, where
// and as Terraform does; none removes the record. Installations don't read it:
// without the option, the usual sources count again.
func recordPluginDirs(r request) bool {
	if !r.opts.pluginDirGiven {
		return true
	}
	if err := savePluginDirs(pluginDirsPath(r.Meta.Env), r.opts.pluginDirs); err != nil {
		return r.Log.Unsaved("unwritable", "Failed to record the value of -plugin-dir", err)
	}
	return true
}

func savePluginDirs(path string, dirs []string) error {
	if len(dirs) == 0 {
		if err := patient.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	content, err := encodePluginDirs(dirs)
	if err != nil {
		return err
	}
	return wholefile.Save(path, content, 0o644)
}

// maxPluginDirs limits the size of such a record, in bytes.
const maxPluginDirs = 1 << 20

// pluginDirsRecorded reports whether the record of -plugin-dir has these values.
func pluginDirsRecorded(path string, dirs []string) bool {
	recorded, err := wholefile.Read(path, maxPluginDirs)
	if errors.Is(err, fs.ErrNotExist) {
		return len(dirs) == 0
	}
	content, encodeErr := encodePluginDirs(dirs)
	return err == nil && encodeErr == nil && len(dirs) > 0 && bytes.Equal(recorded, content)
}

func pluginDirsPath(env cli.Environment) string {
	return filepath.Join(workdir.DataDir(env), "plugin_path")
}

func encodePluginDirs(dirs []string) ([]byte, error) { return json.MarshalIndent(dirs, "", "  ") }
