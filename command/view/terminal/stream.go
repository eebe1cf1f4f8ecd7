// Package terminal writes to terminals and files: streams and their width, amounts, texts that are safe to print, and
// running tasks, by bars or by lines.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Stream is an output with its properties.
type Stream struct {
	io.Writer
	Terminal bool
	Color    bool // it is a terminal that understands escape sequences, for colours and for bars
	Width    int  // columns; 0 if unknown
	Height   int  // lines; 0 if unknown

	resized func() (width, height int) // returns the current size; nil if it can't change
}

// size returns the current size of the terminal in columns and lines; height is 0 if unknown.
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

// NewStream returns the Stream of an output.
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

// sameTerminal reports whether two streams write to the
// same terminal. If the system can't tell, as for Windows consoles, of
// which a process has only one, it returns true for two terminals.
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

// unknownWidth is Terraform's width without a terminal.
const unknownWidth = 78

// Columns returns the width for wrapping text. Terminals below 20 columns count as of unknown width.
func Columns(s Stream) int {
	if s.Width < 20 {
		return unknownWidth
	}
	return s.Width
}
