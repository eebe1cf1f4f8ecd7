package static

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/nesting"
)

// maxExponent bounds numbers that are converted to text: 1e999999999 has a gigabyte of digits.
const maxExponent = 10_000

// Evaluate returns the value of an expression without references. After errors the value is
// unknown. If loops exceed their limit, that is the only error.
func Evaluate(expr hcl.Expression) (cty.Value, hcl.Diagnostics) {
	if !Cheap(expr) {
		return cty.DynamicVal, hcl.Diagnostics{diagnostic.Error(expr.Range(), "Unsuitable value type", "A simple value is required here.")}
	}
	val, diags := expr.Value(nil)
	if i := slices.IndexFunc(diags, isSpent); i >= 0 {
		return cty.DynamicVal, diags[i : i+1]
	}
	return val, diags
}

// Spent reports whether problems of Evaluate say that loops exceed their limit.
func Spent(diags hcl.Diagnostics) bool { return slices.ContainsFunc(diags, isSpent) }

func isSpent(diag *hcl.Diagnostic) bool { return diag.Extra == errSpent }

// Text returns a value converted to a string; false if it can't be converted, or is null or
// unknown.
func Text(val cty.Value) (string, bool) {
	if val.Type() == cty.Number && val.IsKnown() && !val.IsNull() && !printable(val.AsBigFloat()) {
		return "", false
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

// Literal returns the value of an expression that is a string; false for values that could only be
// converted to one.
func Literal(expr hcl.Expression) (string, bool) {
	val, diags := Evaluate(expr)
	if diags.HasErrors() || val.Type() != cty.String || val.IsNull() || !val.IsKnown() {
		return "", false
	}
	return val.AsString(), true
}

// Cheap reports whether evaluating an expression takes about as little time and memory as reading it. Nested loops can
// double their result with every level, so that loops are cheap only if [Parse] has limited them.
func Cheap(expr hcl.Expression) bool {
	node, ok := expr.(hclsyntax.Node)
	return !ok || cheapNode(node) // without a context, JSON strings are literals
}

func cheapNode(node hclsyntax.Node) bool {
	return printableNumbers(node) && !slices.ContainsFunc(Nodes[*hclsyntax.ForExpr](node), func(loop *hclsyntax.ForExpr) bool { return !limited(loop) })
}

// Nodes returns the nodes of a type in an expression or a body, including itself.
func Nodes[T hclsyntax.Node](in hclsyntax.Node) (all []T) {
	hclsyntax.VisitAll(in, func(n hclsyntax.Node) hcl.Diagnostics {
		if found, ok := n.(T); ok {
			all = append(all, found)
		}
		return nil
	})
	return all
}

// printableNumbers reports whether all number literals in an expression can be printed.
func printableNumbers(node hclsyntax.Node) bool {
	for _, literal := range Nodes[*hclsyntax.LiteralValueExpr](node) {
		// The parser's value for a number that is too large is unknown.
		if val := literal.Val; val.Type() == cty.Number && !val.IsNull() && !(val.IsKnown() && printable(val.AsBigFloat())) {
			return false
		}
	}
	return true
}

func printable(number *big.Float) bool {
	exponent := number.MantExp(nil)
	return !number.IsInf() && -maxExponent < exponent && exponent < maxExponent
}

// Native returns an expression in the native syntax, in the JSON syntax the one inside a string;
// false if there isn't any.
func Native(expr hcl.Expression) (hclsyntax.Expression, bool) {
	if !json.IsJSONExpression(expr) {
		native, ok := expr.(hclsyntax.Expression)
		return native, ok
	}
	src, ok := Literal(expr)
	if !ok || TooDeep([]byte(src), false) {
		return nil, false
	}
	native, diags := hclsyntax.ParseExpression([]byte(src), expr.Range().Filename, expr.Range().Start)
	return native, !diags.HasErrors()
}

// StepName returns the name at a step of an address, or "".
func StepName(steps hcl.Traversal, i int) string {
	if i >= len(steps) {
		return ""
	}
	switch step := steps[i].(type) {
	case hcl.TraverseRoot:
		return step.Name
	case hcl.TraverseAttr:
		return step.Name
	}
	return ""
}

// SkipModules returns an address without the modules at its beginning, and the range of their first key, or nil.
func SkipModules(steps hcl.Traversal) (rest hcl.Traversal, first *hcl.Range) {
	for StepName(steps, 0) == "module" && StepName(steps, 1) != "" {
		steps = steps[2:]
		if rest := SkipKey(steps); len(rest) < len(steps) {
			first, steps = cmp.Or(first, steps[0].SourceRange().Ptr()), rest
		}
	}
	return steps, first
}

// SkipKey returns the steps without an instance key at their beginning.
func SkipKey(steps hcl.Traversal) hcl.Traversal {
	if len(steps) > 0 {
		if _, ok := steps[0].(hcl.TraverseIndex); ok {
			return steps[1:]
		}
	}
	return steps
}

// CheckCheap returns a problem unless every expression of a body is cheap, also when its value is
// converted to a string.
func CheckCheap(body hcl.Body) *hcl.Diagnostic {
	at := body.MissingItemRange()
	if native, ok := body.(*hclsyntax.Body); ok && cheapNode(native) {
		return nil
	} else if ok {
		at = native.SrcRange
	} else if cheapJSON(body) {
		return nil
	}
	return diagnostic.Error(at, "Unsuitable value type",
		"Simple values are required here: no numbers with thousands of digits.")
}

// cheapJSON reports whether all numbers in a JSON body can be printed. It treats nested blocks as
// objects. Other mistakes are reported when the body is decoded.
func cheapJSON(body hcl.Body) bool {
	attributes, _ := body.JustAttributes()
	for _, attr := range attributes {
		if native, problem := fromJSON(attr.Expr); problem == nil && !printableNumbers(native) {
			return false
		}
	}
	return true
}

// ParseArgument parses an expression from a command-line argument. origin is its file name in
// ranges. The result is cheap to evaluate, and nil after errors.
func ParseArgument(text, origin string) (hcl.Expression, hcl.Diagnostics) {
	start := diagnostic.Beginning(origin)
	if TooDeep([]byte(text), false) {
		return nil, hcl.Diagnostics{diagnostic.Error(start, "Value nested too deeply", "A value of this size can't be read from an argument.")}
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), origin, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	new(Parser).limitLoops(expr, []byte(text))
	if !Cheap(expr) {
		return nil, hcl.Diagnostics{diagnostic.Error(start, "Unsuitable value type", "A simple value is required here.")}
	}
	return expr, diags
}

// Parser reads the files of one module, and limits all their loops together; exceeding the limit is an error
// of evaluation. The zero value is ready to use. Neither a Parser nor its results are safe for concurrent use.
type Parser struct {
	loops  Scope
	tokens int // of all files
}

// Parse reads a file outside of a module; see [Parser.Parse].
func Parse(src []byte, path string) (*hcl.File, hcl.Diagnostics) { return new(Parser).Parse(src, path) }

// Parse reads a file, in JSON if path ends in ".json", else in the native syntax. After errors the
// file is nil or incomplete.
func (p *Parser) Parse(src []byte, path string) (*hcl.File, hcl.Diagnostics) {
	isJSON := strings.HasSuffix(path, ".json")
	tokens, _ := nesting.CountTokens(src, maxTokens, true)
	p.tokens += tokens
	switch {
	case tokens > maxTokens:
		return nil, hcl.Diagnostics{diagnostic.Error(diagnostic.Beginning(path), "Configuration too large",
			"This file has more than %d words and signs. Divide it into several files.", maxTokens)}
	case p.tokens > maxTokensOfModule:
		return nil, hcl.Diagnostics{diagnostic.Error(diagnostic.Beginning(path), "Configuration too large",
			"With this file, the module and its tests have more than %d words and signs. Divide it into several modules.", maxTokensOfModule)}
	case TooDeep(src, isJSON):
		return nil, hcl.Diagnostics{diagnostic.Error(diagnostic.Beginning(path), "Configuration nested too deeply",
			"This file has expressions or blocks inside one another, more than %d levels deep.", mostLevels(isJSON))}
	case isJSON:
		return nesting.ParseJSON(src, path)
	}
	file, diags := nesting.Parse(src, path)
	if file != nil && file.Body != nil {
		p.limitLoops(file.Body.(*hclsyntax.Body), src)
	}
	return file, diags
}

// Part is a block of a file.
type Part struct {
	At     hcl.Pos
	End    int  // the byte after it
	Header bool // without the block's body
}

// ParseParts is Parse for some blocks of a file in the native syntax. ok is false if Parse would find a problem.
func (p *Parser) ParseParts(src []byte, parts []Part, path string) (file *hcl.File, ok bool) {
	body := &hclsyntax.Body{}
	for _, part := range parts {
		if part.At.Byte < 0 || part.End < part.At.Byte || part.End > len(src) {
			return nil, false
		}
		text := src[part.At.Byte:part.End:part.End]
		if part.Header {
			text = append(text, '}')
		}
		if TooDeep(text, false) {
			return nil, false
		}
		read, diags := hclsyntax.ParseConfig(text, path, part.At)
		if len(diags) > 0 {
			return nil, false
		}
		p.limitLoops(read.Body.(*hclsyntax.Body), text)
		body.Blocks = append(body.Blocks, read.Body.(*hclsyntax.Body).Blocks...)
	}
	return &hcl.File{Body: body, Bytes: src}, true
}

// limitLoops makes the loops of a file or an argument count what they compute.
func (p *Parser) limitLoops(node hclsyntax.Node, src []byte) {
	if bytes.Contains(src, []byte("for")) {
		p.loops.limitLoops(node)
	}
}

// maxTokens is more than people write or programs generate: it is 130,000 lines of a usual configuration. The parsers take a
// microsecond and 400 bytes of memory for each token, and can't be interrupted.
const maxTokens, maxTokensOfModule = 800_000, 4 * 800_000

// MaxNesting is more than people write or programs generate. The parsers recurse, and a stack
// overflow, at somewhat over 100,000 levels, ends the process.
const MaxNesting = 10_000

// TooDeep reports whether a parser might recurse more than MaxNesting levels, or fewer in JSON.
func TooDeep(src []byte, isJSON bool) bool {
	_, deep := nesting.Exceeds(src, isJSON, mostLevels(isJSON))
	return deep
}

// maxNestingJSON is lower, because the JSON parser takes time quadratic in the depth: twenty seconds
// for 60 kB.
const maxNestingJSON = 1000

func mostLevels(isJSON bool) int {
	if isJSON {
		return maxNestingJSON
	}
	return MaxNesting
}
