package initcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// checkReport checks, before the run starts, that its page can be written.
func checkReport(path string) problem.List {
	if path == "" {
		return nil
	}
	if _, err := reportPlace(path); err != nil {
		return problem.Fail("invalid_option", "Invalid argument",
			"The page of the run can't be written to %q, which -report names: %v.", path, err)
	}
	return nil
}

// reportPlace finds out how to write the page to a path. asIs says that the path is
// a stream of this process, a pipe or a device, which must not be replaced as a regular file is. A symlink is an error,
// because it could point to any file of the user's.
func reportPlace(path string) (asIs bool, err error) {
	if isStream(path) {
		return true, nil
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		return false, errors.New("that is a symbolic link; name a file")
	case info.IsDir():
		return false, errors.New("that is a directory; name a file in it")
	case !info.Mode().IsRegular():
		return true, nil
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil {
		return false, fmt.Errorf("there is no directory %s", dir)
	} else if !info.IsDir() {
		return false, fmt.Errorf("%s is not a directory", dir)
	}
	return false, nil
}

// isStream reports whether a path names an open file descriptor of this process. To the system such a path is a symlink.
func isStream(path string) bool {
	number, ok := strings.CutPrefix(path, "/dev/fd/")
	return ok && number != "" && strings.Trim(number, "0123456789") == "" || path == "/dev/stdout" || path == "/dev/stderr"
}

// writeReport writes the page of the run, if -report names a file.
func writeReport(r request, failed bool) problem.List {
	if r.opts.report == "" {
		return nil
	}
	var page bytes.Buffer
	err := r.view.WriteReport(&page, view.ReportHead{Own: r.Meta.Version, Directory: r.Meta.Dir, Failed: failed})
	if err == nil {
		err = putReport(r, page.Bytes())
	}
	if err != nil {
		return problem.Fail("unwritable", "Failed to write the page of the run",
			"The page can't be written to %q: %v.", r.opts.report, wrapped.Reason(err)) // err names a temporary file
	}
	return nil
}

func putReport(r request, page []byte) error {
	asIs, err := reportPlace(r.opts.report)
	switch {
	case err != nil:
		return err
	case !asIs:
		return wholefile.Write(r.opts.report, page, 0o644)
	}
	switch r.opts.report {
	case "/dev/stdout", "/dev/fd/1": // if stdout is a file, opening it again would overwrite its beginning
		_, err = r.Meta.Stdout.Write(page)
		return err
	case "/dev/stderr", "/dev/fd/2":
		_, err = r.Meta.Stderr.Write(page)
		return err
	}
	return wholefile.Append(r.Meta.Context, r.opts.report, page)
}
