package explain

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestPlainWords_LeaveOutWhatPeopleDontKnow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"open .tfdeps-new-evk6lf9yb6vl: permission denied":                        "no file can be made in this directory: permission denied",
		"mkdir /cache/.tfdeps-363169657: permission denied.":                      "no file can be made in /cache/: permission denied.",
		"Stat none.zip: no such file or directory.":                               "none.zip: no such file or directory.",
		"it can't be read: open main.tf: permission denied":                       "it can't be read: main.tf: permission denied",
		"can't open the file: permission denied":                                  "can't open the file: permission denied",
		"read tcp 127.0.0.1:1: connection reset by peer":                          "read tcp 127.0.0.1:1: connection reset by peer",
		"x: unexpected end of JSON input":                                         "x: the JSON ends too early",
		"x: invalid character '<' looking for beginning of value":                 "x: invalid character '<' where a value or a key has to begin: this isn't JSON",
		"x: invalid character 'a' looking for beginning of object key string (y)": "x: invalid character 'a' where a value or a key has to begin: this isn't JSON (y)",
	} {
		must.Equal(t, plainWords(text), want, text)
	}
}
