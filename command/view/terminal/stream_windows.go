package terminal

import (
	"os"
	"syscall"
)

// enableVirtualTerminal makes a console obey escape sequences; consoles before
// Windows 10 can't.
const enableVirtualTerminal = 0x0004

var setConsoleMode = syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode")

func understandsEscapes(console *os.File) bool {
	handle := syscall.Handle(console.Fd())
	var mode uint32
	if err := syscall.GetConsoleMode(handle, &mode); err != nil {
		return false
	}
	if mode&enableVirtualTerminal != 0 {
		return true
	}
	if setConsoleMode.Find() != nil {
		return false
	}
	done, _, _ := setConsoleMode.Call(uintptr(handle), uintptr(mode|enableVirtualTerminal))
	return done != 0
}
