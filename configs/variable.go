package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// variable is an input variable. Only constant ones can have a say in which
// modules there are, and nothing but the name is known of others. In OpenTofu all
// are constant.
type variable struct {
	name     string
	constant bool               // whether its value may have a say
	declared bool               // whether its block says so, so that the value has to be right whoever needs it
	typ      cty.Type           // what values are converted to
	typed    bool               // whether there is a type; text is taken as it is if not
	optional *typeexpr.Defaults // of optional attributes; nil: none
	attrs    hcl.Attributes     // as they were written
	secrets  []secrecy          // what the value must not be used for
	nullable bool
	header   hcl.Range
}

// settle reads the arguments, once it is known what override files change.
// What is wrong with them is told with the block, but for a default value of
// another type.
func (v *variable) settle(static bool) *hcl.Diagnostic {
	v.declared, v.nullable = v.flag("const", false), v.flag("nullable", true)
	v.constant = v.declared || static
	for _, secret := range []secrecy{sensitive, ephemeral} {
		if v.flag(string(secret), false) {
			v.secrets = append(v.secrets, secret)
		}
	}
	v.typ, v.typed = cty.DynamicPseudoType, false
	def := v.attrs["default"]
	if attr := v.attrs["type"]; attr != nil && (v.constant || def != nil) {
		v.readType(attr.Expr)
	}
	if def == nil {
		return nil
	}
	if result := v.fallback(); result.problem != nil {
		return result.problem
	}
	return nil
}

// flag is the value of an argument that is true or false.
func (v *variable) flag(name string, usual bool) bool {
	attr, ok := v.attrs[name]
	if !ok {
		return usual
	}
	val, diags := evaluate(attr.Expr)
	if diags.HasErrors() {
		return usual
	}
	val, err := convert.Convert(val, cty.Bool)
	if err != nil || val.IsNull() || !val.IsKnown() {
		return usual
	}
	return val.True()
}

// readType reads a type, in the oldest way to write it, too.
func (v *variable) readType(expr hcl.Expression) {
	switch hcl.ExprAsKeyword(expr) {
	case "list":
		v.typ, v.typed = cty.List(cty.DynamicPseudoType), true
		return
	case "map":
		v.typ, v.typed = cty.Map(cty.DynamicPseudoType), true
		return
	}
	if native, ok := embedded(expr); !ok || !cheap(native) {
		return
	}
	typ, defaults, diags := typeexpr.TypeConstraintWithDefaults(expr)
	if !diags.HasErrors() {
		v.typ, v.optional, v.typed = typ, defaults, true
	}
}

// value is the value that the variable has in a module.
func (v *variable) value(root bool, inputs Values) outcome {
	if !v.constant {
		return unknown
	}
	given, ok := inputs[v.name]
	val, from := takeOrigin(given)
	switch {
	case ok && !val.IsKnown():
		return unknown
	case ok && (v.nullable || !val.IsNull() || v.attrs["default"] == nil):
		return v.convert(val, from)
	case v.attrs["default"] != nil:
		return v.fallback()
	case root && inputs != nil:
		return failed(v.header, "No value for required variable",
			"The variable %q has no default value. It can be given one with -var or -var-file, in a .tfvars file, or in the environment as TF_VAR_%s.", v.name, v.name)
	}
	return unknown // a plan is going to miss the argument
}

// fallback is the value that the variable has if none is given.
func (v *variable) fallback() outcome {
	attr := v.attrs["default"]
	val, diags := evaluate(attr.Expr)
	if diags.HasErrors() {
		return unknown // told with the block
	}
	if val.IsNull() && !v.nullable {
		return failed(attr.Expr.Range(), "Invalid default value for variable", "A variable that can't be null can't be null by default.")
	}
	return v.convert(val, v.byDefault())
}

// byDefault is where the default value comes from.
func (v *variable) byDefault() (from origin) {
	if attr := v.attrs["default"]; attr != nil {
		from = origin{from: "its default", at: attr.Expr.Range()}
	}
	return from
}

// convert gives a value the variable's type.
func (v *variable) convert(val cty.Value, from origin) outcome {
	at := from.at
	if at == (hcl.Range{}) || slices.Contains(v.secrets, sensitive) {
		at = v.header
	}
	val, marks := val.UnmarkDeep()
	if from.text {
		read := v.read(val, from)
		if read.problem != nil {
			return read
		}
		val = read.val
	}
	if val.IsNull() && !v.nullable {
		return failed(at, "Required variable not set", "The variable %q can't be null, which is what it gets from %s.", v.name, from.from)
	}
	if v.optional != nil && !val.IsNull() {
		val = v.optional.Apply(val)
	}
	val, err := convert.Convert(val, v.typ)
	if err != nil {
		summary := "Invalid value for input variable"
		if from == v.byDefault() {
			summary, at = "Invalid default value for variable", from.at
		}
		return failed(at, summary, "The value of var.%s, which is from %s, doesn't fit its type: %v.", v.name, from.from, err)
	}
	for _, secret := range v.secrets {
		val = val.Mark(secret)
	}
	return outcome{val: val.WithMarks(marks)}
}

// read turns text into a value: as it is if the type is a simple one or there
// is none, else as an expression.
func (v *variable) read(val cty.Value, from origin) outcome {
	if !v.typed || v.typ.IsPrimitiveType() {
		return outcome{val: val}
	}
	expr, diags := ParseArgument(val.AsString(), "<value for var."+v.name+">")
	if !diags.HasErrors() {
		if val, diags = evaluate(expr); !diags.HasErrors() {
			return outcome{val: val}
		}
	}
	if slices.Contains(v.secrets, sensitive) {
		return failed(v.header, "Invalid value for input variable", "The value of var.%s, which is from %s, is no expression.", v.name, from.from)
	}
	return outcome{cty.DynamicVal, diags.Errs()[0].(*hcl.Diagnostic)}
}
