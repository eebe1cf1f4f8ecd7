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

// request is what one run of init works on in a directory. Its steps add to the log, and most return whether the next one may run.
type request struct {
	*sources.Session
	opts options
	view *view.Init

	// How packages get into the directory: see readSettings.
	fallback getproviders.Fallback
	skip     map[getproviders.Provider]bool // providers that come by other means
	cache    *providercache.Store           // that directories share; nil: none
	link     providercache.LinkMode
}

// overriddenBy names what a provider comes from in place of a package; "": it comes as a package.
func (r request) overriddenBy(p getproviders.Provider) string {
	switch _, inConfig := r.Config.DevOverrides[p]; {
	case !r.skip[p]:
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

// pluginDirs is the file with the values of -plugin-dir, and what it is to have; nil: there is to be none.
func pluginDirs(r request) (path string, record []byte) {
	if len(r.opts.pluginDirs) > 0 {
		record, _ = json.MarshalIndent(r.opts.pluginDirs, "", "  ") // no text fails
	}
	return filepath.Join(workdir.DataDir(r.Meta.Env), "plugin_path"), record
}
