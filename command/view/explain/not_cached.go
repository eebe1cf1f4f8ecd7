package explain

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
)

// notCached explains which packages are missing while requests are forbidden, for all
// providers at once. Damaged packages are listed separately.
func (n Names) notCached(req getproviders.Requirements, missing []*getproviders.NotCachedError) *problem.Problem {
	var absent, damaged []*getproviders.NotCachedError
	for _, m := range missing {
		if m.Damaged != "" {
			damaged = append(damaged, m)
		} else {
			absent = append(absent, m)
		}
	}
	if len(absent) == 0 {
		return problem.Error("package_damaged", "Installed packages are damaged", n.damagedText(damaged)+
			"\n\nTo replace them, run this once where requests are allowed:\n  "+n.Called+" init")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s allows no requests, and these are neither installed nor in a mirror on this machine, nor in the shared cache from these sources. They would have to be downloaded:", absent[0].By)
	for i, m := range absent {
		if i > 0 && m.Provider == absent[i-1].Provider {
			fmt.Fprintf(&b, ", or of the %s", m.Source)
			continue
		}
		fmt.Fprintf(&b, "\n  - %s %s, of the %s", n.Short(m.Provider), wantedVersion(req, m), m.Source)
	}
	if len(damaged) > 0 {
		b.WriteString("\n\n" + n.damagedText(damaged))
	}
	fmt.Fprintf(&b, "\n\nRun this once where requests are allowed, with the same cache, or install from a filesystem mirror:\n  %s %s", n.Called, primer(missing))
	return problem.Error("not_cached", "Not all providers are on this machine", b.String())
}

// damagedText lists installed packages that don't match the lock file.
func (n Names) damagedText(damaged []*getproviders.NotCachedError) string {
	var names []string
	for i, m := range damaged {
		if i == 0 || m.Provider != damaged[i-1].Provider {
			names = append(names, fmt.Sprintf("%s %s in %s", n.Short(m.Provider), m.Version, filepath.ToSlash(m.Damaged)))
		}
	}
	return "These packages are installed, and have none of the hashes that the lock file records: files were changed, or are missing. " +
		damaged[0].By + " allows no requests to fetch them again:" + problem.Items(names)
}

// primer returns the command of tfdeps that fetches the missing packages. If the lock file selects all
// versions, filling the cache is enough.
func primer(missing []*getproviders.NotCachedError) string {
	for _, m := range missing {
		if m.Version.IsZero() || m.Damaged != "" {
			return "init"
		}
	}
	return "cache add -locked ."
}

// wantedVersion returns the missing version and its size, or the constraints if no version is locked.
func wantedVersion(req getproviders.Requirements, m *getproviders.NotCachedError) string {
	if m.Version.IsZero() {
		wanted, text := req.Constraints(m.Provider), "any version"
		if !wanted.IsEmpty() {
			text = "a version that is " + wanted.String()
		}
		if newest, ok := wanted.Newest(m.Listed); ok {
			text += "; the newest known one is " + newest.String()
		} else if len(m.Listed) > 0 {
			text += "; none is known"
		}
		return "(" + text + ")"
	}
	text := m.Version.String()
	if m.Bytes > 0 {
		text += " (" + terminal.Megabytes(m.Bytes) + ")"
	}
	return text
}

// IncompleteLock warns that new lock entries have hashes only for this
// platform.
func (n Names) IncompleteLock(providers []getproviders.Provider) *problem.Problem {
	platform, other := getproviders.CurrentPlatform(), getproviders.Platform{OS: "linux", Arch: "amd64"}
	if platform.OS == other.OS {
		other = getproviders.Platform{OS: "darwin", Arch: "arm64"}
	}
	return problem.Warningf("lock_file_outdated", "Incomplete lock file information for providers",
		"The packages of these providers come from a source that doesn't list the checksums of other platforms, so "+
			"%s could only calculate those of its own:%s\n\n"+
			"The lock file .terraform.lock.hcl only includes checksums for %s: on another platform it will be "+
			"of no use for these providers.\n\n"+
			"To calculate additional checksums for another platform, run:\n"+
			"  %s providers lock -from=config -platform=%s\n"+
			"(where %[5]s is the platform to generate; -mirror names another source)",
		n.Name, problem.Items(texts(providers, n.Short)), platform, n.Called, other)
}
