package modules

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// Sources mean what they mean to Terraform. All calls of one configuration are recorded with the
// source as it is written: calls with a source that is refused are reported as problems. Without
// them the others need nothing, and their sources are normalised when the record is written.
func TestParseAddress_SameAsTerraform(t *testing.T) {
	dir := t.TempDir()
	sources := map[string]addressCase{}
	calls := map[string]any{"written": map[string]string{"source": "./x"}}
	manifest := Manifest{}
	for i, c := range addressCases {
		key := fmt.Sprintf("k%03d", i)
		sources[key] = c
		calls[key] = map[string]string{"source": c.source}
		manifest[key] = Record{Key: key, Source: c.source, Dir: "x"}
	}
	write(t, dir, "x/main.tf", "")
	write(t, dir, "main.tf.json", encode(t, map[string]any{"module": calls}))
	write(t, dir, ".terraform/modules/modules.json", string(manifest.Encode()))
	refused := refusedBy(t, dir)
	accepted := 0
	for key, c := range sources {
		if refused[encode(t, c.source)] {
			delete(calls, key)
			delete(manifest, key)
		} else {
			accepted++
		}
	}
	write(t, dir, "main.tf.json", encode(t, map[string]any{"module": calls}))
	write(t, dir, ".terraform/modules/modules.json", string(manifest.Encode()))
	out, err := runInit(t, dir)
	must.Succeed(t, err, string(out))

	content := must.Get(os.ReadFile(filepath.Join(dir, ".terraform/modules/modules.json")))(t)
	var recorded struct{ Modules []Record }
	must.Succeed(t, json.Unmarshal(content, &recorded))
	for _, record := range recorded.Modules {
		c, ok := sources[record.Key]
		if !ok {
			continue
		}
		if c.kind != "error" && record.Source != c.want {
			t.Errorf("%q is recorded as %q, want %q", c.source, record.Source, c.want)
		}
	}
	for _, c := range sources {
		must.Equal(t, refused[encode(t, c.source)], c.kind == "error", c.source)
	}
	if len(recorded.Modules) < accepted {
		t.Errorf("of %d modules %d are recorded", accepted, len(recorded.Modules))
	}
}

// refusedBy returns the source arguments, as they are written, about which init in a directory
// reports problems.
func refusedBy(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out, err := runInit(t, dir)
	if err == nil {
		t.Fatal("nothing was refused")
	}
	config, err := os.ReadFile(filepath.Join(dir, "main.tf.json"))
	must.Succeed(t, err)
	refused := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var message struct {
			Diagnostic struct {
				Range struct{ Start, End struct{ Byte int } }
			}
		}
		must.Succeed(t, json.Unmarshal([]byte(line), &message), line)
		r := message.Diagnostic.Range
		refused[string(config[r.Start.Byte:r.End.Byte])] = true
	}
	t.Logf("refused: %q", slices.Sorted(maps.Keys(refused)))
	return refused
}

// runInit runs Terraform's init in a directory.
func runInit(t *testing.T, dir string) ([]byte, error) {
	t.Helper()
	program := peertest.LookProgram(t, "terraform")
	write(t, dir, "cli.tfrc", "")
	cmd := exec.CommandContext(t.Context(), program, "init", "-json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "cli.tfrc"), "TF_DATA_DIR=", "TF_CLI_ARGS=")
	return cmd.Output()
}

func encode(t *testing.T, value any) string {
	t.Helper()
	content := must.Get(json.Marshal(value))(t)
	return string(content)
}

// write makes a file and its directories.
func write(t testing.TB, dir, name, content string) {
	t.Helper()
	must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
}
