package initcmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache"
)

// settings are what options, variables and the CLI configuration say about
// installing providers.
type settings struct {
	config   *cliconfig.Config
	fallback getproviders.Fallback
	skip     map[getproviders.Provider]bool // providers that come by other means
	cache    *providercache.Store           // that directories share; nil: none
	link     providercache.LinkMode
	policy   sources.Policy
	net      sources.Network // none with -check
}

// request is what one run of init works on. Nothing of it changes.
type request struct {
	meta    *cli.Meta
	opts    options
	product getproviders.Product
	view    *view.Init
	session *session
	log     *problem.Log // steps add to it, and return whether the next one may run
}

// installation is what the phases of a run find out, one after the other.
type installation struct {
	request
	settings    settings
	dir         *workdir.Dir
	moduleLocks workdir.ModuleLocks
	toLock      *modulelock.Locks // of modules; nil: nothing
	required    getproviders.Requirements
	cloud       hosts.Hostname // that localterraform.com stands for; "": none
	source      getproviders.MultiSource
	mirrors     *sources.Mirrors // to be closed; nil: they aren't open
}

// readSettings finds out how to install. Warnings are shown at once, because they
// may explain all that follows.
func readSettings(r request) (s settings, ok bool) {
	var problems, invalid, unlinked, unruled problem.List
	s.config, problems = r.session.config(r)
	s.fallback, invalid = read(r.opts, "mirror-fallback", cmp.Or(r.opts.mirrorFallback, "stop"), "Invalid mirror fallback", parseFallback)
	problems = append(append(problems, invalid...), sources.CheckArchiveCredentials(r.meta.Env)...)
	s.skip, invalid = sources.Skipped(r.meta.Env, s.config, r.product)
	s.link, unlinked = read(r.opts, "link", cmp.Or(r.opts.link, "auto"), "Invalid way of linking", link.ParseMode)
	s.policy, unruled = sources.ReadPolicy(r.meta, r.product, r.opts.policies)
	if problems = slices.Concat(problems, invalid, unlinked, unruled); problems.HasErrors() {
		return s, r.log.Add(problems...)
	}
	if !r.opts.noSharedCache {
		var unused problem.List
		s.cache, unused = r.session.cache(r, s.config)
		problems = append(problems, unused...)
	}
	if s.cache != nil && s.cache.IsSameAs(&providercache.Store{Dir: workdir.ProvidersDir(r.meta.Env, "")}) {
		s.cache = nil // what is installed is there already
	}
	r.view.Problems(problems)
	return s, true
}

// overriddenBy is by what other means than a package a provider comes; "": by none.
func (s settings) overriddenBy(p getproviders.Provider) string {
	switch _, inConfig := s.config.DevOverrides[p]; {
	case !s.skip[p]:
		return ""
	case inConfig:
		return "dev_overrides"
	}
	return sources.ReattachVariable
}

// read reads the value of an option.
func read[T any](o options, name, given, invalid string, parse func(string) (T, error)) (T, problem.List) {
	value, err := parse(given)
	if err != nil {
		return value, problem.Fail("invalid_option", invalid, "The value of %s can't be used: %v.", o.by[name], err)
	}
	return value, nil
}

// parseFallback reads the value of -mirror-fallback.
func parseFallback(given string) (getproviders.Fallback, error) {
	switch given {
	case "stop":
		return getproviders.StopOnFailure, nil
	case "next", "exclusive":
		return getproviders.Fallback(given), nil
	}
	return "", fmt.Errorf("invalid fallback %q: must be one of stop, next, exclusive", given)
}

// recordPluginDirs keeps the values of -plugin-dir in the data directory, where
// and as Terraform does; none removes the record. Installations don't read it:
// without the option, the usual sources count again.
func recordPluginDirs(r request) bool {
	if !r.opts.pluginDirGiven {
		return true
	}
	if err := savePluginDirs(pluginDirsPath(r.meta.Env), r.opts.pluginDirs); err != nil {
		return r.log.Unsaved("unwritable", "Failed to record the value of -plugin-dir", err)
	}
	return true
}

func savePluginDirs(path string, dirs []string) error {
	if len(dirs) == 0 {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
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
