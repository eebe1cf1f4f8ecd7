package cliconfig

import (
	"fmt"
	"os"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// reader collects what the files say, one after the other.
type reader struct {
	env     func(string) string
	product getproviders.Product

	file string   // that is being read
	own  fileOnly // what it says

	config        *Config
	tokens        map[hosts.Hostname]string
	installations int // provider_installation blocks, in all files
	problems      []Problem
}

// fileOnly is what repeats within a file in other ways than across files.
type fileOnly struct {
	cacheDir string                    // the last one counts, but the first file's
	tokens   map[hosts.Hostname]string // blocks for a host add up, but a later file replaces them
}

func newReader(env func(string) string, product getproviders.Product) *reader {
	return &reader{
		env:     env,
		product: product,
		tokens:  map[hosts.Hostname]string{},
		config: &Config{
			Hosts:        map[hosts.Hostname]map[string]string{},
			DevOverrides: map[getproviders.Provider]string{},
		},
	}
}

// topLevel knows all keys that matter. What isn't here has no effect in any
// tool, or none on what this module does (disable_checkpoint, providers,
// provisioners).
func (r *reader) topLevel(f field) {
	switch {
	case f.is("host"):
		r.hosts(f)
	case f.is("credentials"):
		r.credentials(f)
	case f.is("credentials_helper"):
		r.credentialsHelpers(f)
	case f.is("provider_installation"):
		r.installation(f)
	case f.is("plugin_cache_dir"):
		r.pluginCacheDir(f)
	case f.is("plugin_cache_may_break_dependency_lock_file"):
		if f.value.kind != isBool {
			r.problem(f.line, "The value of %s must be true or false, but it is %s.", f.name, f.value.kind)
		} else if f.value.text == "true" {
			r.config.MayBreakLockFile = true
		}
	}
}

// pluginCacheDir expands $NAME and ${NAME}; a variable that isn't set is
// empty, as in the real tool.
func (r *reader) pluginCacheDir(f field) {
	dir, ok := f.value.words()
	if !ok && f.value.kind != isNull {
		r.problem(f.line, "The value of %s must be a string, but it is %s.", f.name, f.value.kind)
		return
	}
	r.own.cacheDir = os.Expand(dir, r.env)
}

// labelled reads blocks that have to have a label, each by itself; example is
// how one begins.
func (r *reader) labelled(block field, label, example string, read func(field)) {
	named, ok := block.value.fields()
	if !ok {
		r.problem(block.line, "A %s block needs a %s and braces, as in: %s { ... }. This is %s.",
			strings.ToLower(block.name), label, example, block.value.kind)
		return
	}
	for _, f := range named {
		read(f)
	}
}

// problem reports what has no more special summary.
func (r *reader) problem(line int, format string, args ...any) {
	r.report("Invalid CLI configuration", line, format, args...)
}

func (r *reader) report(summary string, line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		Summary: summary,
		Detail:  fmt.Sprintf(format, args...),
		File:    r.file,
		Line:    line,
	})
}
