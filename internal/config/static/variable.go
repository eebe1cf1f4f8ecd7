package static

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static/functions"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Variable is an input variable. Only constant variables can decide which modules are installed;
// values of others are ignored. In OpenTofu all are constant.
type Variable struct {
	Name     string
	constant bool               // its value may decide which modules are installed
	declared bool               // its block has const = true, so the value is checked even if nothing uses it
	denied   bool               // its block has const = false, in products in which variables are constant by default
	typ      cty.Type           // the type that values are converted to
	typed    bool               // it has a type; without one text isn't parsed
	optional *typeexpr.Defaults // of optional attributes; nil without any
	Attrs    hcl.Attributes     // as written
	secrets  []functions.Mark   // secrets that the value is marked as
	nullable bool

	Validations []Validation // of its validation blocks
	Header      hcl.Range
}

// Override applies the block of an override file.
func (v *Variable) Override(changed *Variable) {
	maps.Copy(v.Attrs, changed.Attrs)
	if len(changed.Validations) > 0 {
		v.Validations = changed.Validations
	}
}

// prepare reads the arguments, after override files have been applied. Problems with them are
// reported with the block, except a default value of another type.
func (v *Variable) prepare(product dialect.Dialect) *hcl.Diagnostic {
	v.declared, v.nullable = IsTrue(v.Attrs["const"]), truth(v.Attrs["nullable"], true)
	isAny := product.Understands("any_variable")
	v.constant = v.declared || isAny
	v.denied = isAny && !v.declared && v.Attrs["const"] != nil
	for _, secret := range []functions.Mark{functions.Sensitive, functions.Ephemeral} {
		if IsTrue(v.Attrs[string(secret)]) {
			v.secrets = append(v.secrets, secret)
		}
	}
	v.typ, v.typed = cty.DynamicPseudoType, false
	def := v.Attrs["default"]
	if attr := v.Attrs["type"]; attr != nil && (v.constant || def != nil) {
		v.readType(attr.Expr)
	}
	if def == nil {
		return nil
	}
	if found := v.fallback(); len(found.problems) > 0 {
		return found.problems[0]
	}
	return nil
}

// IsTrue reports whether an argument is true. It is false for nil.
func IsTrue(attr *hcl.Attribute) bool { return truth(attr, false) }

// truth returns a boolean argument, or usual if it is missing or no known boolean.
func truth(attr *hcl.Attribute, usual bool) bool {
	if attr == nil {
		return usual
	}
	val, diags := Evaluate(attr.Expr)
	if diags.HasErrors() {
		return usual
	}
	val, err := convert.Convert(val, cty.Bool)
	if err != nil || val.IsNull() || !val.IsKnown() {
		return usual
	}
	return val.True()
}

// readType reads a type. An invalid one allows any value.
func (v *Variable) readType(expr hcl.Expression) {
	if typ, defaults, _ := Type(expr); typ != cty.NilType {
		v.typ, v.optional, v.typed = typ, defaults, true
	}
}

// Type returns the type of a type expression, also in the oldest syntax, and the defaults of optional attributes. It
// returns cty.NilType if there are problems, or if evaluating those defaults would cost too much.
func Type(expr hcl.Expression) (cty.Type, *typeexpr.Defaults, hcl.Diagnostics) {
	switch hcl.ExprAsKeyword(expr) {
	case "list":
		return cty.List(cty.DynamicPseudoType), nil, nil
	case "map":
		return cty.Map(cty.DynamicPseudoType), nil, nil
	}
	if native, ok := Native(expr); !ok || !Cheap(native) {
		return cty.NilType, nil, nil
	}
	typ, defaults, diags := typeexpr.TypeConstraintWithDefaults(expr)
	if diags.HasErrors() {
		typ = cty.NilType
	}
	return typ, defaults, diags
}

