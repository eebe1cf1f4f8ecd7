package functions

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// marks are the functions that say what a value is to be used for.
func (env Environment) marks() map[string]function.Function {
	whole := []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true,
	}}
	of := func(typ function.TypeFunc, impl func(val cty.Value) (cty.Value, error)) function.Function {
		return function.New(&function.Spec{Params: whole, Type: typ, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args[0]) }})
	}
	same := func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }
	return map[string]function.Function{
		"sensitive": of(same, func(val cty.Value) (cty.Value, error) { return val.Mark(env.Sensitive), nil }),
		"nonsensitive": of(same, func(val cty.Value) (cty.Value, error) {
			val, marks := val.Unmark()
			delete(marks, env.Sensitive)
			return val.WithMarks(marks), nil
		}),
		"issensitive": of(function.StaticReturnType(cty.Bool), func(val cty.Value) (cty.Value, error) {
			marked := val.HasMark(env.Sensitive)
			if !marked && !val.IsKnown() {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(marked), nil
		}),
		"ephemeralasnull": of(same, func(val cty.Value) (cty.Value, error) {
			return cty.Transform(val, func(_ cty.Path, val cty.Value) (cty.Value, error) {
				plain, marks := val.Unmark()
				if _, ok := marks[env.Ephemeral]; !ok {
					return val, nil
				}
				delete(marks, env.Ephemeral)
				return cty.NullVal(plain.Type()).WithMarks(marks), nil
			})
		}),
	}
}
