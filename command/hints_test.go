package command

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/internal/must"
)

// weaker matches advice that weakens checks: removing a file with hashes, accepting a key or a hash, dropping a rule.
var weaker = regexp.MustCompile(`(?i)\b(leave out the (option|rule)|(delete|remove) (it|this|the (file|block|other|lock)|them|that directory)\b|moved away|can go\b|add (the|its) hash|accept-hash=HASH for|` +
	`providers lock[^.]* records|records it\b|line \d+ of \S+ changed|known_hosts|safe\.directory|sslCAInfo|(its|authority's) certificate\b|-upgrade", which)`)

// inspected matches the beginning of such advice, which says what to check first.
var inspected = regexp.MustCompile(`(?i)\b(look at|see (who|which|whether)|compare|find out|ask those|if you know)\b`)

// Hints never weaken integrity: advice that weakens a check first says what to look at. The test
// reads all texts of the program, and failures.txtar.
func TestHints_SayWhatToLookAtFirst(t *testing.T) {
	t.Parallel()
	weak := 0
	check := func(where, text string) {
		at := weaker.FindStringIndex(text)
		if at == nil {
			return
		}
		weak++
		if !inspected.MatchString(text[:at[0]]) {
			t.Errorf("%s: %q says %q, and not before that what to look at", where, text, text[at[0]:at[1]])
		}
	}
	for path, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			expression, ok := n.(ast.Expr)
			if text := joined(expression); ok && text != "" {
				check(path, text)
				return false
			}
			return true
		})
	}
	content := must.Get(os.ReadFile(filepath.Join("testdata", "failures.txtar")))(t)
	for _, failure := range txtar.Parse(content).Files {
		check(failure.Name, string(failure.Data))
	}
	if weak < 10 {
		t.Errorf("%d texts advise what has to be looked at before, and there are more: the pattern finds too few", weak)
	}
}

// joined returns the text of a string literal, or of several joined by +, or "" for another expression.
func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return map[bool]string{true: text}[e.Kind == token.STRING]
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return joined(e.X) + joined(e.Y)
		}
	case *ast.ParenExpr:
		return joined(e.X)
	}
	return ""
}
