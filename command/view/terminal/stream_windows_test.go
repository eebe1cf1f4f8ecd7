package terminal

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/tfdeps/tfdeps/internal/must"
)

// A console has colours once it was told to obey escape sequences. A file has none.
func TestNewStream_TellsAConsoleToObeyEscapeSequences(t *testing.T) {
	console, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		done, _, failed := windows.NewLazyDLL("kernel32.dll").NewProc("AllocConsole").Call()
		if done == 0 {
			t.Skipf("there is no console: %v", failed)
		}
		console = must.Get(os.OpenFile("CONOUT$", os.O_RDWR, 0))(t)
	}
	defer console.Close()
	mode := func() (mode uint32) {
		must.Succeed(t, windows.GetConsoleMode(windows.Handle(console.Fd()), &mode))
		return mode
	}
	before := mode()
	set := func(mode uint32) { must.Succeed(t, windows.SetConsoleMode(windows.Handle(console.Fd()), mode)) }
	defer set(before)
	set(before &^ windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	for range 2 { // the second time it does already
		stream := NewStream(console)
		must.Equal(t, stream.Terminal, true)
		must.Equal(t, stream.Color, true)
		must.Equal(t, mode(), before|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "file")))(t)
	defer file.Close()
	must.Equal(t, NewStream(file).Color, false)
}
