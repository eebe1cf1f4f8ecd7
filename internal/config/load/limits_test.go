package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// Parsing a file of 88 MB would take ten gigabytes of memory.
func TestLoadModule_RefusesFilesThatTakeAllMemory(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "main.tf"))
	if err == nil {
		err = errors.Join(file.Truncate(16<<20+1), file.Close())
	}
	must.Succeed(t, err)
	_, diags := LoadModule(dir, asTerraform)
	must.Len(t, diags, 1)
	must.Contain(t, diags, "main.tf: larger than the limit of 16777216 bytes")
	for text, want := range map[string]string{
		string(make([]byte, 15<<20)):        "the files of DIR are larger than the limit of 67108864 bytes together",
		"# " + strings.Repeat("0,", 350000): "With this file, the module and its tests have more than 3200000 words",
	} {
		dir := t.TempDir()
		for i := range 5 {
			must.Write(t, filepath.Join(dir, fmt.Sprint(i, ".tf")), text)
		}
		_, diags := LoadModule(dir, asTerraform)
		must.Contain(t, strings.ReplaceAll(diags.Error(), dir, "DIR"), want)
	}
}

func TestLoadModuleContext_EndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.tf", "b.tf"} {
		must.Write(t, filepath.Join(dir, name), "bogus {}\n")
	}
	product := asTerraform
	if _, diags := LoadModuleContext(t.Context(), dir, product, Options{}); len(diags) != 2 {
		t.Errorf("with time: %v", diags)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	module, diags := LoadModuleContext(ctx, dir, product, Options{})
	if len(diags) != 1 || !strings.Contains(diags.Error(), "enough") || module == nil || module.Empty {
		t.Errorf("without time: %v, %+v", diags, module)
	}
	read := 0
	if _, diags := LoadModuleWith(dir, product, Options{done: func() bool { read++; return read > 1 }}); len(diags) != 1 {
		t.Errorf("files were read after the end: %v", diags)
	}
}

// The costs depend on the tokens rather than the bytes: 16 MB of them took six gigabytes of memory.
func TestLoadModule_RefusesFilesOfTooManyTokens(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		refused    bool
	}{
		"a list":          {"main.tf", "locals {\n  x = [" + strings.Repeat("0,", 1_000_000) + "]\n}\n", true},
		"a list in JSON":  {"main.tf.json", `{"locals": {"x": [` + strings.Repeat("0,", 1_000_000) + `0]}}`, true},
		"empty lines":     {"main.tf", strings.Repeat("\n", 2_000_001), true},
		"one long text":   {"main.tf", "locals {\n  x = \"" + strings.Repeat("abcdefgh", 500_000) + "\"\n}\n", false},
		"letters, umlaut": {"main.tf", "# " + strings.Repeat("\u00e4", 2_000_000) + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "a list in JSON" {
				t.Skip("reads four million tokens")
			}
			dir := t.TempDir()
			must.Write(t, filepath.Join(dir, c.file), c.text)
			_, diags := LoadModule(dir, asTerraform)
			if refused := strings.Contains(diags.Error(), "Configuration too large"); refused != c.refused || !refused && diags.HasErrors() {
				t.Errorf("%.300v", diags)
			}
		})
	}
}
