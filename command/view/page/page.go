// Package page is the web page of a run: HTML, CSS, and the script that draws it from the data.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"

	"github.com/tfdeps/tfdeps/command/view/terminal"
)

var (
	//go:embed page.html
	text string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Write writes the page with the data. Package
// html/template would add 9 MB to the program (see CONTRIBUTING.md), so the data is in the page as
// JSON without "<", and the script only makes text nodes from it.
func Write(w io.Writer, data any) error {
	encoded, err := json.Marshal(data) // writes "<" as \u003c, so that no data ends the script element
	if err != nil {
		return err
	}
	// The Content-Security-Policy lets the browser run only the script with this hash.
	sum := sha256.Sum256([]byte(script))
	page := strings.NewReplacer(
		"/*STYLE*/", style, "/*SCRIPT*/", script, "HASH", base64.StdEncoding.EncodeToString(sum[:]),
		"/*DATA*/", string(bytes.ToValidUTF8(terminal.PrintableJSON(encoded), []byte("?"))),
	).Replace(text)
	_, err = io.WriteString(w, page)
	return err
}
