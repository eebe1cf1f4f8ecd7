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
	same := func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }
	return map[string]function.Function{
		"sensitive": function.New(&function.Spec{Params: whole, Type: same, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return args[0].Mark(env.Sensitive), nil
		}}),
		"nonsensitive": function.New(&function.Spec{Params: whole, Type: same, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			val, marks := args[0].Unmark()
			delete(marks, env.Sensitive)
			return val.WithMarks(marks), nil
		}}),
		"issensitive": function.New(&function.Spec{Params: whole, Type: function.StaticReturnType(cty.Bool), Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			switch marked := args[0].HasMark(env.Sensitive); {
			case !marked && !args[0].IsKnown():
				return cty.UnknownVal(cty.Bool), nil
			default:
				return cty.BoolVal(marked), nil
			}
		}}),
		"ephemeralasnull": function.New(&function.Spec{Params: whole, Type: same, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.Transform(args[0], func(_ cty.Path, val cty.Value) (cty.Value, error) {
				plain, marks := val.Unmark()
				if _, ok := marks[env.Ephemeral]; !ok {
					return val, nil
				}
				delete(marks, env.Ephemeral)
				return cty.NullVal(plain.Type()).WithMarks(marks), nil
			})
		}}),
	}
}
