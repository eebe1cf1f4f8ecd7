package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfdeps/tfdeps/internal/config/files"
)

var (
	errNoHome = errors.New("the home directory isn't known here")
	errNoDir  = errors.New("the root module's directory isn't known here")
)

// maxMatches is the largest number of matches of a pattern.
const maxMatches = 10_000

// ofPath makes a function of a path. Errors are those of its argument.
func ofPath(compute func(path string) (string, error)) function.Function {
	return ofText("path", func(path string) (string, error) {
		result, err := compute(path)
		if err != nil {
			err = function.NewArgError(0, err)
		}
		return result, err
	})
}

// files returns the functions that read files or process paths.
func (env Environment) files(b bounds) map[string]function.Function {
	f := env.Files
	hashed := func(new func() hash.Hash, encode func([]byte) string) function.Function {
		return ofPath(func(path string) (string, error) { return f.checksum(path, new(), encode) })
	}
	return map[string]function.Function{
		"file": ofPath(func(path string) (string, error) {
			content, err := f.read(path, b.bytes)
			if err == nil && !utf8.Valid(content) {
				err = fmt.Errorf("%s isn't text in UTF-8; filebase64 reads any file", path)
			}
			return string(content), err
		}),
		"filebase64": ofPath(func(path string) (string, error) {
			content, err := f.read(path, b.bytes)
			return base64.StdEncoding.EncodeToString(content), err
		}),
		"filebase64sha256": hashed(sha256.New, base64.StdEncoding.EncodeToString),
		"filebase64sha512": hashed(sha512.New, base64.StdEncoding.EncodeToString),
		"filemd5":          hashed(md5.New, hex.EncodeToString),
		"filesha1":         hashed(sha1.New, hex.EncodeToString),
		"filesha256":       hashed(sha256.New, hex.EncodeToString),
		"filesha512":       hashed(sha512.New, hex.EncodeToString),
		"fileexists":       f.existsFunction(),
		"fileset":          f.setFunction(b.bytes),

		"basename":   ofText("path", func(path string) (string, error) { return filepath.Base(path), nil }),
		"dirname":    ofText("path", func(path string) (string, error) { return filepath.ToSlash(filepath.Dir(path)), nil }),
		"pathexpand": ofText("path", f.expand),
		"abspath": ofText("path", func(path string) (string, error) {
			name, err := f.locate(path)
			if err == nil && f.FS == nil {
				name, err = filepath.Abs(name)
			}
			return filepath.ToSlash(name), err
		}),
	}
}

// expand replaces a leading "~" with the home directory.
func (f Files) expand(name string) (string, error) {
	switch {
	case name == "" || name[0] != '~':
		return name, nil
	case len(name) > 1 && name[1] != '/' && name[1] != filepath.Separator:
		return "", errors.New("the home directories of other users aren't looked for")
	case f.Home == "":
		return "", errNoHome
	}
	return filepath.Join(f.Home, name[1:]), nil
}

// locate returns the path for this process, or in FS.
func (f Files) locate(name string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return filepath.Clean(name), nil
	case f.Dir == "":
		return "", errNoDir
	}
	return filepath.Join(f.Dir, name), nil
}

// reach returns the path of a file that may be read.
func (f Files) reach(name string) (string, error) {
	name, err := f.expand(name)
	if err != nil {
		return "", err
	}
	if name, err = f.locate(name); err != nil {
		return "", err
	}
	return f.system().Confine(f.Within, name)
}

// open opens a regular file. Reading another kind could block.
func (f Files) open(given string) (fs.File, error) {
	name, err := f.reach(given)
	if err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", given, err)
	}
	file, err := f.system().OpenRegular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s; what is computed before anything is installed can read only files that are there before", given)
	case errors.Is(err, files.ErrNotRegular):
		return nil, fmt.Errorf("%s isn't a file", given)
	case err != nil:
		return nil, fmt.Errorf("%s can't be read: %w", given, err)
	}
	return file, nil
}

