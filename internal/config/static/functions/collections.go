package functions

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// anything is a parameter of any type.
func anything(name string) function.Parameter { return param(name, cty.DynamicPseudoType) }

func param(name string, typ cty.Type) function.Parameter {
	return function.Parameter{Name: name, Type: typ}
}

// returning makes a function with a fixed result type.
func returning(typ cty.Type, impl func(args []cty.Value) (cty.Value, error), params ...function.Parameter) function.Function {
	return function.New(&function.Spec{
		Params: params, Type: function.StaticReturnType(typ),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args) },
	})
}

// length is the length of a collection, or the number of characters of a string.
var length = returning(cty.Number, func(args []cty.Value) (cty.Value, error) {
	switch typ := args[0].Type(); {
	case typ == cty.String:
		return stdlib.Strlen(args[0])
	case typ.IsObjectType():
		return cty.NumberIntVal(int64(len(typ.AttributeTypes()))), nil
	}
	return stdlib.Length(args[0])
}, function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true})

// decided makes a function whose result is by if any element is by, and the opposite if none is.
func decided(by cty.Value) function.Function {
	return returning(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		open := false
		for it := args[0].ElementIterator(); it.Next(); {
			switch _, flag := it.Element(); {
			case !flag.IsKnown():
				open = true
			case flag.IsNull() && by.False(), !flag.IsNull() && flag.RawEquals(by):
				return by, nil
			}
		}
		if open {
			return cty.UnknownVal(cty.Bool), nil
		}
		return by.Not(), nil
	}, param("list", cty.List(cty.Bool)))
}

// index is the position of an element in a list.
var index = returning(cty.Number, func(args []cty.Value) (cty.Value, error) {
	if typ := args[0].Type(); !typ.IsListType() && !typ.IsTupleType() {
		return cty.NilVal, function.NewArgErrorf(0, "must be a list or a tuple")
	}
	for it := args[0].ElementIterator(); it.Next(); {
		at, element := it.Element()
		equal, err := stdlib.Equal(element, args[1])
		switch {
		case err != nil:
			return cty.NilVal, err
		case !equal.IsKnown():
			return cty.UnknownVal(cty.Number), nil
		case equal.True():
			return at, nil
		}
	}
	return cty.NilVal, errors.New("the value isn't in the list")
}, anything("list"), anything("value"))

// lookup is an element of a map or an object, or the default.
var lookup = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "map", Type: cty.DynamicPseudoType, AllowUnknown: true},
		{Name: "key", Type: cty.String, AllowUnknown: true},
	},
	VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true, AllowNull: true},
	Type: func(args []cty.Value) (cty.Type, error) {
		typ, fallback := args[0].Type(), len(args) == 3
		switch {
		case len(args) > 3:
			return cty.NilType, fmt.Errorf("lookup takes two or three arguments, not %d", len(args))
		case typ.IsMapType():
			if fallback {
				if _, err := convert.Convert(args[2], typ.ElementType()); err != nil {
					return cty.NilType, function.NewArgErrorf(2, "must have the type of the map's elements")
				}
			}
			return typ.ElementType(), nil
		case !typ.IsObjectType():
			return cty.NilType, function.NewArgErrorf(0, "must be a map")
		case !args[1].IsKnown():
			return cty.DynamicPseudoType, nil
		case typ.HasAttribute(args[1].AsString()):
			return typ.AttributeType(args[1].AsString()), nil
		case fallback:
			return args[2].Type(), nil
		}
		return cty.NilType, function.NewArgErrorf(0, "has no attribute %q", args[1].AsString())
	},
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if !args[0].IsKnown() || !args[1].IsKnown() {
			return cty.UnknownVal(typ), nil
		}
		key := args[1].AsString()
		switch {
		case args[0].Type().IsObjectType() && args[0].Type().HasAttribute(key):
			return args[0].GetAttr(key), nil
		case args[0].Type().IsMapType() && args[0].HasIndex(args[1]).True():
			return args[0].Index(args[1]), nil
		case len(args) == 3:
			return convert.Convert(args[2], typ)
		}
		return cty.NilVal, fmt.Errorf("there is no key %q", key)
	},
})

