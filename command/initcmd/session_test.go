package initcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRecordPluginDirs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(dir, "plugin_path")
	record := func(dirs ...string) bool {
		m := &cli.Meta{Env: cli.Environment{"TF_DATA_DIR=" + dir}}
		r := request{Session: sources.New(m, getproviders.Terraform(""), false), opts: options{pluginDirGiven: true, pluginDirs: dirs}}
		recorded := recordPluginDirs(r)
		must.Equal(t, len(checkPluginDirs(r)) == 0, recorded, dirs)
		return recorded
	}
	must.Equal(t, record(), true) // there is nothing to remove
	must.Refuse(os.Stat(dir))(t, "a directory was made for no record")

	must.Equal(t, record("a & b", "c"), true)
	must.Equal(t, string(must.Get(os.ReadFile(path))(t)), "[\n  \"a \\u0026 b\",\n  \"c\"\n]") // Terraform's JSON has this escape
	must.Equal(t, record(), true)
	must.Equal(t, len(must.Get(os.ReadDir(dir))(t)), 0)
	must.Succeed(t, os.Remove(dir))
	must.Write(t, dir, "")
	must.Equal(t, record("a"), false, "a file is in the directory's place")
}
