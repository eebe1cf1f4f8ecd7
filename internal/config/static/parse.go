package static

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/nesting"
)

// ParseArgument reads an expression that came with an argument of the program,
// which origin names in ranges. It is cheap to evaluate, and nil if there are errors.
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

// Parser reads the files of one module. All loops in them together have a limit, which they meet when they are
// evaluated. The zero value is ready to use. It isn't safe for concurrent use, and neither is what it returns.
type Parser struct{ loops Scope }

// Parse reads a file that belongs to no module; see [Parser.Parse].
func Parse(src []byte, path string) (*hcl.File, hcl.Diagnostics) { return new(Parser).Parse(src, path) }

// Parse reads a file, in JSON if path ends in ".json", else in the native syntax.
// The file is nil, or as far as it could be understood, if there are errors.
func (p *Parser) Parse(src []byte, path string) (*hcl.File, hcl.Diagnostics) {
	isJSON := strings.HasSuffix(path, ".json")
	switch {
	case !fewTokens(src, maxTokens):
		return nil, hcl.Diagnostics{diagnostic.Error(diagnostic.Beginning(path), "Configuration too large",
			"This file has more than %d words and signs. Divide it into several files.", maxTokens)}
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

// limitLoops has the loops of a file, or of an argument, count what they make.
func (p *Parser) limitLoops(node hclsyntax.Node, src []byte) {
	if bytes.Contains(src, []byte("for")) {
		p.loops.limitLoops(node)
	}
}

// maxTokens is more than people write or programs generate: 130,000 lines of a usual configuration have as many. The parsers take
// a microsecond and 400 bytes of memory for each, and can't be interrupted.
const maxTokens = 800_000

// fewTokens reports whether a file has at most so many tokens. It counts signs and words, of texts and comments as
// well, so that there are no more tokens than that. What is left uncounted is blanks, of which the parsers make no
// tokens.
func fewTokens(src []byte, most int) bool {
	if len(src) <= most {
		return true
	}
	count, inWord := 0, false
	for _, c := range src {
		isWord := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
		if c != ' ' && c != '\t' && !(isWord && inWord) {
			count++
		}
		inWord = isWord
	}
	return count <= most
}

// MaxNesting is more than people write or programs generate. The parsers recurse,
// and a stack that overflows ends the process whatever we do, at somewhat over
// 100,000 levels.
const MaxNesting = 10_000

// TooDeep reports whether a parser might recurse more than MaxNesting levels, or fewer in JSON.
func TooDeep(src []byte, isJSON bool) bool {
	_, deep := nesting.Exceeds(src, isJSON, mostLevels(isJSON))
	return deep
}

// maxNestingJSON is lower: the parser of JSON takes the square of the depth, twenty seconds for 60 kB.
const maxNestingJSON = 1000

func mostLevels(isJSON bool) int {
	if isJSON {
		return maxNestingJSON
	}
	return MaxNesting
}
