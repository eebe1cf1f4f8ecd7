package depsfile

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// A lock file of 70 MB once took fourteen gigabytes of memory.
func TestLoad_RefusesFilesThatTakeAllMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(file.Truncate(8<<20+1), file.Close())
	}
	must.Succeed(t, err)
	if _, diags := Load(path, getproviders.Terraform("1.15.9")); len(diags) != 1 || !strings.Contains(diags.Error(), "larger than the limit of 8388608 bytes") {
		t.Errorf("got %.200v", diags)
	}
}

// Rejected files aren't parsed, and accepted ones take little memory, and so
// little time: each of these files once took 5 to 50 seconds and gigabytes.
func TestDecode_BoundsTheWorkOfParsing(t *testing.T) {
	const start, end = "provider \"registry.terraform.io/a/b\" {\n version = \"1.0.0\"\n ", "\n}\n"
	for name, test := range map[string]struct{ before, unit, after string }{
		"numbers in a list":    {start + "hashes = [", "0,", "]" + end},
		"empty texts":          {start + "hashes = [", "\"\",", "]" + end},
		"constraints":          {start + "constraints=\"", ">1,", ">1\"" + end},
		"words":                {unit: "a "},
		"blank lines":          {unit: "\n"},
		"carriage returns":     {unit: "\r"},
		"attributes":           {unit: "a=0\n"},
		"blocks":               {unit: "a{}\n"},
		"closing brackets":     {unit: "}"},
		"no UTF-8":             {unit: "\xff"},
		"letters of two bytes": {unit: "\u0301"},
		"sums":                 {"a=", "0+", "0\n"},
		"traversals":           {"a=b", ".b", "\n"},
		"interpolations":       {"a=\"", "${0}", "\"\n"},
		"lines of text":        {unit: "\"\n"},
		"in a comment":         {"/* \"", "0,", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := func(size int) string {
				return test.before + strings.Repeat(test.unit, size/len(test.unit)) + test.after
			}
			diags, allocated := decodeCounting(text(1 << 20))
			if !strings.Contains(diags.Error(), "more than 250000 words and signs") || allocated > 1<<20 {
				t.Errorf("1 MB: %d MB allocated, and %.200v", allocated>>20, diags)
			}
			if testing.Short() {
				return
			}
			if _, allocated = decodeCounting(text(30_000)); allocated > 120<<20 {
				t.Errorf("30 kB: %d MB allocated", allocated>>20)
			}
		})
	}
	hashes := make([]getproviders.Hash, 0, 25_000)
	for i := range cap(hashes) {
		hashes = append(hashes, getproviders.ZH(sha256.Sum256([]byte{byte(i), byte(i >> 8)})))
	}
	locks := &Locks{}
	locks.Set(Lock{Provider: getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "a", Type: "b"}, Version: getproviders.MustParseVersion("1.0.0"), Hashes: hashes})
	if read, diags := Decode(locks.Encode(getproviders.Terraform("1.15.9")), "", getproviders.Terraform("1.15.9")); len(diags) > 0 || !read.Equal(locks) {
		t.Errorf("a long lock file: %v", diags)
	}
}

// decodeCounting returns how many bytes decoding allocates.
func decodeCounting(text string) (hcl.Diagnostics, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, diags := Decode([]byte(text), "", getproviders.Terraform("1.15.9"))
	runtime.ReadMemStats(&after)
	return diags, after.TotalAlloc - before.TotalAlloc - uint64(len(text))
}
