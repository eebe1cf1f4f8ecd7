package wholefile

import (
	"bytes"
	"encoding/json"
)

// JSON is the content of a file, or of a document, that is a value: over several lines, and with ">" and "&" as they are, so that
// constraints and URLs stay readable.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return b.Bytes(), err
}
