// Package nesting limits the stack and the memory that the parsers of HCL and its JSON form use. A stack
// overflow ends the process and can't be recovered from, so code that parses untrusted text calls [Exceeds]
// first, and then [Parse].
package nesting

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Exceeds reports whether a parser might recurse more than most levels deep, and at which byte. The content
// of comments and strings doesn't count, and can't hide anything.
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

// Marks counts the bytes that can make a parser recurse, also in strings and comments: an upper
// bound of the depth. In nearly all files the count is so small that no further check is needed.
func Marks(src []byte) (count int) {
	for _, c := range src {
		switch c {
		case '(', '[', '{', '"', '<', '!', '-', '?', '+', '*', '/', '%', '=', '&', '|', '>':
			count++
		}
	}
	return count
}

// CountTokens counts signs and words of a text, also in strings and comments: it has at most that many tokens. Blanks don't count, as they
// are never tokens. With wide, a byte that isn't ASCII is part of a word, otherwise a sign. It ends at the byte, at, with which the text has
// more than most.
func CountTokens(src []byte, most int, wide bool) (count, at int) {
	inWord := false
	for i, c := range src {
		isWord := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || wide && c >= 0x80
		if c != ' ' && c != '\t' && !(isWord && inWord) {
			count++
		}
		inWord = isWord
		if count > most {
			return count, i
		}
	}
	return count, 0
}

// exceedsJSON counts open brackets outside of strings. It ends strings where the parser does.
func exceedsJSON(src []byte, most int) (at int, deep bool) {
	depth, inString, unsure := 0, false, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case unsure:
			if c == '{' || c == '[' {
				depth++
			}
		case inString && c < ' ': // the string is invalid, and the parser continues after it
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

// isPrepended reports whether the parser may join a letter with the next one, as Unicode's graphemes do: then it misses
// a quotation mark that ends a string. Texts in these scripts are rare, so the caller doesn't determine where the
// string ends, and counts all further brackets.
func isPrepended(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r == 0x0d4e || 0x11000 <= r && r <= 0x11fff
}

// isShallow reports whether a text is certainly less than most levels deep. It reads bytes, which takes a twentieth of the time of tokens. It returns
// false for text that bytes alone don't classify: heredocs, comments of several lines, and invalid text.
func isShallow(src []byte, most int) bool {
	n, sure := newPosition(), utf8.Valid(src)
	n.top().end = 0xff // a byte that UTF-8 never has
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
				n.operator() // like an "if"
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

// exceedsNative tracks the parser's depth by the tokens.
func exceedsNative(src []byte, chunk, most int) (at int, deep bool) {
	l := newLexer(src, "", chunk, hcl.InitialPos, most)
	for l.next() != nil {
	}
	return l.deepAt, l.deep
}

// position is an upper bound of the parser's recursion depth: the open brackets and templates, and
// the operators of the expressions around them, because operators nest without brackets.
type position struct {
	open   []bracket
	depth  int
	copied int // bytes that the parser copies to join lines and parts of templates: each further one copies all before it
}

// bytesOfPiece is what the parser copies for each part of a template, beside its bytes.
const bytesOfPiece = 16

// bracket is an open bracket.
type bracket struct {
	end       byte // the closing bracket; only isShallow sets it
	lines     bool // whether the end of a line ends an expression
	operators int  // of the current expression
	at        int  // the byte offset of the bracket
	text      int  // bytes of its lines, or parts of a template, with the parser's overhead for each
}

func newPosition() position { return position{open: []bracket{{lines: true}}} }

// clone returns an independent copy.
func (n position) clone() position { return position{slices.Clone(n.open), n.depth, n.copied} }

func (n *position) read(token hclsyntax.Token) {
	switch token.Type {
	case hclsyntax.TokenOBrace:
		n.push(bracket{lines: true, at: token.Range.Start.Byte})
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
		n.push(bracket{at: token.Range.Start.Byte})
	case hclsyntax.TokenTemplateControl: // the content of an "if" follows the sequence
		n.operator()
		n.push(bracket{at: token.Range.Start.Byte})
	case hclsyntax.TokenCBrack: // may be an index in a chain
		n.pop()
		n.operator()
	case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		n.pop()
	case hclsyntax.TokenNewline, hclsyntax.TokenComment: // a comment may include the end of its line
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
		return // an unmatched closing bracket
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
