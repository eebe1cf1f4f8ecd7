package dialect

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestUnderstands_HasTheWordsThatAreAskedFor reads the sources of the module: a word without a row is misspelt, and a row that no
// code uses has no effect.
func TestUnderstands_HasTheWordsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	asked := map[string]bool{}
	question := regexp.MustCompile(`\.Understands\("([a-z0-9_]+)"\)`)
	must.Succeed(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range question.FindAllSubmatch(source, -1) {
			asked[string(found[1])] = true
		}
		return err
	}))
	for _, name := range []string{"download_retry_count", "trust_all_hashes", "create-default-workspace", "target"} {
		asked[name] = true // which are asked for by their names in the CLI configuration, and as options
	}
	known := map[string]bool{}
	for word := range words() {
		known[word] = true
	}
	if !maps.Equal(asked, known) {
		t.Errorf("asked for: %v; in the table: %v", asked, known)
	}
}

func TestOf_VersionsOfOpenTofuDiffer(t *testing.T) {
	for version, everywhere := range map[string]bool{"1.6.0": true, "1.11.9": true, "1.12.0": false, "1.13.0-beta1": false, "": false} {
		must.Equal(t, Of(getproviders.OpenTofu(version)).Understands("language"), !everywhere, version)
	}
}
