package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// notCached is about all providers at once that would have to be asked for and
// may not be.
func notCached(product getproviders.Product, req getproviders.Requirements, missing []*getproviders.NotCachedError) *problem.Problem {
	var b strings.Builder
	fmt.Fprintf(&b, "%s allows no requests, and these are neither installed nor in the shared cache nor in a mirror on this machine. One would have to ask for:", missing[0].By)
	for i, m := range missing {
		if i > 0 && m.Provider == missing[i-1].Provider {
			fmt.Fprintf(&b, ", or of the %s", m.Source)
			continue
		}
		fmt.Fprintf(&b, "\n  - %s %s, of the %s", product.Short(m.Provider), wantedVersion(req, m), m.Source)
	}
	fmt.Fprintf(&b, "\n\nTo have them here from then on, run this where requests are allowed, with the same cache:\n  %s\n\n"+
		"Where this machine is never connected, install from a filesystem mirror.", primer(missing))
	return problem.Error("Not all providers are on this machine", b.String())
}

// primer is the command that gets what is missing: where the lock file says which
// versions, the cache is all that it takes.
func primer(missing []*getproviders.NotCachedError) string {
	for _, m := range missing {
		if m.Version == (getproviders.Version{}) {
			return "tfdeps init"
		}
	}
	return "tfdeps cache add -locked ."
}

// wantedVersion is which version is missing, and what it weighs.
func wantedVersion(req getproviders.Requirements, m *getproviders.NotCachedError) string {
	if m.Version == (getproviders.Version{}) {
		if wanted := req.Constraints(m.Provider); !wanted.IsEmpty() {
			return "(a version that is " + wanted.String() + ")"
		}
		return "(any version)"
	}
	text := m.Version.String()
	if m.Bytes > 0 {
		text += " (" + megabytes(m.Bytes) + ")"
	}
	return text
}
