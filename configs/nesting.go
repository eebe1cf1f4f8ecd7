package configs

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxNesting is more than anybody writes or generates. The parsers recurse,
// and a stack that overflows ends the process whatever we do, at somewhat over
// 100,000 levels.
const maxNesting = 10_000

// tooDeep reports whether a parser might recurse more than maxNesting levels.
func tooDeep(src []byte, isJSON bool) bool {
	if mayNest(src) <= maxNesting {
		return false
	}
	if isJSON {
		return tooDeepJSON(src)
	}
	return tooDeepNative(src)
}

// mayNest counts the bytes that can make a parser recurse. Nearly all files
// have so few that nothing more has to be known.
func mayNest(src []byte) int {
	count := 0
	for _, c := range src {
		switch c {
		case '(', '[', '{', '"', '<', '!', '-', '?', '+', '*', '/', '%', '=', '&', '|', '>':
			count++
		}
	}
	return count
}

// tooDeepJSON counts open brackets outside strings.
func tooDeepJSON(src []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxNesting {
			return true
		}
	}
	return false
}

// tooDeepNative follows the parser through the tokens.
func tooDeepNative(src []byte) bool {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	n := nesting{open: []bracket{{lines: true}}}
	for _, token := range tokens {
		n.read(token)
		if n.depth > maxNesting {
			return true
		}
	}
	return false
}

// nesting is an upper bound for how deep the parser is in its own calls: the
// open brackets and templates, and the operators of the expressions that they
// stand in, because operators nest without brackets.
type nesting struct {
	open  []bracket
	depth int
}

// bracket is what stands between two brackets.
type bracket struct {
	lines     bool // whether the end of a line is the end of an expression
	operators int  // of the present expression
}

func (n *nesting) read(token hclsyntax.Token) {
	switch token.Type {
	case hclsyntax.TokenOBrace:
		n.push(bracket{lines: true})
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
		n.push(bracket{})
	case hclsyntax.TokenTemplateControl: // what is inside an "if" goes on behind the sequence
		n.operator()
		n.push(bracket{})
	case hclsyntax.TokenCBrack: // a chain of indices
		n.pop()
		n.operator()
	case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		n.pop()
	case hclsyntax.TokenNewline, hclsyntax.TokenComment: // the latter may have the end of its line
		if n.top().lines && bytes.HasSuffix(token.Bytes, []byte("\n")) {
			n.endExpression()
		}
	case hclsyntax.TokenComma:
		n.endExpression()
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
	default:
		n.operator()
	}
}

func (n *nesting) top() *bracket { return &n.open[len(n.open)-1] }

func (n *nesting) push(b bracket) {
	n.open = append(n.open, b)
	n.depth++
}

func (n *nesting) pop() {
	if len(n.open) == 1 {
		return // a closing bracket too many
	}
	n.depth -= 1 + n.top().operators
	n.open = n.open[:len(n.open)-1]
}

func (n *nesting) operator() {
	n.top().operators++
	n.depth++
}

func (n *nesting) endExpression() {
	n.depth -= n.top().operators
	n.top().operators = 0
}
