// Package embed builds and runs the programs of testdata/embed, which use the
// engine's packages as other programs do.
package embed

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// embedPackage is a small program that embeds the engine.
const embedPackage = "testdata/embed/install"

// maxEmbedBytes is how large that program may be, stripped.
const maxEmbedBytes = 12_000_000

// embedModules are the modules of others that may stand below the engine's
// packages. No go-getter, no cloud SDK, no terminal and no command library: a
// program that embeds the engine must not pay for what only ours needs.
var embedModules = []string{
	"github.com/ProtonMail/go-crypto",
	"github.com/agext/levenshtein",
	"github.com/apparentlymart/go-textseg/v15",
	"github.com/cloudflare/circl",
	"github.com/hashicorp/go-cleanhttp",
	"github.com/hashicorp/go-retryablehttp",
	"github.com/hashicorp/hcl/v2",
	"github.com/hashicorp/terraform-svchost",
	"github.com/klauspost/compress",
	"github.com/mitchellh/go-wordwrap",
	"github.com/zclconf/go-cty",
	"golang.org/x/crypto",
	"golang.org/x/net",
	"golang.org/x/sys",
	"golang.org/x/text",
}

func TestEmbed_IsSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links a program")
	}
	program := buildEmbed(t)
	info := must.Get(os.Stat(program))(t)
	t.Logf("%d bytes", info.Size())
	if info.Size() >= maxEmbedBytes {
		t.Errorf("a program that embeds the engine has %d bytes, want less than %d", info.Size(), maxEmbedBytes)
	}
}

func TestEmbed_ProgramsAreShort(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob(harness.Path(t, "testdata", "embed", "*", "*.go"))
	if err != nil || len(programs) < 9 {
		t.Fatalf("found %q, %v", programs, err)
	}
	for _, program := range programs {
		if lines := strings.Count(harness.ReadText(t, program), "\n"); lines >= 80 {
			t.Errorf("%s has %d lines, want fewer than 80", program, lines)
		}
	}
}

func TestEmbed_IsLight(t *testing.T) {
	for _, module := range heavyModules(goListModules(t, embedPackage)) {
		t.Errorf("%s came below the engine", module)
	}
}

// TestHeavyModules_CanFail: the command needs what the engine must not have, so
// the check that passes for the one has to fail for the other.
func TestHeavyModules_CanFail(t *testing.T) {
	if heavy := heavyModules(goListModules(t, ".")); !slices.Contains(heavy, "github.com/mitchellh/cli") {
		t.Errorf("of the command's modules %q are heavy, want github.com/mitchellh/cli among them", heavy)
	}
}

// heavyModules returns those that may not stand below the engine.
func heavyModules(modules []string) []string {
	return slices.DeleteFunc(modules, func(m string) bool {
		return m == "github.com/tfdeps/tfdeps" || slices.Contains(embedModules, m)
	})
}

// goListModules returns the modules that a package is built from.
func goListModules(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := harness.GoCommand("list", "-C", harness.Path(t, pkg), "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v%s", err, harness.StderrOf(err))
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}

// buildEmbed builds the program as its publisher would.
func buildEmbed(tb testing.TB) string {
	tb.Helper()
	return harness.Build(tb, embedPackage)
}

// BenchmarkEmbedStart is the start of a program that embeds the engine: what
// its packages do before main, and the process itself. The budget is 4 ms.
func BenchmarkEmbedStart(b *testing.B) {
	program := buildEmbed(b)
	for b.Loop() {
		// Without arguments it only prints its usage, and exits with 1.
		if err := exec.Command(program).Run(); err == nil {
			b.Fatal("started without arguments, the program did something")
		}
	}
}
