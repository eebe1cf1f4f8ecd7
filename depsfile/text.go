package depsfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What a lock file for anything else has in common with the one for providers
// is exported here.

// DecodeBlocks parses the text of a lock file and has its blocks decoded, as
// many of them as there are. All problems are returned; if version control left
// the marks of a merge conflict behind, that one alone.
func DecodeBlocks(src []byte, filename string, schema *hcl.BodySchema, decode func(hcl.Blocks) hcl.Diagnostics) hcl.Diagnostics {
	if diag := checkNesting(src, filename); diag != nil {
		return hcl.Diagnostics{diag}
	}
	file, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	if file != nil {
		content, more := file.Body.Content(schema)
		diags = append(diags, more...)
		diags = append(diags, decode(content.Blocks)...)
	}
	if conflict := findConflict(src, filename); conflict != nil && diags.HasErrors() {
		// What else is wrong with the file is a consequence.
		return hcl.Diagnostics{conflict}
	}
	return diags
}

// ReadText reads a regular file, or what a link to one leads to.
func ReadText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	default:
		return os.ReadFile(path)
	}
}

// SaveText writes a file by one rename, if it hasn't that content already. A
// symlink is replaced. The file's mode is 0644.
func SaveText(path string, content []byte) error {
	if isText(path, content) {
		return nil
	}
	return replace(path, content)
}

func isText(path string, content []byte) bool {
	old, err := ReadText(path)
	return err == nil && bytes.Equal(old, content)
}

// replace puts a new file in the place of path by one rename.
func replace(path string, content []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Chmod(temp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	return err
}
