package wholefile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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

// maxRemembered is far more than the file of a remembered value has, in bytes.
const maxRemembered = 64 << 10

// Remember writes down a value for later runs of the same user, and makes the directory. What can't be written isn't
// known later.
func Remember(path string, value any) {
	content, err := json.Marshal(value)
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = Write(path, content, 0o600)
	}
}

// Recall reads what Remember wrote; false: there is nothing that makes sense.
func Recall(path string, into any) bool {
	content, err := Read(path, maxRemembered)
	return err == nil && json.Unmarshal(content, into) == nil
}
