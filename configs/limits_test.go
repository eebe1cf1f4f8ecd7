package configs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// A file of 88 MB would take ten gigabytes of memory, if it were parsed.
func TestLoadModule_RefusesFilesThatTakeAllMemory(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "main.tf"))
	if err == nil {
		err = errors.Join(file.Truncate(16<<20+1), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	_, diags := LoadModule(dir, getproviders.Terraform("1.15.9"))
	if len(diags) != 1 || !strings.Contains(diags.Error(), "main.tf: larger than the limit of 16777216 bytes") {
		t.Errorf("got %v", diags)
	}
}

func TestLoadModuleContext_EndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.tf", "b.tf"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("bogus {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	product := getproviders.Terraform("1.15.9")
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
