package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes turns on escape sequences in a console, and reports whether it has them: those before Windows 10 don't.
func understandsEscapes(console *os.File) bool {
	const obey = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	handle := windows.Handle(console.Fd())
	var mode uint32
	err := windows.GetConsoleMode(handle, &mode)
	if err == nil && mode&obey == 0 {
		err = windows.SetConsoleMode(handle, mode|obey)
	}
	return err == nil
}
