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
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return Stream{Writer: w, Color: understandsEscapes(file), Width: width}
}