func (f Files) system() files.System { return files.System{FS: f.FS} }

func (f Files) read(given string, limit int) ([]byte, error) {
	file, err := f.open(given)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s can't be read: %w", given, err)
	case len(content) > limit:
		return nil, fmt.Errorf("%s has more than %d bytes, which is too much for a value", given, limit)
	}
	return content, nil
}

// maxHashed is the size of the largest file that is hashed.
const maxHashed = 256 << 20

func (f Files) checksum(given string, sum hash.Hash, encode func([]byte) string) (string, error) {
	file, err := f.open(given)
	if err != nil {
		return "", err
	}
	defer file.Close()
	switch n, err := io.Copy(sum, io.LimitReader(file, maxHashed+1)); {
	case err != nil:
		return "", fmt.Errorf("%s can't be read: %w", given, err)
	case n > maxHashed:
		return "", fmt.Errorf("%s has more than %d bytes", given, maxHashed)
	}
	return encode(sum.Sum(nil)), nil
}

func (f Files) existsFunction() function.Function {
	return returning(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		given := args[0].AsString()
		name, err := f.reach(given)
		if err != nil {
			return cty.NilVal, fmt.Errorf("%s can't be looked at: %w", given, err)
		}
		info, err := f.system().Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return cty.False, nil
		case err != nil:
			return cty.NilVal, fmt.Errorf("%s can't be looked at: %w", given, err)
		case !info.Mode().IsRegular():
			return cty.NilVal, fmt.Errorf("%s isn't a file", given)
		}
		return cty.True, nil
	}, param("path", cty.String))
}

// setFunction makes a function that lists the regular files below a directory that match a pattern.
func (f Files) setFunction(limit int) function.Function {
	return returning(cty.Set(cty.String), func(args []cty.Value) (cty.Value, error) {
		names, err := f.match(args[0].AsString(), args[1].AsString(), limit)
		if err != nil {
			return cty.NilVal, err
		}
		var found []cty.Value
		for _, name := range names {
			found = append(found, cty.StringVal(name))
		}
		if len(found) == 0 {
			return cty.SetValEmpty(cty.String), nil
		}
		return cty.SetVal(found), nil
	}, param("path", cty.String), param("pattern", cty.String))
}

// match returns the matching names relative to a directory. Unreadable directories have no matches.
func (f Files) match(dir, pattern string, limit int) (names []string, err error) {
	located, err := f.locate(dir)
	if err != nil {
		return nil, err
	}
	if !isCheap(pattern) {
		return nil, errors.New("the pattern has too many alternatives or \"**\"")
	}
	base, rest := doublestar.SplitPattern(filepath.ToSlash(filepath.Join(located, pattern)))
	if _, err = f.system().Confine(f.Within, filepath.FromSlash(base)); err != nil {
		return nil, fmt.Errorf("%s can't be looked at: %w", dir, err)
	}
	tree := f.FS
	if tree == nil {
		tree = os.DirFS(base)
	} else if tree, err = fs.Sub(tree, path.Clean(filepath.ToSlash(base))); err != nil {
		return nil, err
	}
	size := 0
	err = doublestar.GlobWalk(tree, rest, func(name string, entry fs.DirEntry) error {
		if info, err := fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		full := filepath.Join(filepath.FromSlash(base), filepath.FromSlash(name))
		if _, err := f.system().Confine(f.Within, full); err != nil {
			return err
		}
		rel, err := filepath.Rel(located, full)
		if err != nil {
			return err
		}
		names = append(names, filepath.ToSlash(rel))
		if size += len(rel); size > limit || len(names) > maxMatches {
			return fmt.Errorf("%q matches more files than can be listed", pattern)
		}
		return nil
	})
	if errors.Is(err, doublestar.ErrBadPattern) {
		err = fmt.Errorf("%q is not a pattern", pattern)
	}
	return names, err
}
