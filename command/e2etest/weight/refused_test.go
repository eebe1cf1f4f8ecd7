package weight

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// What the program takes at most for input that it refuses, as docs/trust.md says.
const (
	maxRefusedOutput = 1 << 20
	maxRefusedMemory = 400 << 20
)

// shapes of bad input: a part that is repeated until the input is as large as is asked for, with a number in the place of №, between "…" and "…"
// where there is something before it and behind it.
var shapes = map[string]string{
	"signs":              "@",
	"signs in lines":     "@\n",
	"lists":              "[",
	"blocks in blocks":   "{",
	"parentheses":        "(",
	"closing brackets":   "}])",
	"quotation marks":    `"`,
	"unclosed quotes":    "\"a\n",
	"templates":          `a = "…${…`,
	"escapes":            `a = "…\q…"` + "\n",
	"heredocs":           "a = <<A\n",
	"comments":           "/*",
	"one long name":      "x",
	"one long label":     "bogus \"…x…\" {}\n",
	"names":              "a\n",
	"missing values":     "a =\n",
	"references":         "a = b\n",
	"lists of nothing":   "a = […,…",
	"operators":          "a = …1-…",
	"unknown blocks":     "bogus \"x\" {}\n",
	"duplicate blocks":   "variable \"x\" {}\n",
	"unknown arguments":  "variable \"x\" {\n  q = 1\n}\n",
	"conflicts":          "<<<<<<<\n",
	"nothing":            "\x00",
	"no UTF-8":           "\xff",
	"byte order marks":   "\ufeff",
	"lists in JSON":      `{"a":…[…`,
	"a list in JSON":     `{"a":[…1,…`,
	"duplicates in JSON": `{…"a":1,…"a":1}`,
	"wrong in JSON":      `{"variable":[…{"x":{"q":1}},…{}]}`,
	"controls in JSON":   "{\"…\x01…\":1}",
	"a list":             "locals {\n  a = […0,…]\n}\nbogus {}\n",
	"lists of lists":     "locals {\n  a = […[b],…]\n}\nbogus {}\n",
	"sums":               "locals {\n  a = [1…,1-1+1…]\n}\nbogus {}\n",
	"local values":       "locals {\n…x№=y\n…}\nbogus {}\n",
	"a heredoc":          "locals {\n  a = <<A\n…text of a line\n…A\n}\nbogus {}\n",
	"parts of a text":    "locals {\n  a = \"…$ %…\"\n}\nbogus {}\n",
	"many heredocs":      "locals {\n…a = <<A\n" + strings.Repeat("text of a line\n", 1000) + "A\n…}\nbogus {}\n",
	"wrong locks":        "provider \"tf.example.com/a/b№\" {\n}\nmodule \"c№\" {\n}\nhost \"№\" {}\n",
}

// inShape is an input of a shape, of at most a size.
func inShape(shape string, size int) string {
	parts := strings.Split(shape, "…")
	if len(parts) == 1 {
		parts = []string{"", shape, ""}
	}
	var b strings.Builder
	b.WriteString(parts[0])
	for i := 0; ; i++ {
		part := strings.ReplaceAll(parts[1], "№", strconv.Itoa(i))
		if b.Len()+len(part)+len(parts[2]) > size {
			return b.String() + parts[2]
		}
		b.WriteString(part)
	}
}

const (
	required = "terraform {\n  required_providers {\n    a = { source = \"tf.example.com/a/a\" }\n  }\n}\n"
	backend  = "terraform {\n  backend \"local\" {}\n}\n"
	call     = "module \"a\" {\n  source = \"./a\"\n}\n"
)

