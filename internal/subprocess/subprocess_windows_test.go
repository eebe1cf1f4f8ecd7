package subprocess

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// A program is found by the extensions in PATHEXT, in their order, and never in the working
// directory.
func TestCommand_FindsProgramsByPATHEXT(t *testing.T) {
	work, bin := t.TempDir(), t.TempDir()
	t.Chdir(work)
	t.Setenv("PATHEXT", ".CMD;.BAT")
	for path, says := range map[string]string{
		filepath.Join(work, "aid.cmd"): "a stranger", filepath.Join(bin, "aid.bat"): "the second ending", filepath.Join(bin, "aid.cmd"): "found", filepath.Join(bin, "aid"): "no ending",
	} {
		must.Write(t, path, "@echo off\r\necho "+says+" %1\r\n")
	}
	cmd := must.Get(Command(t.Context(), []string{"Path=.;" + bin}, "", "aid", "x"))(t)
	must.Equal(t, string(must.Get(cmd.Output())(t)), "found x\r\n")
}
