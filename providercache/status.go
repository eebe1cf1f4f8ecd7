package providercache

import (
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Status is Check's answer; no reasons means up to date.
type Status struct {
	Reasons []Reason `json:"reasons"` // in the order of providers
}

// UpToDate reports whether an Install would have nothing to do.
func (s Status) UpToDate() bool { return len(s.Reasons) == 0 }

// Reason is why a directory isn't up to date: its Code, the Provider that it is about, and a Detail for people. Code is stable:
// "lock_missing_provider", "lock_without_hash", "constraint_unsatisfied",
// "package_absent", "package_differs", "package_refused",
// "lock_extra_provider", "built_in_invalid".
type Reason = resolve.Reason
