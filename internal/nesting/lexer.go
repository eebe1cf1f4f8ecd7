package nesting

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// chunkBytes is how many bytes are tokenized at once: each token takes a hundred bytes, and most are one or two bytes of
// text.
const chunkBytes = 64 << 10

// lexer tokenizes a text in chunks, and tracks the parser's depth. The tokens are the same as those of
// the whole text, because a chunk ends before a token outside of templates.
type lexer struct {
	src       []byte
	filename  string
	chunk     int
	at        hcl.Pos // where the next chunk begins
	n         position
	most      int
	lastClose int             // the last "*/" in src
	problems  hcl.Diagnostics // of the lexer itself; at most those of one chunk

	deepAt int // the byte at which the parser may exceed most
	deep   bool
}

func newLexer(src []byte, filename string, chunk int, at hcl.Pos, most int) *lexer {
	return &lexer{src: src, filename: filename, chunk: chunk, at: at, n: newPosition(), most: most, lastClose: bytes.LastIndex(src, []byte("*/"))}
}

// next returns the next tokens, or nil at the end and when the text is too deep.
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
		default: // a token or a template is larger than the chunk
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

// chunkEnd returns where a chunk of a size ends: after a line if it contains a whole one, and never inside a
// UTF-8 character.
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
// one outside of templates, where the next chunk can begin.
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
	return max(0, len(tokens)-1), done // more text may belong to the last one
}

// isUnfinished reports whether tokens may begin a comment or a heredoc that ends after the chunk.
func (l *lexer) isUnfinished(tokens hclsyntax.Tokens) bool {
	if len(tokens) < 2 || tokens[0].Range.End.Byte != tokens[1].Range.Start.Byte {
		return false
	}
	switch first, second := tokens[0].Type, tokens[1].Type; {
	case first == hclsyntax.TokenSlash && second == hclsyntax.TokenStar:
		return l.lastClose >= tokens[1].Range.End.Byte
	case first == hclsyntax.TokenLessThan && second == hclsyntax.TokenLessThan:
		return len(tokens) <= 4 // "<<", a dash and a name
	}
	return false
}

// skipComment skips the comment at the begin of the chunk. It returns false if there is no comment.
func (l *lexer) skipComment(tokens hclsyntax.Tokens) bool {
	if len(tokens) < 2 || tokens[0].Type != hclsyntax.TokenSlash || !l.isUnfinished(tokens) {
		return false
	}
	from := tokens[1].Range.End.Byte
	end := from + bytes.Index(l.src[from:], []byte("*/")) + len("*/")
	l.at = hcl.Pos{Line: l.at.Line + bytes.Count(l.src[l.at.Byte:end], []byte("\n")), Column: 1, Byte: end}
	return true
}

// follow advances past tokens to check their depth, but leaves the position before token number
// stay.
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
