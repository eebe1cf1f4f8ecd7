package layout

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestWindowsRefuses_KnowsNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"con", "CON", "dir/aux.txt", "nul.tar.gz", "Prn .x", "com1", "lpt9.log", "COM²", "CONIN$", "a.", "a ", "dir./a", "a/b /c", "...",
		"example.com:8080/acme/x", "a:b", "what?", "a*", `a"b`, "<a>", "a|b", `a\b`, `\\?\C:\a`, "C:", "a\x01",
	} {
		must.Equal(t, WindowsRefuses(name), true, name)
	}
	for _, name := range []string{"main.tf", ".terraform/x", "console.tf", "com", "com10", "lpt", "auxiliary", "a b.c", "example.com/acme/x/1.0.0+1/linux_amd64", "ä/é", " a", ".a"} {
		must.Equal(t, WindowsRefuses(name), false, name)
	}
}
