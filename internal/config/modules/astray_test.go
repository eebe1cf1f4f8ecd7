package modules

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestTree_ElsewhereIsWhereOnlyTheRecordLeads has the source of a call, the recorded directory, and whether only the record leads
// there. $OUT is a directory outside of the root module's.
func TestTree_ElsewhereIsWhereOnlyTheRecordLeads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, recorded string
		astray           bool
	}{
		{"./m", "m", false},
		{"./m", "n", false},
		{"./m", "$OUT", true},
		{"./m", "../out", true},
		{"./m", "m/../../out", true},
		{"../out", "../out", false},
		{"../out", "$OUT", false},
		{"../other", "../out", true},
		{netURL, ".terraform/modules/a", false},
		{netURL, "vendored/a", false},
	} {
		out := filepath.Join(t.TempDir(), "out")
		p := newProject(t, texts{"m/main.tf": "", "n/main.tf": "", ".terraform/modules/a/main.tf": "", "vendored/a/main.tf": ""})
		for _, name := range []string{"out", "other"} {
			write(t, filepath.Dir(p.dir), name+"/main.tf", call("in", "./in"))
			write(t, filepath.Dir(p.dir), name+"/in/main.tf", "")
		}
		write(t, out, "main.tf", call("in", "./in"))
		write(t, out, "in/main.tf", "")
		recorded := c.recorded
		if recorded == "$OUT" {
			recorded = filepath.ToSlash(filepath.Join(filepath.Dir(p.dir), "out"))
		}
		write(t, p.dir, "main.tf", call("a", c.source))
		record := must.Get(json.Marshal(map[string]any{"Modules": []Record{{Dir: "."}, {Key: "a", Source: c.source, Dir: recorded}}}))(t)
		write(t, p.dir, ".terraform/modules/modules.json", string(record))

		for _, mode := range []Mode{AsRecorded, Normal} {
			p.mode = mode
			tree, problems := p.install()
			count := 0
			if c.astray {
				count = 1
				if mode == Normal {
					count = 2 // with the module that it calls
				}
			}
			must.Len(t, tree.Elsewhere(), count, c.source, c.recorded, mode, problems)
		}
	}
}
