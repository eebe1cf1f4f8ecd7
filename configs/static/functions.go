package static

import (
	"errors"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions are those that sources and versions of modules can use: functions
// of their arguments alone, whose results aren't much larger than those.
func functions() map[string]function.Function {
	return map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc,
		"max": stdlib.MaxFunc, "min": stdlib.MinFunc, "signum": stdlib.SignumFunc,

		"chomp": stdlib.ChompFunc, "lower": stdlib.LowerFunc, "upper": stdlib.UpperFunc, "title": stdlib.TitleFunc,
		"trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc, "trimsuffix": stdlib.TrimSuffixFunc,
		"trimspace": stdlib.TrimSpaceFunc, "substr": stdlib.SubstrFunc, "strrev": stdlib.ReverseFunc,
		"split":   stdlib.SplitFunc,
		"format":  bounded(stdlib.FormatFunc, formatSize),
		"join":    bounded(stdlib.JoinFunc, joinSize),
		"replace": bounded(stdlib.ReplaceFunc, replaceSize),

		"coalesce": stdlib.CoalesceFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc,
		"contains": stdlib.ContainsFunc, "element": stdlib.ElementFunc,
		"keys": stdlib.KeysFunc, "lookup": stdlib.LookupFunc, "merge": stdlib.MergeFunc,
		"reverse": stdlib.ReverseListFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "values": stdlib.ValuesFunc,

		"length":   length,
		"tostring": stdlib.MakeToFunc(cty.String), "tonumber": stdlib.MakeToFunc(cty.Number), "tobool": stdlib.MakeToFunc(cty.Bool),
	}
}

// length is that of a string or a collection.
var length = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if args[0].Type() == cty.String {
			return stdlib.Strlen(args[0])
		}
		return stdlib.Length(args[0])
	},
})

var errTooLarge = errors.New("the result would be too large")

// bounded is a function that refuses to make a result of more than maxValue
// bytes, according to an estimate that is never too low.
func bounded(f function.Function, size func(args []cty.Value) (int, error)) function.Function {
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type:     f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			n, err := size(args)
			if err != nil {
				return cty.DynamicVal, err
			}
			if n > maxValue {
				return cty.DynamicVal, errTooLarge
			}
			return f.Call(args)
		},
	})
}

// wide matches a verb whose width or precision has more than two digits.
var wide = regexp.MustCompile(`%[^%a-zA-Z]*[0-9]{3}`)

func formatSize(args []cty.Value) (int, error) {
	if wide.MatchString(args[0].AsString()) {
		return 0, errTooLarge
	}
	size := 0
	for _, arg := range args[1:] {
		size += 100 + valueSize(arg, maxValue)
	}
	return len(args[0].AsString()) + size*strings.Count(args[0].AsString(), "%"), nil
}

func joinSize(args []cty.Value) (int, error) {
	size := 0
	for _, list := range args[1:] {
		size += valueSize(list, maxValue)
	}
	return size * (1 + len(args[0].AsString())), nil
}

func replaceSize(args []cty.Value) (int, error) {
	text, old, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
	if len(old) > 1 && old[0] == '/' && old[len(old)-1] == '/' {
		return 0, errors.New("replacing what a regular expression matches is not supported in the source of a module")
	}
	return len(text) + (1+len(text))*len(replacement), nil
}
