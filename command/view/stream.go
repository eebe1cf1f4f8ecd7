package view

import (
	"io"
	"os"

	"golang.org/x/term"
)

// NewStream finds out what there is to know about an output.
func NewStream(w io.Writer) Stream {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Stream{Writer: w}
	}
	size := func() (width, height int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0, 0
		}
		return width, height
	}
	width, height := size()
	return Stream{Writer: w, Terminal: true, Color: understandsEscapes(file), Width: width, Height: height, resized: size}
}

// sameTerminal reports whether what is written to two streams comes out at the
// same place. Where the system can't tell, as with consoles of Windows, of
// which a process has one, two terminals are one.
func sameTerminal(a, b Stream) bool {
	if a.Writer == b.Writer {
		return true
	}
	if !a.Color || !b.Color {
		return false
	}
	one, isFile := a.Writer.(*os.File)
	other, isFileToo := b.Writer.(*os.File)
	if !isFile || !isFileToo {
		return false
	}
	oneInfo, err := one.Stat()
	if err != nil {
		return true
	}
	otherInfo, err := other.Stat()
	return err != nil || os.SameFile(oneInfo, otherInfo)
}
