package initcmd

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
)

// request is a run of init in one directory. Its steps add to the log, and most return whether the next one may run.
type request struct {
	*sources.Session
	opts options
	view *view.Init

	// How packages get into the directory: see readSettings.
	fallback getproviders.Fallback
	skip     map[getproviders.Provider]bool // providers that come by other means
	cache    *providercache.Store           // shared by directories, or nil
	link     providercache.LinkMode
}

// overriddenBy names what replaces a provider's package, or returns "" if nothing does.
func (r request) overriddenBy(p getproviders.Provider) string {
	switch _, inConfig := r.Config.DevOverrides[p]; {
	case !r.skip[p]:
		return ""
	case inConfig:
		return "dev_overrides"
	}
	return sources.ReattachVariable
}

// recordPluginDirs writes the values of -plugin-dir into the data directory, in Terraform's
// file and format, or removes the file if all values are empty. Installations don't read it:
// without the option, they use the usual sources.
func recordPluginDirs(r request) bool {
	path, record := pluginDirs(r)
	var err error
	switch {
	case !r.opts.pluginDirGiven:
	case record != nil:
		err = wholefile.Save(path, record, 0o644)
	default:
		if err = patient.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err == nil || r.Log.Unsaved("unwritable", "Failed to record the value of -plugin-dir", err)
}

// pluginDirs returns the path of the file with the values of -plugin-dir, and its new content, or nil without values.
func pluginDirs(r request) (path string, record []byte) {
	if len(r.opts.pluginDirs) > 0 {
		record, _ = json.MarshalIndent(r.opts.pluginDirs, "", "  ") // strings always encode
	}
	return filepath.Join(workdir.DataDir(r.Meta.Env), "plugin_path"), record
}