// value returns the value of a variable in the module.
func (s *Scope) value(v *Variable) result {
	if !v.constant {
		return unknown
	}
	given, ok := s.inputs[v.Name]
	val, from := takeSource(given)
	switch {
	case ok && from.problems != nil:
		return result{val: cty.DynamicVal, problems: *from.problems}
	case ok && from.Call && !s.product.Understands("any_variable") && !val.IsWhollyKnown():
		return failed(from.At, "Const variables must be known",
			"The variable %q of the module has const = true, so its value has to be known before anything is installed. This one isn't.", v.Name)
	case ok && !val.IsKnown():
		return unknown
	case ok && (v.nullable || !val.IsNull() || v.Attrs["default"] == nil):
		return v.convert(val, from)
	case v.Attrs["default"] != nil:
		return v.fallback()
	case s.Root && s.inputs != nil:
		return failed(v.Header, "No value for required variable",
			"The variable %q has no default value. It can be given one with -var or -var-file, in a .tfvars file, or in the environment as TF_VAR_%s.", v.Name, v.Name)
	case !s.Root && s.Called != (hcl.Range{}):
		return failed(s.Called, s.called("Missing required argument", "Missing required variable in module call"),
			"The variable %q of the module has no default value, and the call has no argument for it.", v.Name)
	}
	return unknown // plan will report the missing argument
}

// fallback returns the variable's default value.
func (v *Variable) fallback() result {
	attr := v.Attrs["default"]
	val, diags := Evaluate(attr.Expr)
	if diags.HasErrors() {
		return unknown // reported with the block
	}
	if val.IsNull() && !v.nullable {
		return failed(attr.Expr.Range(), "Invalid default value for variable", "With nullable = false, the default can't be null.")
	}
	return v.convert(val, v.byDefault())
}

// byDefault returns the source of the default value.
func (v *Variable) byDefault() (from ValueSource) {
	if attr := v.Attrs["default"]; attr != nil {
		from = ValueSource{From: "its default", At: attr.Expr.Range()}
	}
	return from
}

// convert converts a value to the variable's type.
func (v *Variable) convert(val cty.Value, from ValueSource) result {
	at := from.At
	if at == (hcl.Range{}) || slices.Contains(v.secrets, functions.Sensitive) {
		at = v.Header
	}
	val, marks := val.UnmarkDeep()
	if from.Text {
		read := v.read(val, from)
		if len(read.problems) > 0 {
			return read
		}
		val = read.val
	}
	if val.IsNull() && !v.nullable {
		return failed(at, "Required variable not set", "The variable %q can't be null, which is what it gets from %s.", v.Name, from.From).itself()
	}
	if v.optional != nil && !val.IsNull() {
		val = v.optional.Apply(val)
	}
	val, err := convert.Convert(val, v.typ)
	if err != nil {
		summary := "Invalid value for input variable"
		if from == v.byDefault() {
			summary, at = "Invalid default value for variable", from.At
		}
		return failed(at, summary, "The value of var.%s, which is from %s, doesn't fit its type: %v.", v.Name, from.From, err).itself()
	}
	for _, secret := range v.secrets {
		val = val.Mark(secret)
	}
	return result{val: val.WithMarks(marks)}
}

// read converts text to a value: unchanged if the type is primitive or missing, else parsed as an
// expression.
func (v *Variable) read(val cty.Value, from ValueSource) result {
	if !v.typed || v.typ.IsPrimitiveType() {
		return result{val: val}
	}
	expr, diags := ParseArgument(val.AsString(), "<value for var."+v.Name+">")
	if !diags.HasErrors() {
		if val, diags = Evaluate(expr); !diags.HasErrors() {
			return result{val: val}
		}
	}
	if slices.Contains(v.secrets, functions.Sensitive) {
		return failed(v.Header, "Invalid value for input variable", "The value of var.%s, which is from %s, is not an expression.", v.Name, from.From)
	}
	return because(diags.Errs()[0].(*hcl.Diagnostic))
}

// ValueSource is a mark that says where a value comes from.
type ValueSource struct {
	From     string           // for messages
	At       hcl.Range        // zero if it isn't in a file
	Text     bool             // to be parsed according to the variable's type
	Argument bool             // from the command line: the variable must exist
	Call     bool             // from a module block
	problems *hcl.Diagnostics // why it couldn't be computed; nil if it could
}

// Unusable returns a value that can't be computed, with the problems to report if it is used.
func Unusable(from ValueSource, problems hcl.Diagnostics) cty.Value {
	from.problems = &problems
	return cty.DynamicVal.Mark(from)
}

