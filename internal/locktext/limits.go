package locktext

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/nesting"
)

// MaxTokens is eight times what the largest lock files have: some 30 000 hashes. The parser
// takes one to two microseconds for each, and can't be interrupted.
const MaxTokens = 250_000

// CheckTokens refuses text that takes long to parse: what costs is not the bytes but the
// tokens, and above all those that make no sense. It counts signs and words without
// knowing what is text and what is comment, so that there are no more tokens than that.
// What is left uncounted is blanks, of which the parser makes no tokens.
func CheckTokens(src []byte, filename string, limit int) *hcl.Diagnostic {
	count, inWord := 0, false
	for i, c := range src {
		isWord := c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if c != ' ' && c != '\t' && !(isWord && inWord) {
			count++
		}
		inWord = isWord
		if count > limit {
			return diagnostic.Error(*nesting.Place(src, filename, i), "Lock file too large",
				"Up to here the file has more than %d words and signs, which no lock file needs. Find out who wrote it, and take an earlier one from your version control.", limit)
		}
	}
	return nil
}

// maxNesting is far above what a lock file needs, which is 2.
const maxNesting = 1000

// checkNesting refuses what would make the parser call itself so often that
// the program's stack overflows, which nothing could catch.
func checkNesting(src []byte, filename string) *hcl.Diagnostic {
	at, deep := nesting.Exceeds(src, false, maxNesting)
	if !deep {
		return nil
	}
	return diagnostic.Error(*nesting.Place(src, filename, at), "Invalid expression",
		"This is nested too deeply for a dependency lock file. Find out who wrote it, and take an earlier one from your version control.")
}
