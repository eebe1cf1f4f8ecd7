// Package functions has the functions of the language, for expressions that are computed before anything is installed.
//
// [Table] returns all functions by name, each also with the prefix "core::". They are those of Terraform, or of
// OpenTofu: same arguments, same results. Values that only plan or apply can know (the time, random values) are unknown,
// except timestamp and uuid in OpenTofu. No call takes more than a moment or a few megabytes, whatever its arguments: a
// larger one is an error. Many goroutines may call functions of a table.
package functions

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"strings"
	"time"

	gocidr "github.com/apparentlymart/go-cidr/cidr"
	"github.com/hashicorp/go-cty-funcs/cidr"
	"github.com/hashicorp/go-cty-funcs/collection"
	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/hashicorp/go-cty-funcs/encoding"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Environment has the settings of a function table.
type Environment struct {
	// Files has the files that functions can read.
	Files Files

	// Parse parses the text of a template; name is for messages. The result is cheap to evaluate.
	Parse func(text, name string) (hclsyntax.Expression, error)

	// MaxBytes is the largest size of a value.
	MaxBytes int

	// OpenTofu selects the functions of OpenTofu.
	OpenTofu bool
}

// Mark marks a value whose use is restricted.
type Mark string

const (
	Sensitive Mark = "sensitive"
	Ephemeral Mark = "ephemeral"
)

// Files says which files functions can read. The zero value allows none.
type Files struct {
	FS     fs.FS  // nil means the file system of the process
	Dir    string // base of relative paths; "" means that they can't be read
	Within string // the directory that no path may lead out of; "" means no limit
	Home   string // replaces "~"; "" means unknown
}

// Table returns the functions.
func Table(env Environment) map[string]function.Function {
	b := bounds{env.MaxBytes}
	table := b.functions()
	maps.Copy(table, marks())
	maps.Copy(table, env.files(b))
	if env.OpenTofu {
		env.openTofu(table)
	}
	env.addTemplates(table)
	for name, f := range maps.Clone(table) {
		table["core::"+name] = f
	}
	return table
}

// functions returns the functions that depend on their arguments only.
func (b bounds) functions() map[string]function.Function {
	return map[string]function.Function{
		// Numbers.
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc, "log": stdlib.LogFunc, "max": stdlib.MaxFunc,
		"min": stdlib.MinFunc, "parseint": b.bound(stdlib.ParseIntFunc, parseIntSize), "pow": stdlib.PowFunc, "signum": stdlib.SignumFunc, "sum": sum,

		// Texts.
		"chomp": stdlib.ChompFunc, "lower": stdlib.LowerFunc, "regex": stdlib.RegexFunc, "regexall": b.bound(stdlib.RegexAllFunc, regexAllSize),
		"split": stdlib.SplitFunc, "strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc,
		"trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc,
		"upper":    stdlib.UpperFunc,
		"endswith": compared("suffix", strings.HasSuffix), "startswith": compared("prefix", strings.HasPrefix), "strcontains": compared("substr", strings.Contains),
		"format":     b.bound(stdlib.FormatFunc, b.formatSize),
		"formatlist": b.bound(stdlib.FormatListFunc, b.formatListSize),
		"indent":     b.bound(stdlib.IndentFunc, b.indentSize),
		"join":       b.bound(stdlib.JoinFunc, b.joinSize),
		"replace":    b.bound(replace, b.replaceSize),

		// Collections.
		"chunklist": stdlib.ChunklistFunc, "coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc,
		"contains": stdlib.ContainsFunc, "distinct": b.pairs(stdlib.DistinctFunc), "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc,
		"keys": stdlib.KeysFunc, "merge": stdlib.MergeFunc, "range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc, "setproduct": b.bound(stdlib.SetProductFunc, b.productSize),
		"setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc,
		"values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
		"alltrue": decided(cty.False), "anytrue": decided(cty.True), "coalesce": collection.CoalesceFunc, "index": index, "length": length, "lookup": lookup, "one": one,
		"list":      unusable(errors.New(`there is no function "list" any more; write tolist([ ... ])`)),
		"map":       unusable(errors.New(`there is no function "map" any more; write tomap({ ... })`)),
		"matchkeys": b.pairs(matchKeys),
		"transpose": b.bound(transpose, b.transposeSize),

		// Conversions.
		"can": tryfunc.CanFunc, "convert": typeexpr.ConvertFunc, "try": tryfunc.TryFunc,
		"tobool": stdlib.MakeToFunc(cty.Bool), "tonumber": stdlib.MakeToFunc(cty.Number), "tostring": stdlib.MakeToFunc(cty.String),
		"tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)), "tomap": stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),

		// Encodings and checksums.
		"base64decode": encoding.Base64DecodeFunc, "base64encode": encoding.Base64EncodeFunc, "base64gzip": gzipped,
		"csvdecode": stdlib.CSVDecodeFunc, "jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
		"textdecodebase64": textDecode, "textencodebase64": textEncode, "urlencode": encoding.URLEncodeFunc,
		"yamldecode": b.bound(yaml.YAMLDecodeFunc, yamlSize), "yamlencode": yaml.YAMLEncodeFunc,
		"base64sha256": base64Sum(sha256.New), "base64sha512": base64Sum(sha512.New),
		"md5": crypto.Md5Func, "sha1": crypto.Sha1Func, "sha256": crypto.Sha256Func, "sha512": crypto.Sha512Func,
		"rsadecrypt": crypto.RsaDecryptFunc, "uuidv5": uuid.V5Func,
		"bcrypt": function.Unpredictable(crypto.BcryptFunc), "uuid": later,

		// Times and addresses.
		"formatdate": stdlib.FormatDateFunc, "timeadd": stdlib.TimeAddFunc, "timecmp": timeCompare, "plantimestamp": later, "timestamp": later,
		"cidrhost": host, "cidrnetmask": netmask, "cidrsubnet": subnet, "cidrsubnets": cidr.SubnetsFunc,
	}
}

