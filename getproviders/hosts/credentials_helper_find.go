package hosts

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// HelperNotFoundError says that the program of a credentials helper isn't
// there.
type HelperNotFoundError struct {
	Name string
	Dirs []string // where it was looked for
}

// Code is "credentials_helper_not_found".
func (e *HelperNotFoundError) Code() string { return "credentials_helper_not_found" }

// Error implements error.
func (e *HelperNotFoundError) Error() string {
	return fmt.Sprintf("no program for the credentials helper %q: there is no %s in %s",
		e.Name, helperPrefix+e.Name, cmp.Or(strings.Join(e.Dirs, " or "), "any directory"))
}

const helperPrefix = "terraform-credentials-"

// findHelper returns the program with the newest version; of equal ones that
// of the first directory. Names are compared without regard to case.
func findHelper(name string, dirs []string) (exe string, err error) {
	var newest helperVersion
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what can't be read has no helper for us
		for _, entry := range entries {
			version, ok := helperFile(entry.Name(), name, runtime.GOOS)
			if !ok || exe != "" && version.compare(newest) <= 0 {
				continue
			}
			path := dir + string(filepath.Separator) + entry.Name() // exec would look for a bare name in PATH
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				exe, newest = path, version
			}
		}
	}
	if exe == "" {
		return "", &HelperNotFoundError{Name: name, Dirs: dirs}
	}
	return exe, nil
}

// helperFile reports whether a file's name is that of a helper, and which
// version it has. Windows runs only what ends in ".exe"; elsewhere that
// doesn't matter.
func helperFile(file, name, goos string) (helperVersion, bool) {
	stem, isExe := strings.CutSuffix(strings.ToLower(file), ".exe")
	if goos == "windows" && !isExe {
		return helperVersion{}, false
	}
	rest, ok := strings.CutPrefix(stem, helperPrefix+strings.ToLower(name))
	if !ok || rest == "" {
		return helperVersion{}, ok
	}
	version, ok := strings.CutPrefix(rest, "_v")
	if !ok {
		return helperVersion{}, false
	}
	version, _, _ = strings.Cut(version, "_x") // of a protocol that plugins had once
	return parseHelperVersion(version)
}

// helperVersion is what follows "_v" in the name of a program: as many numbers
// as there are, and maybe a prerelease. No version at all is like 0.
type helperVersion struct {
	numbers    []uint64
	prerelease string
}

func parseHelperVersion(text string) (v helperVersion, ok bool) {
	text, _, _ = strings.Cut(text, "+")
	text, v.prerelease, _ = strings.Cut(text, "-")
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil {
			return helperVersion{}, false
		}
		v.numbers = append(v.numbers, n)
	}
	return v, true
}

// compare is +1 if v is newer. Prereleases of the same numbers are compared as
// text, which is good enough for helpers.
func (v helperVersion) compare(o helperVersion) int {
	final := func(v helperVersion) int {
		if v.prerelease == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(
		slices.Compare(v.padded(len(o.numbers)), o.padded(len(v.numbers))),
		cmp.Compare(final(v), final(o)),
		cmp.Compare(v.prerelease, o.prerelease),
	)
}

// padded returns at least n numbers: 1 and 1.0.0 are the same.
func (v helperVersion) padded(n int) []uint64 {
	return append(slices.Clone(v.numbers), make([]uint64, max(0, n-len(v.numbers)))...)
}
