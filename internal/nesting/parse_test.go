package nesting

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/internal/must"
)

// Tests read small chunks, so that small texts have many pieces.
const (
	testChunk = 4 << 10
	testPiece = 16 << 10
)

// texts are larger than several chunks, and have tokens across the end of a chunk.
func texts() map[string]string {
	inside := "b = 1\nc \"d\" {\n}\n]}) \" ${ [[[\n"
	return map[string]string{
		"arguments":            strings.Repeat("a = [1, 2, \"${x[0]}\"]\n", 625),
		"a comment":            "a = 1\n/* " + strings.Repeat(inside, 312) + " */\nz = [1]\n",
		"a comment, one line":  "a = [/* " + strings.Repeat("[[(", 3_125) + " */ 1]\n",
		"a comment in a text":  "a = \"${ /* " + strings.Repeat("} \" [", 2_500) + " */ 1 }\"\nb = [[1]]\n",
		"an unclosed comment":  strings.Repeat("/*/ ", 3_125),
		"a heredoc":            "a = <<A\n" + strings.Repeat("b = <<B\n"+"[[[ \"\n", 100) + strings.Repeat("x", 2*testChunk) + "\nA\nb = 1\n",
		"one line":             "a = [" + strings.Repeat("{b=\"\u00e9${c}\"},", 1_250) + "]\n",
		"letters on one line":  "a = [" + strings.Repeat("\u00e9\u0600,", 3_125) + "]\n",
		"heredocs on one line": strings.Repeat("<<-A", 3_125),
		"heredocs":             strings.Repeat("a = <<-A\n  }}} ${x}\n  A\n", 500),
		"a text":               "a = \"" + strings.Repeat("[", 3*testChunk) + "\"\nb = 1\n",
		"mixed":                mixed(3 * testChunk),
	}
}

// mixed returns a text of all significant characters, in random order.
func mixed(size int) string {
	r := rand.New(rand.NewPCG(1, 2))
	signs := []string{"a", " ", "\n", "\"", "${", "}", "{", "[", "]", "(", ")", "<<A\n", "<<-B\n", "A\n", "B\n", "/*", "*/", "# c", "//", "=", ",", "1", "\u00e9", "\xff", "\\", "%{ if", "<", "-", "\r\n", "\x00", "@"}
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(signs[r.IntN(len(signs))])
	}
	return text.String()
}

// TestLexer_MakesTheTokensOfTheWholeText proves that a text can be tokenized in chunks.
func TestLexer_MakesTheTokensOfTheWholeText(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		whole, _ := hclsyntax.LexConfig([]byte(text), "", hcl.InitialPos)
		l := newLexer([]byte(text), "", testChunk, hcl.InitialPos, math.MaxInt)
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
		must.Equal(t, len(have), len(want), name)
	}
}

func TestExceeds_FindsTheSameInChunks(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		depth := depthOf(text)
		if _, deep := exceedsNative([]byte(text), testChunk, depth); deep {
			t.Errorf("%s: deeper than %d", name, depth)
		}
		if _, deep := exceedsNative([]byte(text), testChunk, depth-1); !deep {
			t.Errorf("%s: not as deep as %d", name, depth)
		}
	}
}

// FuzzIsShallow compares the results of bytes and tokens: a text that is shallow by its bytes is so
// by its tokens.
func FuzzIsShallow(f *testing.F) {
	for _, text := range append(slices.Collect(maps.Values(texts())), mixed(300), "a = \"%{ if b }\\\"${c[\"d\"]}\" # ]\n", "a = \"$%{ {\" \\\n[", "a {\n  b = [1, -2 // (\n  ]\n}\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if depth := depthOf(text); depth > 0 && isShallow([]byte(text), depth-1) {
			t.Fatalf("%d levels are found to be fewer", depth)
		}
	})
}

// TestIsShallow_KnowsWhatPeopleWrite has all syntax for which bytes are sufficient.
func TestIsShallow_KnowsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	const one = "resource \"a\" \"b\" { # (\n  c = [for x in d.e[0] : \"\u00e9 $5 50% \\\" $\" \"%\\n${x ? f(\"}\") : {g = -1}}\"] // {\n  h = i == (1 + 2) / 3 && !(j < k)\n}\n"
	if text := strings.Repeat(one, 100); !isShallow([]byte(text), 2*depthOf(one)) {
		t.Errorf("%d levels aren't seen at once", depthOf(one))
	}
	for _, text := range texts() {
		for i := range 200 {
			if part := text[i : i+500]; isShallow([]byte(part), max(0, depthOf(part)-1)) && depthOf(part) > 0 {
				t.Errorf("%.80q is deeper", part)
			}
		}
	}
}

// depthOf returns the depth of a text by its tokens.
func depthOf(text string) (depth int) {
	n := newPosition()
	tokens, _ := hclsyntax.LexConfig([]byte(text), "", hcl.InitialPos)
	for _, token := range tokens {
		n.read(token)
		depth = max(depth, n.depth)
	}
	return depth
}

