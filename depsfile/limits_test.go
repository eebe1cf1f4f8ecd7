package depsfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// A lock file of 70 MB once took fourteen gigabytes of memory.
func TestLoad_RefusesFilesThatTakeAllMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(file.Truncate(8<<20+1), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, diags := Load(path, getproviders.Terraform("1.15.9")); len(diags) != 1 || !strings.Contains(diags.Error(), "larger than the limit of 8388608 bytes") {
		t.Errorf("got %.200v", diags)
	}
}
