package cliconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxBytes is far more than any CLI configuration has.
const maxBytes = 1 << 20

// Load reads the file that TF_CLI_CONFIG_FILE names; path "" is no file. The
// Config is never nil. That the file doesn't exist is a warning; all other problems
// are errors.
func Load(path string) (*Config, []Problem) {
	if path == "" {
		return newConfig(), nil
	}
	src, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newConfig(), []Problem{{
			Warning: true,
			Summary: "Unable to open CLI configuration file",
			Detail:  fmt.Sprintf("The CLI configuration file at %q does not exist.", path),
			File:    path,
		}}
	}
	if err != nil {
		return newConfig(), []Problem{{
			Summary: "Unable to read CLI configuration file",
			Detail:  fmt.Sprintf("The CLI configuration file can't be read: %v.", err),
			File:    path,
		}}
	}
	return parse(src, path)
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(src) > maxBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, maxBytes)
	}
	return src, err
}
