package modules

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// errUnknownKind is that no rule says how to fetch a package.
var errUnknownKind = errors.New("the source address says nothing of how to get the module")

// parseRemote reads the address of a package. What stands before "::" says by
// which means it is to be fetched.
func parseRemote(source string) (Remote, error) {
	pkg, subdir, err := splitSubdir(source)
	if err != nil {
		return Remote{}, err
	}
	if pkg == "" {
		return Remote{}, errors.New("the source address is empty")
	}
	forced, location := splitForced(pkg)
	if location == "" {
		return Remote{}, unknownKind(pkg)
	}
	if isURL(location) {
		return Remote{Package: pkg, Subdir: subdir}, nil
	}
	for _, detect := range detectors() {
		found, err := detect(location)
		if err != nil {
			return Remote{}, err
		}
		if found.Package == "" {
			continue
		}
		_, bare := splitForced(found.Package)
		if again, _, _ := splitSubdir(bare); again != bare || !isURL(bare) {
			break // what was written for a URL has to become one
		}
		if forced != "" {
			found.Package = forced + "::" + bare
		}
		found.Subdir = path.Join(found.Subdir, subdir)
		if found.Subdir == ".." || strings.HasPrefix(found.Subdir, "../") {
			return Remote{}, fmt.Errorf("the subdirectory %q %w", found.Subdir, errOutside)
		}
		return found, nil
	}
	return Remote{}, unknownKind(location)
}

func isURL(location string) bool {
	u, err := url.Parse(location)
	return err == nil && u.Scheme != ""
}

// splitForced cuts "git::" and the like off.
func splitForced(pkg string) (forced, location string) {
	before, after, found := strings.Cut(pkg, "::")
	if !found || before == "" || strings.Trim(before, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", pkg
	}
	return before, after
}

func unknownKind(location string) error {
	return fmt.Errorf("%w: %q is neither a URL nor a registry's module. If it is a directory relative to this module, write \"./%[2]s\"",
		errUnknownKind, withoutLogin(location))
}