// matchKeys are the values whose keys are in a set.
var matchKeys = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "values", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "keys", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "searchset", Type: cty.List(cty.DynamicPseudoType)},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		if typ, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); typ == cty.NilType {
			return cty.NilType, errors.New("keys and searchset must be of the same type")
		}
		return args[0].Type(), nil
	},
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if args[0].LengthInt() != args[1].LengthInt() {
			return cty.NilVal, errors.New("there must be as many keys as values")
		}
		if !args[0].IsWhollyKnown() || !args[1].IsWhollyKnown() || !args[2].IsWhollyKnown() {
			return cty.UnknownVal(typ), nil
		}
		unified, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()})
		keys, err := convert.Convert(args[1], unified)
		if err != nil {
			return cty.NilVal, err
		}
		wanted, err := convert.Convert(args[2], unified)
		if err != nil {
			return cty.NilVal, err
		}
		var found []cty.Value
		for i, key := range keys.AsValueSlice() {
			if slices.ContainsFunc(wanted.AsValueSlice(), key.RawEquals) {
				found = append(found, args[0].Index(cty.NumberIntVal(int64(i))))
			}
		}
		if len(found) == 0 {
			return cty.ListValEmpty(typ.ElementType()), nil
		}
		return cty.ListVal(found), nil
	},
})

var errNotOne = function.NewArgErrorf(0, "must be a list, set or tuple with one element or none")

// one is the only element of a collection, or null.
var one = function.New(&function.Spec{
	Params: []function.Parameter{anything("list")},
	Type: func(args []cty.Value) (cty.Type, error) {
		typ := args[0].Type()
		switch {
		case typ.IsListType() || typ.IsSetType():
			return typ.ElementType(), nil
		case typ.IsTupleType() && typ.Length() == 0:
			return cty.DynamicPseudoType, nil
		case typ.IsTupleType() && typ.Length() == 1:
			return typ.TupleElementType(0), nil
		}
		return cty.NilType, errNotOne
	},
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if !args[0].Length().IsKnown() { // a set with elements that may be equal
			return cty.UnknownVal(typ), nil
		}
		switch elements := args[0].AsValueSlice(); len(elements) {
		case 0:
			return cty.NullVal(typ), nil
		case 1:
			return elements[0], nil
		}
		return cty.NilVal, errNotOne
	},
})

// sum adds numbers.
var sum = returning(cty.Number, func(args []cty.Value) (total cty.Value, err error) {
	typ := args[0].Type()
	if !typ.IsListType() && !typ.IsSetType() && !typ.IsTupleType() {
		return cty.NilVal, function.NewArgErrorf(0, "must be a list, set or tuple of numbers")
	}
	if !args[0].IsWhollyKnown() {
		return cty.UnknownVal(cty.Number), nil
	}
	if args[0].LengthInt() == 0 {
		return cty.NilVal, function.NewArgErrorf(0, "can't be empty")
	}
	total = cty.Zero
	for _, element := range args[0].AsValueSlice() {
		number, err := convert.Convert(element, cty.Number)
		if err != nil || number.IsNull() {
			return cty.NilVal, function.NewArgErrorf(0, "must be a list, set or tuple of numbers")
		}
		if total, err = stdlib.Add(total, number); err != nil {
			return cty.NilVal, errors.New("opposite infinities have no sum")
		}
	}
	return total, nil
}, anything("list"))

// transpose converts lists by key to lists of keys by element.
var transpose = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "values", Type: cty.Map(cty.List(cty.String))}},
	Type:   function.StaticReturnType(cty.Map(cty.List(cty.String))),
	Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(typ), nil
		}
		keys := map[string][]cty.Value{}
		for it := args[0].ElementIterator(); it.Next(); { // in the order of the keys
			key, list := it.Element()
			if list.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "has a list that is null")
			}
			for _, element := range list.AsValueSlice() {
				if element.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "has a list with a null in it")
				}
				keys[element.AsString()] = append(keys[element.AsString()], key)
			}
		}
		if len(keys) == 0 {
			return cty.MapValEmpty(typ.ElementType()), nil
		}
		lists := map[string]cty.Value{}
		for value, of := range keys {
			lists[value] = cty.ListVal(of)
		}
		return cty.MapVal(lists), nil
	},
})

// unusable makes a function whose calls fail with err.
func unusable(err error) function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "vals", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true, AllowNull: true},
		Type:     func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, err },
		Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, err },
	})
}
