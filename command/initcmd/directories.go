package initcmd

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// fit finds options that can't be used with several directories.
func (o *options) fit(m *cli.Meta, count int, log *problem.Log) {
	const why = "It works in one directory."
	m.Conflict(log, o.fromModule != "", "-from-module", "-recursive", why)
	m.Conflict(log, o.stateFile != "", o.by["state"], "-recursive", why)
	if dir := workdir.DataDir(m.Env); filepath.IsAbs(dir) && count > 1 {
		log.Fail("invalid_variable", "Directories can't share a data directory",
			"TF_DATA_DIR is %q, and there are %d directories: each would overwrite the files of the others. Set it to a relative path, or unset it.", dir, count)
	}
}

// inside returns the options for a directory: relative paths are resolved against start, the directory in which the program was started, and
// {dir} in the values of -backend-config and -var-file is replaced by the directory.
func (o options) inside(start, dir string) options {
	o.pluginDirs, o.policies, o.mirrors = roots.Paths(o.pluginDirs, start), roots.Paths(o.policies, start), roots.Paths(o.mirrors, start)
	o.backend.config = result.Each(o.backend.config, func(given string) string {
		if given = roots.In(given, dir); given == "" || strings.Contains(given, "=") {
			return given
		}
		return workdir.In(start, given)
	})
	o.modules.Inputs = roots.Inputs(o.modules.Inputs, start, dir)
	return o
}

// versionsOf has the directories that lock each version of a provider.
type versionsOf map[getproviders.Provider]map[getproviders.Version][]string

func (v versionsOf) add(dir string, product getproviders.Product) {
	locks, _ := depsfile.Load(depsfile.FileName, product)
	for _, lock := range locks.All() {
		if v[lock.Provider] == nil {
			v[lock.Provider] = map[getproviders.Version][]string{}
		}
		v[lock.Provider][lock.Version] = append(v[lock.Provider][lock.Version], dir)
	}
}

// tell prints which providers are locked at different versions, and reports whether there are any.
func (v versionsOf) tell(r request) (differ bool) {
	for _, p := range slices.SortedFunc(maps.Keys(v), getproviders.Provider.Compare) {
		var versions [][]string
		for _, version := range slices.SortedFunc(maps.Keys(v[p]), getproviders.Version.Compare) {
			versions = append(versions, slices.Insert(v[p][version], 0, version.String()))
		}
		if len(versions) > 1 {
			r.view.Differ(p, versions)
			differ = true
		}
	}
	return differ
}
