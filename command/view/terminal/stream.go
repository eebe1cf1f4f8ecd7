// Package terminal writes to terminals and files: streams and how wide they are, amounts and texts that are safe to print, and what is
// under way, by bars or by a line now and then.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Stream is an output and what is known about it.
type Stream struct {
	io.Writer
	Terminal bool
	Color    bool // it is a terminal that understands escape sequences, for colours and for bars
	Width    int  // columns; 0: not known
	Height   int  // lines; 0: not known

	resized func() (width, height int) // what they are now; nil: what they were
}

// size is how large the terminal is now, in columns and lines; height is 0 if it isn't known.
func (s Stream) size() (width, height int) {
	width, height = s.Width, s.Height
	if s.resized != nil {
		if nowWidth, nowHeight := s.resized(); nowWidth > 0 {
			width, height = nowWidth, nowHeight
		}
	}
	if width <= 0 {
		width = unknownWidth
	}
	return max(width, 2), height
}

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

// unknownWidth is what Terraform takes where there is no terminal.
const unknownWidth = 78

// Columns is how wide text may be on a stream. Below 20 columns wrapping doesn't help.
func Columns(s Stream) int {
	if s.Width < 20 {
		return unknownWidth
	}
	return s.Width
}
