// Package page is the web page of a run: its text, how it looks, and what draws it from the data.
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

// Write writes the page. Package
// html/template would cost 9 MB of the program (see CONTRIBUTING.md), so the data is in the page as
// JSON without "<", and the script makes texts of it and nothing else.
func Write(w io.Writer, data any) error {
	encoded, err := json.Marshal(data) // which writes "<" as \u003c, so that nothing ends the element
	if err != nil {
		return err
	}
	// Of scripts, the browser runs only the one with this hash.
	sum := sha256.Sum256([]byte(script))
	page := strings.NewReplacer(
		"/*STYLE*/", style, "/*SCRIPT*/", script, "HASH", base64.StdEncoding.EncodeToString(sum[:]),
		"/*DATA*/", string(bytes.ToValidUTF8(terminal.PrintableJSON(encoded), []byte("?"))),
	).Replace(text)
	_, err = io.WriteString(w, page)
	return err
}
