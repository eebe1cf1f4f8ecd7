package getproviders

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestLanguage_HasTheWordsThatAreAskedFor reads the sources of the module: a word that no product has is misspelt, and one that
// nothing asks for has no effect.
func TestLanguage_HasTheWordsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	question := regexp.MustCompile(`\.Understands\("([a-z0-9_]+)"\)`)
	must.Succeed(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range question.FindAllSubmatch(source, -1) {
			asked[string(found[1])] = true
		}
		return err
	}))
	for _, name := range []string{"download_retry_count", "trust_all_hashes", "any_role"} {
		asked[name] = true // which the reader of the CLI configuration and the rules for backends ask for by their names there
	}
	known := map[string]bool{}
	for _, word := range slices.Concat(Terraform("").language, OpenTofu("").language) {
		known[word] = true
	}
	if !maps.Equal(asked, known) {
		t.Errorf("asked for: %v; in the tables: %v", asked, known)
	}
}
