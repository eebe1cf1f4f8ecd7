package cliconfig

import (
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

func newConfig() *Config {
	return &Config{Hosts: map[hosts.Hostname]map[string]string{}}
}

// parse reads one file.
func parse(src []byte, filename string) (*Config, []Problem) {
	r := &reader{file: filename, config: newConfig()}
	top, err := decode(src)
	if err != nil {
		r.problem(err.line, "The file can't be parsed: %s.", err.text)
		return r.config, r.problems
	}
	for _, f := range top.object {
		r.topLevel(f)
	}
	return r.config, r.problems
}

// reader collects what one file says.
type reader struct {
	file     string
	config   *Config
	problems []Problem
}

// topLevel knows all keys. What isn't here has no effect in any tool, or none
// on what this module does (disable_checkpoint, providers, provisioners).
func (r *reader) topLevel(f field) {
	switch {
	case f.is("host"):
		r.hosts(f)
	case f.is("provider_installation"),
		f.is("credentials"),
		f.is("credentials_helper"),
		f.is("plugin_cache_dir"),
		f.is("plugin_cache_may_break_dependency_lock_file"):
		r.unsupported(f)
	}
}

func (r *reader) unsupported(f field) {
	r.config.Unsupported = append(r.config.Unsupported, Unsupported{Name: f.name, File: r.file, Line: f.line})
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		Summary: "Invalid CLI configuration",
		Detail:  fmt.Sprintf(format, args...),
		File:    r.file,
		Line:    line,
	})
}