// takeSource returns a value without its ValueSource mark, and the mark.
func takeSource(val cty.Value) (cty.Value, ValueSource) {
	from := ValueSource{From: "the module's caller"}
	val, marks := val.Unmark()
	for mark := range marks {
		if o, ok := mark.(ValueSource); ok {
			from = o
			continue
		}
		val = val.Mark(mark)
	}
	return val, from
}

// maxUndeclared is how many values from files for undeclared variables are reported one by one.
const maxUndeclared = 2

// undeclared reports values for undeclared variables: an error for an argument, a warning for a
// file, which may have values for other configurations, and nothing for the environment, which may,
// too.
func (s *Scope) undeclared() (problems hcl.Diagnostics) {
	inFiles := 0
	for _, name := range slices.Sorted(maps.Keys(s.inputs)) {
		if _, ok := s.Variables[name]; ok {
			continue
		}
		_, from := takeSource(s.inputs[name])
		switch {
		case from.Argument:
			problems = append(problems, diagnostic.Placeless("Value for undeclared variable",
				"There is a value for %q on the command line, but no variable of that name in the root module.", name))
		case s.Within != "": // a copied configuration brings its own files, which the real programs don't read before the copy
		case s.Root && from.At != (hcl.Range{}):
			if inFiles++; inFiles <= maxUndeclared {
				problems = append(problems, diagnostic.Coded("invalid_configuration", diagnostic.PlacelessWarning("Value for undeclared variable",
					"There is a value for %q at %s, but no variable of that name in the root module. "+
						"A variable block declares it; the environment can have values for configurations that don't need them.", name, from.From)))
			}
		}
	}
	if inFiles > maxUndeclared {
		problems = append(problems, diagnostic.PlacelessWarning("Values for undeclared variables",
			"Files have values for %d more variables that aren't declared.", inFiles-maxUndeclared))
	}
	return problems
}

// readable reports text for a variable that can't be parsed according to its type, even if nothing
// uses it. Products with static evaluation parse only values that are used.
func (s *Scope) readable(v *Variable) hcl.Diagnostics {
	given, ok := s.inputs[v.Name]
	val, from := takeSource(given)
	if !ok || !s.Root || !from.Text || s.product.Understands("any_variable") {
		return nil
	}
	if attr := v.Attrs["type"]; attr != nil {
		v.readType(attr.Expr)
	}
	return v.read(val, from).problems
}

// Validation is a condition on the value of a variable.
type Validation struct {
	Condition *hcl.Attribute
	Message   *hcl.Attribute // shown for an invalid value; nil means none
}

// validate checks the value of a constant variable. Conditions with unknown values are left to
// plan.
func (s *Scope) validate(v *Variable) (problems hcl.Diagnostics) {
	if s.product.Understands("any_variable") {
		return nil // OpenTofu leaves all conditions to plan
	}
	for _, validation := range v.Validations {
		if problem := s.check(v, validation); problem != nil {
			problems = append(problems, problem)
		}
	}
	return problems
}

func (s *Scope) check(v *Variable, validation Validation) *hcl.Diagnostic {
	found := s.eval(validation.Condition.Expr)
	if len(found.problems) > 0 {
		return found.problems[0]
	}
	holds, err := convert.Convert(found.val, cty.Bool)
	at := validation.Condition.Expr.Range()
	switch holds, _ = holds.Unmark(); {
	case err != nil:
		return diagnostic.Error(at, "Invalid variable validation result", "The condition has to be true or false: %v.", err)
	case !holds.IsKnown():
		return nil
	case holds.IsNull():
		return diagnostic.Error(at, "Invalid variable validation result", "The condition has to be true or false, and is null.")
	case holds.True():
		return nil
	}
	return diagnostic.Error(v.Header, "Invalid value for variable", "%s", s.message(v, validation))
}

// message returns the block's message for an invalid value.
func (s *Scope) message(v *Variable, validation Validation) string {
	general := "The value of var." + v.Name + " doesn't fulfil the condition at " + validation.Condition.Expr.Range().String() + "."
	if validation.Message == nil {
		return general
	}
	found := s.eval(validation.Message.Expr)
	if len(found.problems) > 0 || isSecret(found.val) {
		return general
	}
	val, _ := found.val.UnmarkDeep()
	text, ok := Text(val)
	if !ok {
		return general
	}
	return strings.TrimSpace(text) + " " + general
}
