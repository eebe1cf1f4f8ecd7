package cliconfig

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/spelling"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// maxBytes is far more than any CLI configuration has.
const maxBytes = 1 << 20

// Read reads the CLI configuration from the locations that Find returned, and the variables that belong to it: TF_PLUGIN_CACHE_DIR,
// TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE, and those that the files name. Env returns the value of a variable, or "" if it
// isn't set. The product's rules apply to addresses.
//
// The main file comes first, then those of the directory by name. The first plugin_cache_dir counts, after TF_PLUGIN_CACHE_DIR; a
// host or credentials block replaces one for the same host in an earlier file; all files together may have one provider_installation
// block and one credentials helper.
//
// A file may be a pipe. If nobody writes it, Read waits until ctx is done.
//
// The Config is never nil. A missing required file and an unknown argument of an installation method are warnings; all other
// problems are errors, in the order of the files.
func Read(ctx context.Context, at Locations, env func(string) string, product getproviders.Product) (*Config, []Problem) {
	r := newReader(env, dialect.Of(product))
	r.ctx = ctx
	r.mainFile(at)
	r.directory(at.Dir)
	return r.result()
}

func (r *reader) mainFile(at Locations) {
	if at.File == "" {
		return
	}
	src, err := wholefile.ReadAny(r.ctx, at.File, maxBytes)
	switch {
	case err == nil:
		r.content(at.File, src)
	case !isAbsent(err):
		r.unreadable(at.File, err)
	case at.required:
		r.problems = append(r.problems, missing(at.File))
	}
}

// directory reads the files of the user's directory, which needn't exist.
func (r *reader) directory(dir string) {
	if dir == "" {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !isAbsent(err) {
		r.unreadable(dir, err)
	}
	for _, entry := range entries { // sorted
		if name := entry.Name(); strings.HasSuffix(name, ".tfrc") || strings.HasSuffix(name, ".tfrc.json") {
			r.fileOf(filepath.Join(dir, name))
		}
	}
}

func (r *reader) fileOf(path string) {
	src, err := wholefile.ReadAny(r.ctx, path, maxBytes)
	if err != nil {
		r.unreadable(path, err)
		return
	}
	r.content(path, src)
}

// result applies the environment variables and returns the Config.
func (r *reader) result() (*Config, []Problem) {
	c := r.config
	c.Tokens = hosts.NewStaticTokens(r.tokens)
	c.PluginCacheDir = cmp.Or(r.env("TF_PLUGIN_CACHE_DIR"), c.PluginCacheDir)
	return c, r.problems
}

// content merges one file into the Config.
func (r *reader) content(path string, src []byte) {
	r.file, r.own = path, fileOnly{tokens: map[hosts.Hostname]string{}}
	r.config.Files = append(r.config.Files, path)
	top, err := decode(src)
	if err == nil && !r.product.Understands("repeated_arguments") {
		err = top.repeated()
	}
	if err != nil {
		r.problem(err.line, "The file can't be parsed: %s.%s", explained(err, src), shownLine(src, err.line))
		return
	}
	for _, f := range top.object {
		r.topLevel(f)
	}
	if more := r.own.problems - maxProblems; more > 0 {
		r.problems = append(r.problems, Problem{Summary: "Invalid CLI configuration", Detail: fmt.Sprintf("And %d more problems.\n\nThis is about %s.", more, path), File: path, Warning: r.own.errors == 0})
	}
	maps.Copy(r.tokens, r.own.tokens)
	r.config.PluginCacheDir = cmp.Or(r.config.PluginCacheDir, r.own.cacheDir)
}

// isAbsent reports whether a file or its directory doesn't exist.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func missing(path string) Problem {
	return Problem{
		Warning: true,
		Summary: "Unable to open CLI configuration file",
		Detail:  fmt.Sprintf("The CLI configuration file at %q does not exist.", path),
		File:    path,
	}
}

func (r *reader) unreadable(path string, err error) {
	r.problems = append(r.problems, Problem{
		Summary: "Unable to read CLI configuration file",
		Detail:  fmt.Sprintf("The CLI configuration can't be read: %v.", err),
		File:    path,
	})
}

// reader collects the settings of the files, one after the other.
type reader struct {
	ctx     context.Context
	env     func(string) string
	product dialect.Dialect

	file string   // the current file
	own  fileOnly // its content

	config           *Config
	tokens           map[hosts.Hostname]string
	installations    int // number of provider_installation blocks in all files
	ociDefaultBlocks int // number of oci_default_credentials blocks in all files
	problems         []Problem
}

// fileOnly has the settings of one file whose repetition within a file has another meaning than
// across files.
type fileOnly struct {
	problems int // including warnings
	errors   int
	cacheDir string                    // the last one of a file counts, and the first file's of all files
	tokens   map[hosts.Hostname]string // blocks for a host are merged, but a later file replaces them
}

