// Package nesting bounds what the parsers of HCL and its JSON form take of the stack and of the memory. A stack
// that overflows ends the process whatever the program does, so whoever parses text of
// others asks [Exceeds] first, and parses it with [Parse].
package nesting

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Exceeds reports whether a parser might call itself more than most levels deep for a text, and at which byte
// that is. What is in comments and strings doesn't count, nor does it hide anything.
func Exceeds(src []byte, isJSON bool, most int) (at int, deep bool) {
	switch {
	case Marks(src) <= most:
		return 0, false
	case isJSON:
		return exceedsJSON(src, most)
	case isShallow(src, most):
		return 0, false
	default:
		return exceedsNative(src, chunkBytes, most)
	}
}

// Marks counts the bytes that can make a parser call itself, wherever they stand: no parser goes
// deeper than that. Nearly all files have so few that nothing more has to be known.
func Marks(src []byte) (count int) {
	for _, c := range src {
		switch c {
		case '(', '[', '{', '"', '<', '!', '-', '?', '+', '*', '/', '%', '=', '&', '|', '>':
			count++
		}
	}
	return count
}

// exceedsJSON counts open brackets outside strings, which end where they do for the parser.
func exceedsJSON(src []byte, most int) (at int, deep bool) {
	depth, inString, unsure := 0, false, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case unsure:
			if c == '{' || c == '[' {
				depth++
			}
		case inString && c < ' ': // the string is invalid, and the parser goes on behind it
			inString = false
		case inString && c == '\\' && i+1 < len(src) && ' ' <= src[i+1] && src[i+1] < utf8.RuneSelf:
			i++
		case inString && c >= utf8.RuneSelf:
			r, _ := utf8.DecodeRune(src[i:])
			unsure = isPrepended(r)
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > most {
			return i, true
		}
	}
	return 0, false
}

// isPrepended reports whether a letter may be one with the next one, as Unicode's graphemes are: the parser doesn't see
// that a string ends if that is the quotation mark. Where it ends then isn't worth knowing: texts in these scripts are
// rare, and all further brackets count.
func isPrepended(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r == 0x0d4e || 0x11000 <= r && r <= 0x11fff
}

// isShallow reports whether a text is surely at most so many levels deep. It reads bytes, which takes a twentieth of the time
// that tokens take, and is never sure where these don't say what is what: in heredocs, in comments of several lines, and wherever something is wrong.
func isShallow(src []byte, most int) bool {
	n, sure := newPosition(), utf8.Valid(src)
	n.top().end = 0xff // which no text has
	for i := 0; sure && i < len(src) && n.depth < most; i++ {
		c, next := src[i], byte(0)
		if i+1 < len(src) {
			next = src[i+1]
		}
		switch in := n.top(); {
		case in.end == '"' && c == '\\':
			sure = ' ' <= next
			i++
		case in.end == '"' && (c == '$' || c == '%'):
			if sure = next != '$' && next != '%'; next == '{' {
				n.operator() // as an "if"
				n.push(bracket{end: '}'})
				i++
			}
		case in.end == '"' && c != '"':
			sure = ' ' <= c
		case c == in.end:
			if n.pop(); c == ']' {
				n.operator()
			}
		case c == '"':
			n.push(bracket{end: '"'})
		case c == '{':
			n.push(bracket{end: '}', lines: true})
		case c == '(':
			n.push(bracket{end: ')'})
		case c == '[':
			n.push(bracket{end: ']'})
		case c == '}', c == ')', c == ']', c == '<' && next == '<', c == '/' && next == '*':
			sure = false
		case c == '#', c == '/' && next == '/':
			for i+1 < len(src) && src[i+1] != '\n' {
				i++
			}
		case c == ',', c == '\n' && in.lines:
			n.endExpression()
		case c == '_', c == ' ', c == '\n', '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'z':
		default:
			n.operator()
		}
	}
	return sure && n.depth < most && len(n.open) == 1 // the end of the file is a token, too
}

// exceedsNative follows the parser through the tokens.
func exceedsNative(src []byte, chunk, most int) (at int, deep bool) {
	l := newLexer(src, "", chunk, hcl.InitialPos, most)
	for l.next() != nil {
	}
	return l.deepAt, l.deep
}

// position is an upper bound for how deep the parser is in its own calls: the
// open brackets and templates, and the operators of the expressions that they
// stand in, because operators nest without brackets.
type position struct {
	open   []bracket
	depth  int
	copied int // bytes that the parser copies to join lines and pieces of texts: all that it has joined, with each further one
}

// bytesOfPiece is what the parser copies of each piece of a text, beside its bytes.
const bytesOfPiece = 16

// bracket is what stands between two brackets.
type bracket struct {
	end       byte // that closes it; only isShallow knows
	lines     bool // whether the end of a line is the end of an expression
	operators int  // of the present expression
	at        int  // the byte where it opens
	text      int  // bytes of its lines, or pieces of text, with what the parser keeps for each
}

func newPosition() position { return position{open: []bracket{{lines: true}}} }

// clone returns a position that goes on apart.
func (n position) clone() position { return position{slices.Clone(n.open), n.depth, n.copied} }

func (n *position) read(token hclsyntax.Token) {
	switch token.Type {
	case hclsyntax.TokenOBrace:
		n.push(bracket{lines: true, at: token.Range.Start.Byte})
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
		n.push(bracket{at: token.Range.Start.Byte})
	case hclsyntax.TokenTemplateControl: // what is inside an "if" goes on behind the sequence
		n.operator()
		n.push(bracket{at: token.Range.Start.Byte})
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
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		n.top().text += bytesOfPiece + len(token.Bytes)
		n.copied += n.top().text
	case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit:
	default:
		n.operator()
	}
}

func (n *position) top() *bracket { return &n.open[len(n.open)-1] }

func (n *position) push(b bracket) {
	n.open = append(n.open, b)
	n.depth++
}

func (n *position) pop() {
	if len(n.open) == 1 {
		return // a closing bracket too many
	}
	n.depth -= 1 + n.top().operators
	n.open = n.open[:len(n.open)-1]
}

func (n *position) operator() {
	n.top().operators++
	n.depth++
}

func (n *position) endExpression() {
	n.depth -= n.top().operators
	n.top().operators = 0
}
