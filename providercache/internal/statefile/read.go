package statefile

import (
	"fmt"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// ReadOwn reads a regular file that trusted accepts, of at most MaxStateBytes.
func ReadOwn(path string, trusted func(string, os.FileInfo) bool) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|owner.OpenPlain, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !trusted(path, info):
		return nil, fmt.Errorf("%s is not a file that only its user can write to", path)
	case info.Size() > MaxStateBytes:
		return nil, fmt.Errorf("%s is larger than any file that tfdeps writes", path)
	}
	content := make([]byte, info.Size())
	_, err = io.ReadFull(file, content)
	return content, err
}
