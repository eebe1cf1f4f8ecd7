package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// InputSources are the sources of values for the root module's variables, besides the files that
// are always read. The zero value has none.
type InputSources struct {
	// Arguments are the options -var and -var-file, in order.
	Arguments []InputArgument

	// Environ is the environment, as os.Environ returns it. Variables with the prefix TF_VAR_ are
	// read.
	Environ []string

	// WorkingDir is the base of relative paths of -var-file; "" means the process's working
	// directory.
	WorkingDir string

	// FS has the files, as in [Options]; nil means the file system of the process. Files of
	// -var-file are in it, too, and have no absolute paths.
	FS fs.FS

	// Within is the directory that no symlink of the files that are always read may lead out of, for a foreign module;
	// "" means any.
	Within string

	// Product is the product whose rules apply; zero means Terraform.
	Product getproviders.Product
}

// InputArgument is an option -var, or -var-file if File is set.
type InputArgument struct {
	Assignment string // "name=value"
	File       string
}

// inputVariablePrefix is the prefix of environment variables for input variables.
const inputVariablePrefix = "TF_VAR_"

// ReadInputs collects the values for the variables of the root module in dir, for [Options.Inputs]. Later
// sources in this list replace earlier ones: the environment, terraform.tfvars, terraform.tfvars.json, files
// *.auto.tfvars and *.auto.tfvars.json in the order of their names, also hidden ones, and the arguments in
// order.
//
// Values are never nil, and as complete as possible. The problems are those that end a run of Terraform 1.15
// and newer, or of OpenTofu, whether or not the value decides something. For Terraform, they include values
// that can't be computed; those with an [InputValue] matter only if the module declares the variable: see
// [Module.DeclaresVariable]. For OpenTofu such values are no problem here: the value has the reason, and fails
// when it is used.
func ReadInputs(ctx context.Context, dir string, sources InputSources) (Values, hcl.Diagnostics) {
	r := inputReader{ctx: ctx, files: files.System{FS: sources.FS}, values: Values{}, invalid: map[string]hcl.Diagnostics{}, lazy: dialect.Of(sources.Product).Understands("any_variable")}
	for _, entry := range sources.Environ {
		name, text, ok := strings.Cut(entry, "=")
		if name, found := strings.CutPrefix(name, inputVariablePrefix); ok && found && name != "" {
			r.values[name] = cty.StringVal(text).Mark(static.ValueSource{From: "the environment variable " + inputVariablePrefix + name, Text: true})
		}
	}
	for _, name := range r.automatic(dir) {
		name = filepath.Join(dir, name)
		if _, err := r.files.Confine(sources.Within, name); err != nil {
			r.found.report(diagnostic.Unreadable("Failed to read variables file", fmt.Errorf("%s is a symlink to another file: %w", name, err)))
			continue
		}
		r.file(name, false)
	}
	for _, arg := range sources.Arguments {
		switch {
		case arg.File == "":
			r.assign(arg.Assignment)
		case filepath.IsAbs(arg.File):
			r.file(arg.File, true)
		default:
			r.file(filepath.Join(sources.WorkingDir, arg.File), true)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.invalid)) {
		r.found.report(r.invalid[name]...)
	}
	return r.values, r.found.diags
}

// InputValue is the Extra of a problem with a file's value for a variable. Terraform ignores values of
// undeclared variables.
type InputValue struct{ Variable string }

// inputReader collects values; later ones replace earlier ones.
type inputReader struct {
	ctx     context.Context
	files   files.System
	values  Values
	invalid map[string]hcl.Diagnostics // problems of files' values that no later value has replaced
	found   reporter
	lazy    bool // only values that are used must be valid
}

func (r *inputReader) set(name string, val cty.Value) {
	r.values[name] = val
	delete(r.invalid, name)
}

// automatic lists the files that are always read, in order.
func (r *inputReader) automatic(dir string) (names []string) {
	entries, err := r.files.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.found.report(diagnostic.Unreadable("Failed to read module directory", err))
	}
	var first []string
	for _, entry := range entries { // sorted; reading a directory fails later
		switch name := entry.Name(); {
		case name == "terraform.tfvars", name == "terraform.tfvars.json":
			// A link that leads nowhere counts as no file, which differs from those of the other names.
			_, err := r.files.Stat(filepath.Join(dir, name))
			if err == nil {
				first = append(first, name)
			}
		case strings.HasSuffix(name, ".auto.tfvars"), strings.HasSuffix(name, ".auto.tfvars.json"):
			names = append(names, name)
		}
	}
	return append(first, names...)
}

// file reads a file of values.
func (r *inputReader) file(path string, argument bool) {
	read := r.files.Read
	if argument && r.files.FS == nil {
		read = func(path string, max int64) ([]byte, error) { // may be a pipe, which users pass secrets through
			return wholefile.ReadAny(r.ctx, path, max)
		}
	}
	src, err := read(path, maxFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist) && argument:
		r.found.report(diagnostic.Placeless("Failed to read variables file", "The variables file %s, which an argument names, does not exist.", path))
		return
	case err != nil:
		r.found.report(diagnostic.Unreadable("Failed to read variables file", err))
		return
	}
	file, diags := static.Parse(src, path)
	r.found.report(diags...)
	if file == nil || file.Body == nil {
		return
	}
	attrs, diags := file.Body.JustAttributes()
	r.found.report(diags...)
	for _, attr := range inOrder(attrs) {
		val, diags := static.Evaluate(attr.Expr)
		source := static.ValueSource{From: attr.Range.String(), At: attr.Expr.Range()}
		if r.lazy && diags.HasErrors() {
			r.set(attr.Name, static.Unusable(source, diags))
			continue
		}
		for _, diag := range diags {
			diag.Extra = InputValue{attr.Name}
		}
		if r.set(attr.Name, val.Mark(source)); diags.HasErrors() {
			delete(r.values, attr.Name)
			r.invalid[attr.Name] = diags
		}
	}
}

// inOrder sorts arguments by position.
func inOrder(attrs hcl.Attributes) []*hcl.Attribute {
	return slices.SortedFunc(maps.Values(attrs), func(a, b *hcl.Attribute) int { return a.Range.Start.Byte - b.Range.Start.Byte })
}

// assign reads name=value. It reports problems without the value, which may be secret.
func (r *inputReader) assign(assignment string) {
	name, text, ok := strings.Cut(assignment, "=")
	var detail string
	switch {
	case !ok:
		detail = "A -var option is the name of a variable, an equals sign and a value, like -var=\"key=value\". One that was given has no equals sign."
	case name == "" && !r.lazy:
		detail = "A -var option has no name before the equals sign."
	case strings.TrimSpace(name) != name && !r.lazy, strings.HasSuffix(name, " "):
		detail = fmt.Sprintf("The name of the variable has spaces around it: %q. Write -var=%q.", name, strings.TrimSpace(name)+"=...")
	default:
		r.set(name, cty.StringVal(text).Mark(static.ValueSource{From: fmt.Sprintf("the option -var=%q", name+"=..."), Text: true, Argument: true}))
		return
	}
	r.found.report(diagnostic.Coded("invalid_option", diagnostic.Placeless("Invalid -var option", "%s", detail)))
}
