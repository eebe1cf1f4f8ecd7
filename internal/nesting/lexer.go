package nesting

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// chunkBytes is how much is made into tokens at once: each token takes a hundred bytes, and most have one or two in the text.
const chunkBytes = 64 << 10

// lexer makes the tokens of a text a chunk at a time, and follows the parser through them. They are those
// of the whole text, because a chunk ends before a token outside of templates.
type lexer struct {
	src       []byte
	filename  string
	chunk     int
	at        hcl.Pos // where the next chunk begins
	n         position
	most      int
	lastClose int             // where the last block comment ends
	problems  hcl.Diagnostics // of the signs themselves; no more than a chunk has

	deepAt int // the byte where the parser might go deeper than most
	deep   bool
}

func newLexer(src []byte, filename string, chunk int, at hcl.Pos, most int) *lexer {
	return &lexer{src: src, filename: filename, chunk: chunk, at: at, n: newPosition(), most: most, lastClose: bytes.LastIndex(src, []byte("*/"))}
}

// next returns the next tokens; nil at the end, or where the text is too deep.
func (l *lexer) next() hclsyntax.Tokens {
	for size := l.chunk; l.at.Byte < len(l.src) && !l.deep; {
		end := l.chunkEnd(size)
		tokens, problems := hclsyntax.LexConfig(l.src[l.at.Byte:end], l.filename, l.at)
		sure, done := len(tokens), len(tokens)
		if end < len(l.src) {
			sure, done = l.complete(tokens[:len(tokens)-1])
		}
		if l.follow(tokens[:sure], done); l.deep {
			return nil
		}
		switch {
		case done == len(tokens):
			l.at.Byte = len(l.src)
		case done > 0:
			l.at = tokens[done].Range.Start
		case l.skipComment(tokens):
			size = l.chunk
			continue
		default: // one token, or one template, is larger
			size *= 2
			continue
		}
		if len(l.problems) == 0 {
			l.problems = slices.DeleteFunc(problems, func(p *hcl.Diagnostic) bool { return p.Subject.Start.Byte >= l.at.Byte })
		}
		return tokens[:done]
	}
	return nil
}

// chunkEnd is where a chunk of some size ends: behind a line if it has a whole one, and never inside a letter.
func (l *lexer) chunkEnd(size int) int {
	end := l.at.Byte + size
	if end >= len(l.src) {
		return len(l.src)
	}
	if line := bytes.LastIndexByte(l.src[l.at.Byte:end], '\n'); line >= 0 {
		return l.at.Byte + line + 1
	}
	for i := 0; i < utf8.UTFMax && !utf8.RuneStart(l.src[end]); i++ {
		end--
	}
	return end
}

// complete returns how many of a chunk's tokens are those of the whole text, and how many of these come before the last
// one that is outside of templates: there the next chunk can begin.
func (l *lexer) complete(tokens hclsyntax.Tokens) (sure, done int) {
	open := 0
	for i, token := range tokens {
		if open == 0 {
			done = i
		}
		if l.isUnfinished(tokens[i:]) {
			return i, done
		}
		switch token.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			open++
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			open = max(0, open-1)
		}
	}
	return max(0, len(tokens)-1), done // the last one may go on
}

// isUnfinished reports whether tokens begin with what is a comment, or the begin of a heredoc, together with what
// follows the chunk.
func (l *lexer) isUnfinished(tokens hclsyntax.Tokens) bool {
	if len(tokens) < 2 || tokens[0].Range.End.Byte != tokens[1].Range.Start.Byte {
		return false
	}
	switch first, second := tokens[0].Type, tokens[1].Type; {
	case first == hclsyntax.TokenSlash && second == hclsyntax.TokenStar:
		return l.lastClose >= tokens[1].Range.End.Byte
	case first == hclsyntax.TokenLessThan && second == hclsyntax.TokenLessThan:
		return len(tokens) <= 4 // with a dash and a name
	}
	return false
}

// skipComment goes behind the comment with which the chunk begins, if it does.
func (l *lexer) skipComment(tokens hclsyntax.Tokens) bool {
	if len(tokens) < 2 || tokens[0].Type != hclsyntax.TokenSlash || !l.isUnfinished(tokens) {
		return false
	}
	from := tokens[1].Range.End.Byte
	end := from + bytes.Index(l.src[from:], []byte("*/")) + len("*/")
	l.at = hcl.Pos{Line: l.at.Line + bytes.Count(l.src[l.at.Byte:end], []byte("\n")), Column: 1, Byte: end}
	return true
}

// follow reads tokens, and stays behind the first of them.
func (l *lexer) follow(tokens hclsyntax.Tokens, stay int) {
	n := l.n
	for i, token := range tokens {
		if i == stay {
			l.n, n = n, n.clone()
		}
		if n.read(token); n.depth > l.most {
			l.deepAt, l.deep = token.Range.Start.Byte, true
			return
		}
	}
	if stay >= len(tokens) {
		l.n = n
	}
}
