package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes makes a console obey escape sequences, which those before Windows 10 can't.
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
