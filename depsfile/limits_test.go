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

// What is refused isn't parsed, and what isn't refused takes so little memory that it can't take
// long, either: each of these took 5 to 50 seconds and gigabytes.
func TestDecode_BoundsTheWorkOfParsing(t *testing.T) {
	fill := func(unit string, size int) string { return strings.Repeat(unit, size/len(unit)) }
	list := func(unit string, size int) string {
		return "provider \"registry.terraform.io/a/b\" {\n version = \"1.0.0\"\n hashes = [" + fill(unit, size) + "]\n}\n"
	}
	for name, text := range map[string]func(size int) string{
		"numbers in a list":    func(size int) string { return list("0,", size) },
		"empty texts":          func(size int) string { return list("\"\",", size) },
		"words":                func(size int) string { return fill("a ", size) },
		"blank lines":          func(size int) string { return fill("\n", size) },
		"carriage returns":     func(size int) string { return fill("\r", size) },
		"attributes":           func(size int) string { return fill("a=0\n", size) },
		"blocks":               func(size int) string { return fill("a{}\n", size) },
		"closing brackets":     func(size int) string { return fill("}", size) },
		"no UTF-8":             func(size int) string { return fill("\xff", size) },
		"letters of two bytes": func(size int) string { return fill("\u0301", size) },
		"sums":                 func(size int) string { return "a=" + fill("0+", size) + "0\n" },
		"traversals":           func(size int) string { return "a=b" + fill(".b", size) + "\n" },
		"interpolations":       func(size int) string { return "a=\"" + fill("${0}", size) + "\"\n" },
		"lines of text":        func(size int) string { return fill("\"\n", size) },
		"in a comment":         func(size int) string { return "/* \"" + fill("0,", size) },
		"constraints": func(size int) string {
			return "provider \"registry.terraform.io/a/b\" {\n version=\"1.0.0\"\n constraints=\"" + fill(">1,", size) + ">1\"\n}\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
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
