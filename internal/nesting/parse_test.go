package nesting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// texts are larger than several chunks, and have what goes over the end of a chunk.
func texts() map[string]string {
	inside := "b = 1\nc \"d\" {\n}\n]}) \" ${ [[[\n"
	r := rand.New(rand.NewPCG(1, 2))
	signs := []string{"a", " ", "\n", "\"", "${", "}", "{", "[", "]", "(", ")", "<<A\n", "<<-B\n", "A\n", "B\n", "/*", "*/", "# c", "//", "=", ",", "1", "\u00e9", "\xff", "\\", "%{ if", "<", "-", "\r\n", "\x00", "@"}
	var mixed strings.Builder
	for mixed.Len() < 3*chunkBytes {
		mixed.WriteString(signs[r.IntN(len(signs))])
	}
	return map[string]string{
		"arguments":            strings.Repeat("a = [1, 2, \"${x[0]}\"]\n", 10_000),
		"a comment":            "a = 1\n/* " + strings.Repeat(inside, 5_000) + " */\nz = [1]\n",
		"a comment, one line":  "a = [/* " + strings.Repeat("[[(", 50_000) + " */ 1]\n",
		"a comment in a text":  "a = \"${ /* " + strings.Repeat("} \" [", 40_000) + " */ 1 }\"\nb = [[1]]\n",
		"an unclosed comment":  strings.Repeat("/*/ ", 50_000),
		"a heredoc":            "a = <<A\n" + strings.Repeat("b = <<B\n"+"[[[ \"\n", 500) + strings.Repeat("x", 2*chunkBytes) + "\nA\nb = 1\n",
		"one line":             "a = [" + strings.Repeat("{b=\"\u00e9${c}\"},", 20_000) + "]\n",
		"letters on one line":  "a = [" + strings.Repeat("\u00e9\u0600,", 50_000) + "]\n",
		"heredocs on one line": strings.Repeat("<<-A", 50_000),
		"heredocs":             strings.Repeat("a = <<-A\n  }}} ${x}\n  A\n", 8_000),
		"a text":               "a = \"" + strings.Repeat("[", 3*chunkBytes) + "\"\nb = 1\n",
		"mixed":                mixed.String(),
	}
}

// TestLexer_MakesTheTokensOfTheWholeText is why a text can be looked at chunk by chunk.
func TestLexer_MakesTheTokensOfTheWholeText(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		whole, _ := hclsyntax.LexConfig([]byte(text), "", hcl.InitialPos)
		l := newLexer([]byte(text), "", hcl.InitialPos, math.MaxInt)
		var got hclsyntax.Tokens
		for tokens := l.next(); tokens != nil; tokens = l.next() {
			got = append(got, tokens...)
		}
		forget := func(tokens hclsyntax.Tokens) (short []string) {
			for _, token := range tokens {
				if token.Type != hclsyntax.TokenEOF && !(token.Type == hclsyntax.TokenComment && strings.HasPrefix(string(token.Bytes), "/*")) {
					short = append(short, fmt.Sprintf("%d %c %.20q", token.Range.Start.Byte, token.Type, token.Bytes))
				}
			}
			return short
		}
		want, have := forget(whole), forget(got)
		for i := range min(len(want), len(have)) {
			if want[i] != have[i] {
				t.Errorf("%s: token %d is %s, want %s", name, i, have[i], want[i])
				break
			}
		}
		if len(want) != len(have) {
			t.Errorf("%s: %d tokens, want %d", name, len(have), len(want))
		}
	}
}

func TestExceeds_FindsTheSameInChunks(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		n, depth := newPosition(), 0
		tokens, _ := hclsyntax.LexConfig([]byte(text), "", hcl.InitialPos)
		for _, token := range tokens {
			n.read(token)
			depth = max(depth, n.depth)
		}
		if _, deep := exceedsNative([]byte(text), depth); deep {
			t.Errorf("%s: deeper than %d", name, depth)
		}
		if _, deep := exceedsNative([]byte(text), depth-1); !deep {
			t.Errorf("%s: not as deep as %d", name, depth)
		}
	}
}