// TestParse_ReadsTheSameInPieces compares with the parser, which reads the whole text at once.
func TestParse_ReadsTheSameInPieces(t *testing.T) {
	t.Parallel()
	var blocks, arguments strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&blocks, "resource \"a\" \"b%d\" {\n  c = <<A\nresource \"x\" {\n}\n${1 + %d}\nA\n}\n", i, i)
		fmt.Fprintf(&arguments, "a%d = [\n%d,\nb, {\n}]\n", i, i)
	}
	for name, text := range map[string]string{"blocks": blocks.String(), "arguments": arguments.String(), "both": arguments.String() + blocks.String(),
		"a comment of one line": "# " + strings.Repeat("\u00e4", testPiece) + "\na = 1\n",
		"a list on one line":    "a = [" + strings.Repeat("\"${b}\", ", testPiece/5) + "]\nb {\n}\n",
		"a comment of lines":    "b {\n}\n/*" + strings.Repeat("a {\n", testPiece/3) + "*/\na = 1\n",
	} {
		want, diags := hclsyntax.ParseConfig([]byte(text), "x.tf", hcl.InitialPos)
		got, problems := parse([]byte(text), "x.tf", testPiece)
		if diags.HasErrors() || problems.HasErrors() || len(text) <= testPiece {
			t.Fatalf("%s: %.300v %.300v", name, diags, problems)
		}
		must.DeepEqual(t, got.Body.(*hclsyntax.Body), want.Body.(*hclsyntax.Body), name)
	}
}

func TestParse_TellsWhatIsWrongInPieces(t *testing.T) {
	t.Parallel()
	fine := strings.Repeat("b {\n}\n", 3_000)
	for name, c := range map[string]struct {
		text, want string
		line       int
	}{
		"an argument again":    {"a = 1\n" + fine + "a = 2\n", `The argument "a" was already set at x.tf:1,1-2.`, 6_002},
		"a sign":               {fine + "@\n", "This character is not used", 6_001},
		"an unclosed block":    {fine + "b {\n" + fine, "There is no closing brace", 6_001},
		"an unclosed list":     {"b {\n  a = [\n" + strings.Repeat("1,\n", 30_000), "What begins here isn't closed", 1},
		"an unclosed heredoc":  {"a = <<A\n" + strings.Repeat(strings.Repeat("b", 79)+"\n", 1_000), "What begins here isn't closed", 1},
		"a sign in a list":     {"a = [\n" + strings.Repeat("1,\n", 30_000) + "@]\n", "This character is not used", 30_002},
		"quotes":               {strings.Repeat("\"", 75_000), "Argument names must not be quoted", 1},
		"a list of nothing":    {"a = [" + strings.Repeat(",", 75_000) + "]\n", "Expected the start of an expression", 1},
		"a sign in each line":  {strings.Repeat("@\n", 12_500), "This character is not used", 1},
		"a mistake in a block": {fine + "b {\n  a = [1 2]\n}\n" + fine, "Expected a comma", 6_002},
	} {
		_, diags := parse([]byte(c.text), "x.tf", testPiece)
		if len(diags) == 0 || len(diags) > MostProblems || !strings.Contains(diags[0].Detail, c.want) || diags[0].Subject.Start.Line != c.line || diags[0].Subject.Filename != "x.tf" {
			t.Errorf("%s: %d: %.300v", name, len(diags), diags)
		}
	}
	// The parser would take ten seconds to a minute.
	lines := strings.Repeat(strings.Repeat("x", 25)+"\n", 40_000)
	for name, text := range map[string]string{
		"a heredoc":           "a = 1\nb = <<A\n" + lines + "A\n",
		"an unclosed heredoc": "a = 1\nb = <<A\n" + lines,
		"many heredocs":       "a = 1\n" + strings.Repeat("b = <<A\n"+strings.Repeat("y\n", 1000)+"A\n", 1000),
		"a text of one line":  "a = 1\nb = \"" + strings.Repeat("$ %", 100_000) + "\"",
	} {
		if _, diags := Parse([]byte(text), "x.tf"); len(diags) != 1 || diags[0].Summary != "Text too long" || diags[0].Subject.Start.Line != 2 && name != "many heredocs" {
			t.Errorf("%s: %v", name, diags)
		}
	}
	if diags := longText([]byte("a = <<A\n"+strings.Repeat(strings.Repeat("x", 59)+"\n", 8_000)+"A\n"), "x.tf"); diags.HasErrors() {
		t.Errorf("a long text: %v", diags)
	}
	_, diags := ParseJSON([]byte("{\n\"a\": ["+strings.Repeat("1,", 200_000)+"\n}"), "x.json")
	must.Len(t, diags, 1)
	must.Equal(t, diags[0].Subject.Start.Line, 3)
}