// marks returns the functions that change or report the marks of values.
func marks() map[string]function.Function {
	whole := []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowNull: true, AllowMarked: true, AllowDynamicType: true,
	}}
	of := func(typ function.TypeFunc, impl func(val cty.Value) (cty.Value, error)) function.Function {
		return function.New(&function.Spec{Params: whole, Type: typ, Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return impl(args[0]) }})
	}
	same := func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }
	return map[string]function.Function{
		"sensitive": of(same, func(val cty.Value) (cty.Value, error) { return val.Mark(Sensitive), nil }),
		"nonsensitive": of(same, func(val cty.Value) (cty.Value, error) {
			val, marks := val.Unmark()
			delete(marks, Sensitive)
			return val.WithMarks(marks), nil
		}),
		"issensitive": of(function.StaticReturnType(cty.Bool), func(val cty.Value) (cty.Value, error) {
			marked := val.HasMark(Sensitive)
			if !marked && !val.IsKnown() {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(marked), nil
		}),
		"ephemeralasnull": of(same, func(val cty.Value) (cty.Value, error) {
			return cty.Transform(val, func(_ cty.Path, val cty.Value) (cty.Value, error) {
				plain, marks := val.Unmark()
				if _, ok := marks[Ephemeral]; !ok {
					return val, nil
				}
				delete(marks, Ephemeral)
				return cty.NullVal(plain.Type()).WithMarks(marks), nil
			})
		}),
	}
}

// openTofu changes a table to OpenTofu's.
func (env Environment) openTofu(table map[string]function.Function) {
	delete(table, "convert")
	now := time.Now
	table["timestamp"] = text("", func([]string) (string, error) { return now().UTC().Format(time.RFC3339), nil })
	table["uuid"] = uuid.V4Func
	table["base64gunzip"] = ofText("str", func(packed string) (string, error) { return gunzip(packed, env.MaxBytes) })
	table["urldecode"] = ofText("str", url.QueryUnescape)
	table["cidrcontains"] = returning(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		containing, err := network(args[0])
		if err != nil {
			return cty.NilVal, err
		}
		within, err := covers(containing, args[1].AsString())
		return cty.BoolVal(within), err
	}, param("containing_prefix", cty.String), param("contained_ip_or_prefix", cty.String))
}

// gunzip decodes base64gzip, up to a size.
func gunzip(encoded string, most int) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", errors.New("failed to decode base64 data")
	}
	unpacking, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("failed to gunzip bytestream: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(unpacking, int64(most)+1))
	if err != nil {
		return "", fmt.Errorf("failed to read gunzip raw data: %w", err)
	}
	if len(plain) > most {
		return "", errors.New("the result would be too large")
	}
	return string(plain), nil
}

// covers reports whether a network contains an address, or all addresses of another network. It is an error if
// one is IPv4 and the other IPv6.
func covers(containing *net.IPNet, given string) (bool, error) {
	first := net.ParseIP(given)
	last := first
	if first == nil {
		_, contained, err := net.ParseCIDR(given)
		if err != nil {
			return false, fmt.Errorf("invalid IP address or prefix: %s", given)
		}
		first, last = gocidr.AddressRange(contained)
	}
	if (first.To4() == nil) != (containing.IP.To4() == nil) {
		return false, fmt.Errorf("address family mismatch: %s vs. %s", containing, given)
	}
	return containing.Contains(first) && containing.Contains(last), nil
}