// TestParse_ReadsTheSameInPieces compares with the parser, which reads everything at once.
func TestParse_ReadsTheSameInPieces(t *testing.T) {
	t.Parallel()
	var blocks, arguments strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&blocks, "resource \"a\" \"b%d\" {\n  c = <<A\nresource \"x\" {\n}\n${1 + %d}\nA\n}\n", i, i)
		fmt.Fprintf(&arguments, "a%d = [\n%d,\nb, {\n}]\n", i, i)
	}
	for name, text := range map[string]string{"blocks": blocks.String(), "arguments": arguments.String(), "both": arguments.String() + blocks.String(),
		"a comment of one line": "# " + strings.Repeat("\u00e4", pieceBytes) + "\na = 1\n",
		"a list on one line":    "a = [" + strings.Repeat("\"${b}\", ", pieceBytes/5) + "]\nb {\n}\n",
		"a comment of lines":    "b {\n}\n/*" + strings.Repeat("a {\n", pieceBytes/3) + "*/\na = 1\n",
	} {
		want, diags := hclsyntax.ParseConfig([]byte(text), "x.tf", hcl.InitialPos)
		got, problems := Parse([]byte(text), "x.tf")
		if diags.HasErrors() || problems.HasErrors() || len(text) <= pieceBytes {
			t.Fatalf("%s: %.300v %.300v", name, diags, problems)
		}
		if whole, pieces := want.Body.(*hclsyntax.Body), got.Body.(*hclsyntax.Body); !reflect.DeepEqual(whole, pieces) {
			t.Errorf("%s: %d blocks and %d arguments from %v, want %d and %d from %v", name,
				len(pieces.Blocks), len(pieces.Attributes), pieces.SrcRange, len(whole.Blocks), len(whole.Attributes), whole.SrcRange)
		}
	}
}

func TestParse_TellsWhatIsWrongInPieces(t *testing.T) {
	t.Parallel()
	fine := strings.Repeat("b {\n}\n", 50_000)
	for name, c := range map[string]struct {
		text, want string
		line       int
	}{
		"an argument again":    {"a = 1\n" + fine + "a = 2\n", `The argument "a" was already set at x.tf:1,1-2.`, 100_002},
		"a sign":               {fine + "@\n", "This character is not used", 100_001},
		"an unclosed block":    {fine + "b {\n" + fine, "There is no closing brace", 100_001},
		"an unclosed list":     {"b {\n  a = [\n" + strings.Repeat("1,\n", 500_000), "What begins here isn't closed", 1},
		"an unclosed heredoc":  {"a = <<A\n" + strings.Repeat("b\n", 100_000), "What begins here isn't closed", 1},
		"a sign in a list":     {"a = [\n" + strings.Repeat("1,\n", 500_000) + "@]\n", "This character is not used", 500_002},
		"quotes":               {strings.Repeat("\"", 1_200_000), "Argument names must not be quoted", 1},
		"a list of nothing":    {"a = [" + strings.Repeat(",", 1_200_000) + "]\n", "Expected the start of an expression", 1},
		"a sign in each line":  {strings.Repeat("@\n", 200_000), "This character is not used", 1},
		"a mistake in a block": {fine + "b {\n  a = [1 2]\n}\n" + fine, "Expected a comma", 100_002},
	} {
		_, diags := Parse([]byte(c.text), "x.tf")
		if len(diags) == 0 || len(diags) > MostProblems || !strings.Contains(diags[0].Detail, c.want) || diags[0].Subject.Start.Line != c.line || diags[0].Subject.Filename != "x.tf" {
			t.Errorf("%s: %d: %.300v", name, len(diags), diags)
		}
	}
	if _, diags := ParseJSON([]byte("{\n\"a\": ["+strings.Repeat("1,", 200_000)+"\n}"), "x.json"); len(diags) != 1 || diags[0].Subject.Start.Line != 3 {
		t.Errorf("JSON: %v", diags)
	}
}
