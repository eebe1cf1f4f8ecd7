package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// CheckReason is why an init would have something to do. Code is stable; it is
// about a provider, a module, or neither.
type CheckReason struct {
	Code     string                `json:"code"`
	Provider getproviders.Provider `json:"provider,omitzero"` // zero: about none
	Module   string                `json:"module,omitempty"`  // its key; "": about none
	Detail   string                `json:"detail"`            // a sentence, without capital and full stop
}

const (
	upToDate = "Nothing to do: this directory is initialized."
	outdated = "There is something to do for init:"
)

// Checked answers whether an init would have something to do: without reasons,
// it wouldn't.
func (v *Init) Checked(reasons []CheckReason) {
	answer := line{json: upToDate, kind: "check", keys: map[string]any{"up_to_date": len(reasons) == 0, "reasons": len(reasons)}}
	if len(reasons) == 0 {
		answer.human = upToDate
	} else {
		v.out.line(line{human: outdated})
		answer.json = strings.TrimSuffix(outdated, ":")
	}
	for _, r := range reasons {
		l := r.line()
		l.human = fmt.Sprintf("  - %s (%s)", r.text(), r.Code)
		v.out.line(l)
	}
	v.out.line(answer)
}

func (r CheckReason) text() string {
	switch {
	case r.Provider != getproviders.Provider{}:
		return fmt.Sprintf("provider %s: %s", r.Provider, r.Detail)
	case r.Module != "":
		return fmt.Sprintf("module %s: %s", r.Module, r.Detail)
	default:
		return r.Detail
	}
}

// line is the object for a reason.
func (r CheckReason) line() line {
	about := map[string]any{"code": r.Code}
	if r.Provider != (getproviders.Provider{}) {
		about["provider"] = r.Provider.String()
	}
	if r.Module != "" {
		about["module"] = r.Module
	}
	return line{json: r.text(), kind: "check_reason", keys: about}
}
