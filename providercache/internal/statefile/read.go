package statefile

import (
	"fmt"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// ReadOwn reads a file that has to be a plain one, of those that mine accepts,
// and of a size that a file of ours can have.
func ReadOwn(path string, mine func(string, os.FileInfo) bool) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|owner.OpenPlain, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !mine(path, info):
		return nil, fmt.Errorf("%s is not a file that only its user can write to", path)
	case info.Size() > MaxStateBytes:
		return nil, fmt.Errorf("%s is larger than any file of ours", path)
	}
	content := make([]byte, info.Size())
	_, err = io.ReadFull(file, content)
	return content, err
}
