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
	"strings"
	"syscall"
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

// shapes of bad input, each made as large as is asked for.
var shapes = map[string]func(size int) string{
	"signs":              repeated("@"),
	"signs in lines":     repeated("@\n"),
	"lists":              repeated("["),
	"blocks in blocks":   repeated("{"),
	"parentheses":        repeated("("),
	"closing brackets":   repeated("}])"),
	"quotation marks":    repeated(`"`),
	"unclosed quotes":    repeated("\"a\n"),
	"templates":          func(size int) string { return `a = "` + repeated("${")(size) },
	"escapes":            func(size int) string { return `a = "` + repeated(`\q`)(size) + "\"\n" },
	"heredocs":           repeated("a = <<A\n"),
	"comments":           repeated("/*"),
	"one long name":      repeated("x"),
	"one long label":     func(size int) string { return `bogus "` + repeated("x")(size) + "\" {}\n" },
	"names":              repeated("a\n"),
	"missing values":     repeated("a =\n"),
	"references":         repeated("a = b\n"),
	"lists of nothing":   func(size int) string { return "a = [" + repeated(",")(size) },
	"operators":          func(size int) string { return "a = " + repeated("1-")(size) },
	"unknown blocks":     repeated("bogus \"x\" {}\n"),
	"duplicate blocks":   repeated("variable \"x\" {}\n"),
	"unknown arguments":  repeated("variable \"x\" {\n  q = 1\n}\n"),
	"conflicts":          repeated("<<<<<<<\n"),
	"nothing":            repeated("\x00"),
	"no UTF-8":           repeated("\xff"),
	"byte order marks":   repeated("\ufeff"),
	"lists in JSON":      func(size int) string { return `{"a":` + repeated("[")(size) },
	"a list in JSON":     func(size int) string { return `{"a":[` + repeated("1,")(size) },
	"duplicates in JSON": func(size int) string { return "{" + repeated(`"a":1,`)(size) + `"a":1}` },
	"wrong in JSON":      func(size int) string { return `{"variable":[` + repeated(`{"x":{"q":1}},`)(size) + `{}]}` },
	"controls in JSON":   func(size int) string { return `{"` + repeated("\x01")(size) + `":1}` },
	"a list": func(size int) string {
		return "locals {\n  a = [" + strings.Repeat("0,", (size-50)/2) + "]\n}\nbogus {}\n"
	},
	"lists of lists": func(size int) string {
		return "locals {\n  a = [" + strings.Repeat("[b],", (size-50)/4) + "]\n}\nbogus {}\n"
	},
	"sums": func(size int) string {
		return "locals {\n  a = [1" + strings.Repeat(",1-1+1", (size-50)/6) + "]\n}\nbogus {}\n"
	},
	"local values": func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size-50; i++ {
			fmt.Fprintf(&b, "x%x=y\n", i)
		}
		return "locals {\n" + b.String() + "}\nbogus {}\n"
	},
	"a heredoc": func(size int) string {
		return "locals {\n  a = <<A\n" + repeated("text of a line\n")(size-50) + "\nA\n}\nbogus {}\n"
	},
	"parts of a text": func(size int) string { return "locals {\n  a = \"" + repeated("$ %")(size-50) + "\"\n}\nbogus {}\n" },
	"many heredocs": func(size int) string {
		heredoc := "a = <<A\n" + strings.Repeat("text of a line\n", 1000) + "A\n"
		return "locals {\n" + strings.Repeat(heredoc, (size-50)/len(heredoc)) + "}\nbogus {}\n"
	},
	"wrong locks": func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, "provider \"tf.example.com/a/b%d\" {\n}\nmodule \"c%d\" {\n}\nhost \"%d\" {}\n", i, i, i)
		}
		return b.String()
	},
}

func repeated(text string) func(size int) string {
	return func(size int) string { return strings.Repeat(text, size/len(text)+1)[:size] }
}

const (
	required = "terraform {\n  required_providers {\n    a = { source = \"tf.example.com/a/a\" }\n  }\n}\n"
	backend  = "terraform {\n  backend \"local\" {}\n}\n"
	call     = "module \"a\" {\n  source = \"./a\"\n}\n"
)

// formats are what init reads: the name of the file, the configuration that has it read, and sizes: as an attacker would
// first try it, close below the limit for words and signs, and nearly as large as such a file may be.
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

// TestRefused_TakesLittleOfMemoryAndLog throws each shape of bad input at each format: one case in two hundred, one in ten where other
// programs are compared with in all cases, as in CI, or all of them with TFDEPS_TEST_REFUSED=all, which takes half an hour on two cores that
// have nothing else to do.
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
		for shape, text := range shapes {
			for _, size := range f.sizes {
				t.Run(fmt.Sprintf("%s/%s/%d", format, shape, size), func(t *testing.T) {
					chosen := fnv.New32a()
					_, _ = chosen.Write([]byte(t.Name()))
					if chosen.Sum32()%share != 0 {
						t.Skip("another case is enough")
					}
					t.Parallel()
					dir := t.TempDir()
					must.Write(t, filepath.Join(dir, f.file), []byte(text(size)))
					if f.config != "" {
						must.Write(t, filepath.Join(dir, "main.tf"), []byte(f.config))
						must.Write(t, filepath.Join(dir, "a/main.tf"), "")
					}
					checkRefusal(t, dir, program, append([]string{"init", "-input=false"}, f.args...), text(size))
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
	memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if cmd.ProcessState.ExitCode() != 1 || out.Len() > maxRefusedOutput || memory > maxRefusedMemory || !strings.Contains(out.String(), "Error") {
		t.Errorf("%v with %d bytes of output and %d MiB of memory:\n%.300s", err, out.Len(), memory>>20, &out)
	}
}
