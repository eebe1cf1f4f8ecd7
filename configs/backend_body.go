package configs

import (
	"errors"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
	"github.com/zclconf/go-cty/cty"
)

// addBackend takes over a block, whose body is decoded by others.
func (d *document) addBackend(kind string, block *hcl.Block) {
	body := block.Body
	if diag := checkCheap(body); diag != nil {
		d.report(diag)
		body = nil
	}
	d.backends = append(d.backends, Backend{Type: kind, Range: block.DefRange, Body: body})
}

// LoadBody reads a file of arguments and blocks, in JSON if its name says so,
// that stands on its own: what -backend-config names. Its expressions are
// cheap to evaluate. The path is what ranges have as the file's name. The file
// is nil if there is nothing to be had of it.
func LoadBody(path string) (*hcl.File, hcl.Diagnostics) {
	src, err := wholefile.Read(path, maxFileBytes)
	if err != nil {
		return nil, hcl.Diagnostics{unreadable("Failed to read file", err)}
	}
	file, diags := parse(src, filepath.Clean(path))
	if file == nil || file.Body == nil {
		return nil, diags
	}
	if diag := checkCheap(file.Body); diag != nil {
		return nil, append(diags, diag)
	}
	return file, diags
}

// ParseArgument reads an expression that came with an argument of the program,
// which origin names in ranges. It is cheap to evaluate; nil if it can't be used.
func ParseArgument(text, origin string) (hcl.Expression, hcl.Diagnostics) {
	start := hcl.Range{Filename: origin, Start: hcl.InitialPos, End: hcl.InitialPos}
	if tooDeep([]byte(text), false) {
		return nil, hcl.Diagnostics{Problem(start, "Value nested too deeply", "A value of this size can't be read from an argument.")}
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), origin, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	if !cheap(expr) {
		return nil, hcl.Diagnostics{Problem(start, "Unsuitable value type", "A simple value is required here.")}
	}
	return expr, diags
}

// checkCheap finds out whether every expression of a body is cheap, also if its
// value is turned into a string.
func checkCheap(body hcl.Body) *hcl.Diagnostic {
	at := body.MissingItemRange()
	if native, ok := body.(*hclsyntax.Body); ok && cheapNode(native) {
		return nil
	} else if ok {
		at = native.SrcRange
	} else if cheapJSON(body) {
		return nil
	}
	return Problem(at, "Unsuitable value type",
		"Simple values are required here: no loops, and no numbers with thousands of digits.")
}

// cheapJSON reports whether all numbers in a body in JSON can be written out.
// Taken as arguments, nested blocks are objects. What else is wrong is told when
// the body is decoded.
func cheapJSON(body hcl.Body) bool {
	attributes, _ := body.JustAttributes()
	for _, attr := range attributes {
		value, _ := attr.Expr.Value(nil)
		err := cty.Walk(value, func(_ cty.Path, v cty.Value) (bool, error) {
			if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() && !printable(v.AsBigFloat()) {
				return false, errUnprintable
			}
			return true, nil
		})
		if err != nil {
			return false
		}
	}
	return true
}

var errUnprintable = errors.New("a number has thousands of digits")