func newReader(env func(string) string, product dialect.Dialect) *reader {
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

// topLevel handles all keys that matter. Other keys have no effect in any tool, or none on
// providers and modules. tfdeps doesn't check for new versions of Terraform, so it checks only the
// type of the keys for that.
func (r *reader) topLevel(f field) {
	switch isOCI := r.product.Understands("oci"); {
	case f.is("host"):
		r.labelled(f, "hostname", `host "registry.example.com"`, r.host)
	case f.is("credentials"):
		r.labelled(f, "hostname", `credentials "registry.example.com"`, r.credentials)
	case f.is("credentials_helper"):
		r.labelled(f, "name", `credentials_helper "name"`, r.credentialsHelper)
	case f.is("provider_installation"):
		r.installation(f)
	case f.is("oci_credentials") && isOCI:
		r.labelled(f, "address", `oci_credentials "registry.example.com"`, r.ociCredentials)
	case f.is("oci_default_credentials") && isOCI:
		r.ociDefaults(f)
	case f.is("plugin_cache_dir"):
		r.pluginCacheDir(f)
	case f.is("plugin_cache_may_break_dependency_lock_file"):
		r.flag(f) // no effect: a cached package is used if the lock file has its hash
		r.setting("plugin_cache_may_break_dependency_lock_file", "", f.line)
	case f.is("disable_checkpoint"), f.is("disable_checkpoint_signature"):
		r.flag(f)
	}
}

// flag reads true or false.
func (r *reader) flag(f field) bool {
	if f.value.kind != isBool {
		r.problem(f.line, "The value of %s must be true or false, but it is %s.", f.name, f.value.kind)
		return false
	}
	return f.value.text == "true"
}

// pluginCacheDir expands $NAME and ${NAME}. As in Terraform, an unset variable is empty.
func (r *reader) pluginCacheDir(f field) {
	dir, ok := f.value.words()
	if !ok && f.value.kind != isNull {
		r.problem(f.line, "The value of %s must be a string, but it is %s.", f.name, f.value.kind)
		return
	}
	r.own.cacheDir = os.Expand(dir, r.env)
	r.setting("plugin_cache_dir", "", f.line)
}

// labelled reads blocks that need a label, one by one. example is the beginning of such a block.
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

// setting records the position of a statement.
func (r *reader) setting(name, label string, line int) {
	r.config.Settings = append(r.config.Settings, cliblock.Setting{Name: name, Label: label, File: r.file, Line: line})
}

// problem reports a problem with the general summary.
func (r *reader) problem(line int, format string, args ...any) {
	r.report("Invalid CLI configuration", line, format, args...)
}

// maxProblems is how many problems of a file are reported.
const maxProblems = 50

func (r *reader) report(summary string, line int, format string, args ...any) {
	r.own.errors++
	r.add(Problem{Summary: summary, Detail: fmt.Sprintf(format, args...), Line: line})
}

func (r *reader) add(p Problem) {
	if r.own.problems++; r.own.problems <= maxProblems {
		if p.File = r.file; p.Line == 0 {
			p.Detail += "\n\nThis is about " + p.File + "."
		}
		r.problems = append(r.problems, p)
	}
}

// unknown warns of an argument without effect. Terraform ignores it silently, so that a misspelt "exclude" lets packages
// come from forbidden sources.
func (r *reader) unknown(f field, block string, known []string) {
	r.add(Problem{
		Warning: true, Summary: "Unknown argument in the CLI configuration", Line: f.line,
		Detail: fmt.Sprintf("A %s block has no argument %.100q: it is ignored.%s", block, f.name, meant(f, known)),
	})
}

// meant suggests the known name that is closest to a field's name.
func meant(f field, known []string) string {
	if name := spelling.Closest(strings.ToLower(f.name), known); name != "" {
		return fmt.Sprintf(" Did you mean %q?", name)
	}
	return ""
}

// harmless are the settings whose values aren't secret and can be shown.
var harmless = []string{"path", "include", "exclude", "plugin_cache_dir", "plugin_cache_may_break_dependency_lock_file", "disable_checkpoint",
	"disable_checkpoint_signature", "provider_installation", "filesystem_mirror", "network_mirror", "direct", "dev_overrides"}

// secretive are the settings whose values are never shown.
var secretive = []string{"token", "url", "args", "services", "credentials", "credentials_helper", "host"}

// setting splits a line into the name at its beginning, the sign after that ("=", ":" or none), and
// the value. The name is "" if the line begins with another character.
func setting(line string) (name, sign, value string) {
	rest := strings.TrimSpace(line)
	quoted := strings.HasPrefix(rest, `"`)
	rest = strings.TrimPrefix(rest, `"`)
	isName := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isName(r) })
	if end < 0 {
		end = len(rest)
	}
	name, rest = rest[:end], rest[end:]
	if quoted {
		rest = strings.TrimPrefix(rest, `"`)
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":") {
		sign, rest = rest[:1], strings.TrimSpace(rest[1:])
	}
	return name, sign, rest
}

// isBare reports whether a value begins with a character that needs quotes.
func isBare(value string) bool {
	return value != "" && value != "true" && value != "false" && !strings.ContainsAny(value[:1], "\"[{<0123456789")
}

// lineOf returns a line of a file. The first line is 1.
func lineOf(src []byte, line int) string {
	lines := bytes.Split(src, []byte("\n"))
	if line < 1 || line > len(lines) {
		return ""
	}
	return string(bytes.TrimRight(lines[line-1], "\r"))
}

// explained returns the text of a syntax error, or says that quotes are missing if the line shows
// that.
func explained(err *syntaxError, src []byte) string {
	name, sign, value := setting(lineOf(src, err.line))
	if !slices.Contains(harmless, name) && !slices.Contains(secretive, name) || sign != "=" || !isBare(value) {
		return err.text
	}
	text := fmt.Sprintf("quotes are missing around the value of %q", name)
	if slices.Contains(harmless, name) {
		text += fmt.Sprintf(", which has to be %s = %.200q", name, value)
	}
	return text
}

// shownLine returns a line of a file for messages, after an empty line, without the value if that
// may be secret. It returns "" if all of the line may be secret.
func shownLine(src []byte, line int) string {
	text := lineOf(src, line)
	name, sign, value := setting(text)
	switch {
	case slices.Contains(harmless, name):
		return fmt.Sprintf("\n\n  %d: %.200s", line, text)
	case slices.Contains(secretive, name) && sign != "" && value != "":
		return fmt.Sprintf("\n\n  %d: %s %s ...", line, name, sign)
	default:
		return ""
	}
}
