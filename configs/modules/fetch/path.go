package fetch

import (
	"net/url"
	"path/filepath"
	"runtime"
)

// filePath returns the path of a file URL. Like the real tool it doesn't decode
// one that is not in the form in which Go would write it.
func filePath(u *url.URL) string {
	text := u.Path
	if u.RawPath != "" {
		text = u.RawPath
	}
	if runtime.GOOS == "windows" && len(text) > 2 && text[0] == '/' && text[2] == ':' {
		text = text[1:]
	}
	return filepath.FromSlash(text)
}