// formats are the formats that init reads: the name of the file, the configuration that makes init read it, and sizes: an attacker's
// first try, just below the limit for words and signs, and nearly the maximum size of the file.
var formats = map[string]struct {
	file, config string
	sizes        []int
	args         []string
}{
	"configuration":      {"main.tf", "", []int{100_000, 790_000, 3_500_000, 16_000_000}, nil},
	"in JSON":            {"main.tf.json", "", []int{100_000, 790_000, 3_500_000}, nil},
	"a test":             {"a.tftest.hcl", "", []int{100_000}, nil},
	"variables":          {"terraform.tfvars", "variable \"a\" {}\n", []int{790_000, 3_500_000}, nil},
	"variables in JSON":  {"terraform.tfvars.json", "variable \"a\" {}\n", []int{790_000, 3_500_000}, nil},
	"lock file":          {".terraform.lock.hcl", required, []int{200_000, 8_000_000}, nil},
	"lock of modules":    {".tfdeps.modules.lock.hcl", call, []int{790_000}, nil},
	"CLI configuration":  {"cli.tfrc", required, []int{1_000_000}, nil},
	"state":              {"terraform.tfstate", "", []int{4_000_000}, nil},
	"record of modules":  {".terraform/modules/modules.json", call, []int{4_000_000}, nil},
	"record of backends": {".terraform/terraform.tfstate", backend, []int{4_000_000}, nil},
	"backend's settings": {"b.tfbackend", backend, []int{100_000}, []string{"-backend-config=b.tfbackend"}},
	"policy":             {"tfdeps.hcl", required, []int{500_000}, nil},
	"registry":           {"registry", required, []int{100_000, 4_000_000}, nil},
}

// TestRefused_TakesLittleOfMemoryAndLog tests each shape of bad input in each format: one case in two hundred, one in ten if all
// comparisons with other programs run, as in CI, or all of them with TFDEPS_TEST_REFUSED=all, which takes half an hour on two idle
// cores.
func TestRefused_TakesLittleOfMemoryAndLog(t *testing.T) {
	share := uint32(200)
	switch {
	case os.Getenv("TFDEPS_TEST_REFUSED") == "all":
		share = 1
	case peertest.All():
		share = 10
	}
	program := harness.Tfdeps(t)
	for format, f := range formats {
		for shape := range shapes {
			for _, size := range f.sizes {
				t.Run(fmt.Sprintf("%s/%s/%d", format, shape, size), func(t *testing.T) {
					chosen := fnv.New32a()
					_, _ = chosen.Write([]byte(t.Name()))
					if chosen.Sum32()%share != 0 {
						t.Skip("another case is enough")
					}
					t.Parallel()
					dir, text := t.TempDir(), inShape(shapes[shape], size)
					must.Write(t, filepath.Join(dir, f.file), text)
					if f.config != "" {
						must.Write(t, filepath.Join(dir, "main.tf"), f.config)
						must.Write(t, filepath.Join(dir, "a/main.tf"), "")
					}
					checkRefusal(t, dir, program, append([]string{"init", "-input=false"}, f.args...), text)
				})
			}
		}
	}
}

// checkRefusal runs a command that may fail. What it accepts may take more.
func checkRefusal(t *testing.T, dir, program string, args []string, answer string) {
	t.Helper()
	registry := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	defer registry.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: registry.Certificate().Raw})
	must.Write(t, filepath.Join(dir, "ca.pem"), certificate)
	if _, err := os.Stat(filepath.Join(dir, "cli.tfrc")); err != nil {
		must.Write(t, filepath.Join(dir, "cli.tfrc"), fmt.Appendf(nil, "host \"tf.example.com\" {\n  services = {\n    \"providers.v1\" = \"%s/\"\n  }\n}\n", registry.URL))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // on a machine that has other work; alone it takes 5 s at most
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	// Without PATH the real program isn't asked for its version: it would read the same files, and take its own memory.
	cmd.Env = harness.Env(t, "TF_CLI_CONFIG_FILE=cli.tfrc", "SSL_CERT_FILE=ca.pem", "GOGC=100", "PATH=")
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	if err == nil {
		return
	}
	memory := memoryOf(cmd.ProcessState)
	if cmd.ProcessState.ExitCode() != 1 || out.Len() > maxRefusedOutput || memory > maxRefusedMemory || !strings.Contains(out.String(), "Error") {
		t.Errorf("%v with %d bytes of output and %d MiB of memory:\n%.300s", err, out.Len(), memory>>20, &out)
	}
}
