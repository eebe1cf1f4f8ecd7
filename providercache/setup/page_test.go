package setup_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// The page of the engine has these examples, as they run: it can show no other code.
func TestExamples_AreThoseOfThePage(t *testing.T) {
	t.Parallel()
	source := string(must.Get(os.ReadFile("example_test.go"))(t))
	var examples []string
	for _, found := range regexp.MustCompile(`(?ms)^func Example_\w+\(\) \{\n.*?^\}$`).FindAllString(source, -1) {
		_, body, _ := strings.Cut(found, "\n\n")
		body, _, _ = strings.Cut(strings.TrimSuffix(body, "}"), "\t// Output:")
		examples = append(examples, strings.ReplaceAll(strings.TrimPrefix(body, "\t"), "\n\t", "\n"))
	}
	page := string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "engine.md")))(t))
	var shown []string
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page, -1) {
		shown = append(shown, block[1])
	}
	must.EqualSlices(t, shown, examples)
	must.Equal(t, len(shown), 11)
}
